use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Subcommand;
use domain::Owner;
use platform::settings::Settings;
use store::{DeletionCounts, Store, StoreError};

use crate::command_result::{CommandError, CommandOutput};
use crate::keys::administrator_note;
use crate::private_files;
use crate::store_location::{StoreLocation, user};

#[derive(Subcommand, Debug)]
pub(crate) enum UsersCommand {
    /// Deletes everything that a user has: keys, conversations, and whatever else is kept under the name.
    Delete {
        /// The name that keys were made for, and that callers give where authentication is off; with `--issuer` the
        /// subject of tokens.
        #[arg(value_parser = user)]
        name: String,
        /// Deletes the one for whom this issuer makes tokens, instead of the one who has keys.
        #[arg(long, value_name = "URL", value_parser = issuer)]
        issuer: Option<String>,
        #[command(flatten)]
        location: StoreLocation,
    },
    /// Writes everything that a user has, a JSON object a line; the last one has `end`.
    Export {
        /// The name, as for `delete`.
        #[arg(value_parser = user)]
        name: String,
        /// Takes the one for whom this issuer makes tokens, instead of the one who has keys.
        #[arg(long, value_name = "URL", value_parser = issuer)]
        issuer: Option<String>,
        /// The file to write, which must not exist; else the output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        location: StoreLocation,
    },
}

fn issuer(text: &str) -> Result<String, String> {
    let address = text.starts_with("https://") || text.starts_with("http://");
    let accepted = || "the value of AUTH_JWT_ISSUER is accepted".to_owned();
    if address && !text.contains(char::is_whitespace) { Ok(text.to_owned()) } else { Err(accepted()) }
}

impl UsersCommand {
    /// Runs the command and returns its messages.
    pub(crate) async fn run(self, settings: Settings) -> Result<CommandOutput, CommandError> {
        match self {
            Self::Delete { name, issuer, location } => {
                delete_user(&location.open(settings).await?.store, &name, issuer.as_deref()).await
            }
            Self::Export { name, issuer, out, location } => {
                let opened = location.open(settings).await?;
                let mut out = open_output(out.as_deref())?;
                for owner in owners(&name, issuer.as_deref()) {
                    export(&opened.store, &owner, &mut out).await?;
                }
                out.flush()?;
                Ok(CommandOutput::default())
            }
        }
    }
}

/// Returns the owners that a name refers to.
fn owners(name: &str, issuer: Option<&str>) -> Vec<Owner> {
    match issuer {
        Some(issuer) => vec![Owner::subject(issuer, name)],
        None => vec![Owner::key_holder(name), Owner::unverified(name)],
    }
}

/// Opens a new file that only its user may read, or standard output.
pub(crate) fn open_output(file: Option<&Path>) -> io::Result<Box<dyn Write + Send>> {
    let Some(file) = file else { return Ok(Box::new(BufWriter::new(io::stdout()))) };
    Ok(Box::new(BufWriter::new(private_files::create(file)?)))
}

async fn export(store: &Store, owner: &Owner, out: &mut impl Write) -> Result<(), CommandError> {
    let mut export = store.export(owner, SystemTime::now());
    while let Some(rows) = export.next().await? {
        for row in rows {
            serde_json::to_writer(&mut *out, &row).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

async fn delete_user(store: &Store, name: &str, issuer: Option<&str>) -> Result<CommandOutput, CommandError> {
    let DeletionCounts { keys, conversations, others } = delete_owners(store, &owners(name, issuer)).await?;
    if keys + conversations + others == 0 {
        return Err(CommandError::Absent(format!("there is nothing of a user {name}")));
    }
    let result = format!("deleted {name}: {keys} keys, {conversations} conversations, {others} other items");
    let note = if keys > 0 { administrator_note(&store.keys).await? } else { String::new() };
    Ok(CommandOutput { result, note })
}

async fn delete_owners(store: &Store, owners: &[Owner]) -> Result<DeletionCounts, StoreError> {
    let mut all = DeletionCounts::default();
    for owner in owners {
        let DeletionCounts { keys, conversations, others } = store.delete_owner(owner).await?;
        all.keys += keys;
        all.conversations += conversations;
        all.others += others;
    }
    Ok(all)
}
