use clap::Subcommand;
use settings::Settings;
use store::{Deleted, Owner, Store, StoreError};

use crate::command_line::Said;
use crate::store_place::{CommandError, StorePlace, user};

#[derive(Subcommand, Debug)]
pub(crate) enum UsersCommand {
    /// Deletes everything that a user has: keys, conversations, and whatever else is kept under the name.
    Delete {
        /// The name that keys were made for, and that callers say where authentication is off; with `--issuer` the
        /// subject of tokens.
        #[arg(value_parser = user)]
        name: String,
        /// Deletes the one for whom this issuer makes tokens, instead of the one who has keys.
        #[arg(long, value_name = "URL", value_parser = issuer)]
        issuer: Option<String>,
        #[command(flatten)]
        place: StorePlace,
    },
}

fn issuer(text: &str) -> Result<String, String> {
    let address = text.starts_with("https://") || text.starts_with("http://");
    let accepted = || "the value of AUTH_JWT_ISSUER is accepted".to_owned();
    if address && !text.contains(char::is_whitespace) { Ok(text.to_owned()) } else { Err(accepted()) }
}

impl UsersCommand {
    /// Does it, and gives what there is to say.
    pub(crate) async fn run(self, settings: Settings) -> Result<Said, CommandError> {
        let Self::Delete { name, issuer, place } = self;
        let owners = match &issuer {
            Some(issuer) => vec![Owner::subject(issuer, &name)],
            None => vec![Owner::key_holder(&name), Owner::unverified(&name)],
        };
        let opened = place.open(settings).await?;
        let Deleted { keys, conversations, others } = delete(&opened.store, &owners).await?;
        if keys + conversations + others == 0 {
            return Err(CommandError::Absent(format!("there is nothing of a user {name}")));
        }
        let result = format!("deleted {name}: {keys} keys, {conversations} conversations, {others} other items");
        Ok(Said { result, note: String::new() })
    }
}

async fn delete(store: &Store, owners: &[Owner]) -> Result<Deleted, StoreError> {
    let mut all = Deleted::default();
    for owner in owners {
        let Deleted { keys, conversations, others } = store.delete_owner(owner).await?;
        all.keys += keys;
        all.conversations += conversations;
        all.others += others;
    }
    Ok(all)
}
