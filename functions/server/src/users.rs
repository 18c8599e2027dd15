use std::collections::BTreeMap;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use attachments::Attachments;
use clap::{Args, Subcommand};
use commands::{CommandError, CommandOutput, count, print_line, private_files, record};
use domain::{Owner, TurnError};
use platform::settings::Settings;
use store::{DeletionCounts, ExportRow, Store, StoreError};

use crate::keys::administrator_note;
use crate::store_location::{OpenStore, StoreLocation, user};

/// How an owner's text begins, by the kind of credential.
const OWNER_KINDS: [&str; 3] = ["key:", "name:", "token:"];

#[derive(Subcommand, Debug)]
pub(crate) enum UsersCommand {
    Delete(Delete),
    /// Exports everything stored about a user, one JSON object per line; the last one has `end`.
    Export {
        /// The name, as for `delete`.
        #[arg(value_parser = user)]
        name: String,
        /// Exports the user whose tokens this issuer signs, instead of the user with API keys.
        #[arg(long, value_name = "URL", value_parser = issuer)]
        issuer: Option<String>,
        /// The file to write, which must not exist; by default standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        location: StoreLocation,
    },
}

/// Deletes everything stored about a user: keys, conversations, and all other data.
///
/// At a terminal it first shows what that is, and deletes it only after `yes` is typed.
#[derive(Args, Debug)]
pub(crate) struct Delete {
    /// The name that keys were made for, and that callers give where authentication is off; with `--issuer` the
    /// subject of tokens.
    #[arg(value_parser = user, required_unless_present = "from")]
    pub(crate) name: Option<String>,
    /// Deletes the users in a list instead, one per line; `-` reads standard input. A line is a name, or an
    /// owner as in the first line of an export, such as `key:ann`.
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    pub(crate) from: Option<PathBuf>,
    /// Deletes the user whose tokens this issuer signs, instead of the user with API keys.
    #[arg(long, value_name = "URL", value_parser = issuer)]
    pub(crate) issuer: Option<String>,
    /// Shows what would be deleted, and deletes nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Deletes without confirmation.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) location: StoreLocation,
}

/// A user of a command: the text that names it, and the owners that this refers to.
struct NamedUser {
    name: String,
    owners: Vec<Owner>,
}

fn issuer(text: &str) -> Result<String, String> {
    let address = text.starts_with("https://") || text.starts_with("http://");
    let accepted = || "the value of AUTH_JWT_ISSUER is accepted".to_owned();
    if address && !text.contains(char::is_whitespace) { Ok(text.to_owned()) } else { Err(accepted()) }
}

impl UsersCommand {
    pub(crate) async fn run(self, settings: Settings) -> Result<CommandOutput, CommandError> {
        match self {
            Self::Delete(delete) => delete.run(settings).await,
            Self::Export { name, issuer, out, location } => {
                let opened = location.open(settings).await?;
                export(&opened.store, &named_user(&name, issuer.as_deref()), out.as_deref()).await
            }
        }
    }
}

fn named_user(name: &str, issuer: Option<&str>) -> NamedUser {
    let owners = match issuer {
        Some(issuer) => vec![Owner::subject(issuer, name)],
        None => vec![Owner::key_holder(name), Owner::unverified(name)],
    };
    NamedUser { name: name.to_owned(), owners }
}

/// Writes what each owner of a user has; nothing for an owner who has nothing.
async fn export(store: &Store, user: &NamedUser, out: Option<&Path>) -> Result<CommandOutput, CommandError> {
    let failed = CommandError::of_file(out.unwrap_or(Path::new("the output")));
    let mut writer = None;
    for owner in &user.owners {
        record(store, "user.export", owner.as_str()).await;
        // Rows are held back until one of them is more than the head.
        let (mut held, mut has_data) = (Vec::new(), false);
        let mut export = store.export(owner, SystemTime::now());
        while let Some(rows) = export.next().await? {
            for row in rows {
                has_data |= !matches!(row, ExportRow::Export { .. } | ExportRow::End);
                serde_json::to_writer(&mut held, &row).map_err(io::Error::from).map_err(&failed)?;
                held.push(b'\n');
            }
            if has_data {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    None => writer.insert(open_output(out).map_err(&failed)?),
                };
                writer.write_all(&held).map_err(&failed)?;
                held.clear();
            }
        }
    }
    writer.ok_or_else(|| nothing_of(&user.name))?.flush().map_err(&failed)?;
    Ok(CommandOutput::default())
}

/// Opens a new file that only its user may read, or standard output.
fn open_output(file: Option<&Path>) -> io::Result<Box<dyn Write + Send>> {
    let Some(file) = file else { return Ok(Box::new(BufWriter::new(io::stdout()))) };
    Ok(Box::new(BufWriter::new(private_files::create(file)?)))
}

fn nothing_of(names: &str) -> CommandError {
    CommandError::failed(format!("nothing is stored about a user {names}"))
}

