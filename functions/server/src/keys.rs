use std::fmt::Write;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use commands::{CommandError, CommandOutput, record};
use domain::Groups;
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use platform::settings::Settings;
use secrecy::ExposeSecret;
use store::{ApiKey, KeyRecord, Keys, NewKey};

use crate::store_location::{StoreLocation, user};

const DAY: Duration = Duration::from_hours(24);

#[derive(Subcommand, Debug)]
pub(crate) enum KeysCommand {
    /// Creates a key and shows it once.
    Create(Create),
    /// Lists all keys, without their values, which are not stored.
    List {
        #[command(flatten)]
        location: StoreLocation,
    },
    /// Revokes a key permanently; running servers and functions reject it within 30 seconds.
    Revoke {
        /// The key's id, as `keys list` shows it.
        id: String,
        #[command(flatten)]
        location: StoreLocation,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Create {
    /// The user of the key; keys of the same user share their conversations.
    #[arg(long, value_name = "NAME", value_parser = user)]
    user: String,
    /// Makes the user an administrator.
    #[arg(long)]
    admin: bool,
    /// Expires the key after this many days.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=3650))]
    expires: Option<u32>,
    /// A group of the user; repeat the option for more.
    #[arg(long = "group", value_name = "NAME")]
    groups: Vec<String>,
    #[command(flatten)]
    location: StoreLocation,
}

/// The groups that `--group` names.
pub(crate) fn groups(names: Vec<String>) -> Result<Groups, CommandError> {
    let accepted = "--group: at most 64 names are accepted, each 1 to 128 characters without white space around them";
    Groups::new(names).ok_or_else(|| CommandError::wrong_use(accepted))
}

impl KeysCommand {
    pub(crate) async fn run(self, settings: Settings, now: SystemTime) -> Result<CommandOutput, CommandError> {
        match self {
            Self::Create(create) => create.run(settings, now).await,
            Self::List { location } => {
                let keys = location.open(settings).await?.store.keys.list().await?;
                Ok(table(&keys, now).into())
            }
            Self::Revoke { id, location } => {
                let opened = location.open(settings).await?;
                let keys = &opened.store.keys;
                match keys.revoke(&id, now).await? {
                    Some(key) => {
                        record(&opened.store, "key.revoke", &key.id).await;
                        Ok(CommandOutput {
                            result: format!("revoked {} of {}", key.id, key.owner),
                            note: if key.administrator { administrator_note(keys).await? } else { String::new() },
                        })
                    }
                    None => Err(CommandError::failed("there is no key with this id; `keys list` shows all")),
                }
            }
        }
    }
}

/// A note if nobody can administer any more; empty otherwise.
pub(crate) async fn administrator_note(keys: &Keys) -> Result<String, CommandError> {
    let note = "No administrator key without an expiry is left; `keys create --user NAME --admin` creates one.";
    Ok(if keys.has_administrator().await? { String::new() } else { note.to_owned() })
}

impl Create {
    async fn run(self, settings: Settings, now: SystemTime) -> Result<CommandOutput, CommandError> {
        let groups = groups(self.groups)?;
        let opened = self.location.open(settings).await?;
        let key = ApiKey::generate()?;
        let expires = self.expires.map(|days| now + DAY * days);
        let new = NewKey { owner: self.user, administrator: self.admin, expires, citation_links: false, groups };
        let made = opened.store.keys.create(&key, &new, now).await?;
        record(&opened.store, "key.create", &made.id).await;
        let note = format!("The key {} of {}. It is shown only once: store it safely.", made.id, made.owner);
        Ok(CommandOutput { result: key.text().expose_secret().to_owned(), note })
    }
}

fn table(keys: &[KeyRecord], now: SystemTime) -> String {
    if keys.is_empty() {
        return "There are no keys.".to_owned();
    }
    let mut table = format!("{:<26}  {:<7}  {:<20}  {:<20}  USER", "ID", "STATE", "CREATED", "EXPIRES");
    for key in keys {
        let expires = key.expires.map_or("-".to_owned(), date);
        let mark = if key.administrator { " (administrator)" } else { "" };
        let groups =
            if key.groups.is_empty() { String::new() } else { format!(" [{}]", key.groups.names().join(", ")) };
        // Writing to a String cannot fail. A stored name may contain control characters for the terminal.
        let _ = write!(
            table,
            "\n{:<26}  {:<7}  {:<20}  {expires:<20}  {}{mark}{}",
            key.id,
            key.state(now),
            date(key.created),
            key.owner.escape_debug(),
            groups.escape_debug()
        );
    }
    table
}

/// Returns a time as in RFC 3339, in UTC and to the second; `?` after the year 9999.
fn date(at: SystemTime) -> String {
    const TO_THE_SECOND: DateTimePrinter = DateTimePrinter::new().precision(Some(0));
    Timestamp::try_from(at).map_or_else(|_| "?".to_owned(), |at| TO_THE_SECOND.timestamp_to_string(&at))
}

#[cfg(test)]
mod tests;