impl Delete {
    async fn run(self, settings: Settings) -> Result<CommandOutput, CommandError> {
        let users = self.users()?;
        let opened = self.location.open(settings).await?;
        if !self.dry_run && !self.yes && io::stdin().is_terminal() {
            self.visit(&opened, &users, false).await?;
            if !is_confirmed(&mut io::stdin().lock()) {
                return Err(CommandError::failed("nothing was deleted"));
            }
        }
        let absent = self.visit(&opened, &users, !self.dry_run).await?;
        if absent.is_empty() { Ok(CommandOutput::default()) } else { Err(nothing_of(&absent.join(", "))) }
    }

    /// The users of the arguments, or of the list.
    fn users(&self) -> Result<Vec<NamedUser>, CommandError> {
        let issuer = self.issuer.as_deref();
        let Some(from) = &self.from else {
            return Ok(self.name.iter().map(|name| named_user(name, issuer)).collect());
        };
        let is_input = from.as_os_str() == "-";
        let list = if is_input { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(from) };
        let list = list.map_err(CommandError::of_file(from))?;
        let lines = list.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty());
        let users = lines.map(|(line, number)| {
            if OWNER_KINDS.iter().any(|kind| line.starts_with(kind)) {
                return Ok(NamedUser { name: line.to_owned(), owners: vec![Owner::new(line)] });
            }
            let invalid = || CommandError::wrong_use(format!("{}: line {number} is not a name", from.display()));
            user(line).map(|name| named_user(&name, issuer)).map_err(|_| invalid())
        });
        users.collect()
    }

    /// Deletes each user, or only looks; prints a line for each at once. Returns those of whom there is nothing.
    async fn visit(&self, opened: &OpenStore, users: &[NamedUser], deletes: bool) -> Result<Vec<String>, CommandError> {
        let OpenStore { store, files, .. } = opened;
        let (mut absent, mut deleted_keys) = (Vec::new(), 0);
        for NamedUser { name, owners } in users {
            let line = if deletes {
                let DeletionCounts { keys, conversations, others } =
                    delete_owners(store, files.as_ref(), owners).await?;
                deleted_keys += keys;
                (keys + conversations + others > 0).then(|| {
                    format!("deleted {name}: {keys} keys, {conversations} conversations, {others} other items")
                })
            } else {
                contents(store, owners).await?.map(|contents| format!("would delete {name}: {contents}"))
            };
            absent.extend(line.is_none().then(|| name.clone()));
            if let Some(line) = line.or_else(|| self.from.as_ref().map(|_| format!("nothing of {name}"))) {
                print_line(&mut io::stdout(), &line);
            }
        }
        if deleted_keys > 0 {
            let note = administrator_note(&store.keys).await?;
            if !note.is_empty() {
                print_line(&mut io::stderr(), &note);
            }
        }
        Ok(absent)
    }
}

/// Whether the next line of a person is `yes`.
fn is_confirmed(input: &mut impl BufRead) -> bool {
    print_line(&mut io::stderr(), "Delete all of this permanently? Type `yes` to confirm.");
    let mut answer = String::new();
    input.read_line(&mut answer).is_ok() && answer.trim() == "yes"
}

/// What exports of the owners contain, such as `1 key, 2 conversations`; `None` if that is nothing.
async fn contents(store: &Store, owners: &[Owner]) -> Result<Option<String>, StoreError> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for owner in owners {
        let mut export = store.export(owner, SystemTime::now());
        while let Some(rows) = export.next().await? {
            for row in rows {
                let noun = match row {
                    ExportRow::Export { .. } | ExportRow::End => continue,
                    ExportRow::Key { .. } => "key",
                    ExportRow::Instructions { .. } => "text of instructions",
                    ExportRow::Day { .. } => "usage record",
                    ExportRow::Conversation(_) => "conversation",
                    ExportRow::Message { .. } => "message",
                    ExportRow::Article { .. } => "article",
                    ExportRow::Attachment { .. } => "file",
                    ExportRow::Execution { .. } => "tool call",
                };
                *counts.entry(noun).or_default() += 1;
            }
        }
    }
    let texts: Vec<String> = counts.into_iter().map(|(noun, number)| count(number, noun)).collect();
    Ok((!texts.is_empty()).then(|| texts.join(", ")))
}

async fn delete_owners(
    store: &Store,
    files: Option<&Attachments>,
    owners: &[Owner],
) -> Result<DeletionCounts, CommandError> {
    let mut all = DeletionCounts::default();
    for owner in owners {
        if files.is_none() && !store.files.list(owner).await?.is_empty() {
            return Err(CommandError::wrong_use("the user has files in a bucket: set ATTACHMENTS_BUCKET to its name"));
        }
        if let Some(files) = files {
            let failed = |error: TurnError| CommandError::failed(error.cause.unwrap_or(error.failure.message));
            files.erase(owner).await.map_err(failed)?;
        }
        let DeletionCounts { keys, conversations, others } = store.delete_owner(owner).await?;
        if keys + conversations + others > 0 {
            record(store, "user.erase", owner.as_str()).await;
        }
        all.keys += keys;
        all.conversations += conversations;
        all.others += others;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_confirms_a_deletion() {
        for (answer, expected) in [("yes\n", true), (" yes", true), ("y\n", false), ("\n", false), ("", false)] {
            assert_eq!(is_confirmed(&mut answer.as_bytes()), expected, "{answer:?}");
        }
    }
}
