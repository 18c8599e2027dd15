use std::path::PathBuf;

use clap::Args;
use platform::settings::Settings;
use store::{BackupError, Store, StoreError, TableNames};

use crate::StartError;
use crate::command_line::WRONG_USE;
use crate::database::{self, EmbeddedDatabase};

/// Setting that names a DynamoDB other than the embedded one.
const ENDPOINT_SETTING: &str = "AWS_ENDPOINT_URL_DYNAMODB";

/// Whose store a command works on.
///
/// With `--aws` the tables of the environment's account and region; else those at `AWS_ENDPOINT_URL_DYNAMODB` where it is
/// set; else the ones in the data folder, also while a server uses them.
#[derive(Args, Debug)]
pub(crate) struct StoreLocation {
    /// The folder of the local server.
    #[arg(long, value_name = "DIR", default_value = ".data")]
    pub(crate) data: PathBuf,
    /// Works on the tables of a deployed function instead: `DATA_TABLE`, `EPHEMERAL_TABLE`, `AWS_REGION` and
    /// credentials are taken from the environment.
    #[arg(long, conflicts_with = "data")]
    pub(crate) aws: bool,
}

/// Why a command failed; each is one line for the person who gave it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The store cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A request to the store failed.
    #[error("the database cannot be used: {0}")]
    Store(#[from] StoreError),
    /// A conversation kept changing during the backup.
    #[error("the backup cannot be made: {0}")]
    Backup(BackupError),
    /// A file cannot be read or written.
    #[error("the file cannot be used: {0}")]
    File(#[from] std::io::Error),
    /// The object of the command does not exist.
    #[error("{0}")]
    Absent(String),
    /// A file is not valid for the command.
    #[error("{0}")]
    Refused(String),
    /// A signal stopped the command.
    #[error("stopped")]
    Stopped,
}

impl From<BackupError> for CommandError {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::Store(error) => Self::Store(error),
            BackupError::NeverIdle => Self::Backup(error),
        }
    }
}

impl CommandError {
    /// Exit code: 2 for wrong use, 1 for a failure.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Start(StartError::Store(_))
            | Self::Store(_)
            | Self::Backup(_)
            | Self::File(_)
            | Self::Absent(_)
            | Self::Stopped => 1,
            Self::Start(_) | Self::Refused(_) => WRONG_USE,
        }
    }
}

/// An open store with the resources that it needs.
pub(crate) struct OpenStore {
    pub(crate) store: Store,
    _embedded: Option<EmbeddedDatabase>,
}

impl StoreLocation {
    /// Opens the store. Missing tables are created, except in an AWS account.
    pub(crate) async fn open(&self, mut settings: Settings) -> Result<OpenStore, StartError> {
        let names = TableNames::from_settings(&settings)?;
        let is_external = self.aws || settings.var(ENDPOINT_SETTING).is_some();
        let embedded = if is_external { None } else { Some(EmbeddedDatabase::join(&self.data).await?) };
        if self.aws {
            settings.set(ENDPOINT_SETTING, "");
        }
        let aws = database::sdk_config(embedded.as_ref(), &mut settings)?;
        if !self.aws {
            store::create_tables(&aws, &names).await?;
        }
        Ok(OpenStore { store: Store::new(&aws, names), _embedded: embedded })
    }
}

/// Parses a user name: 1 to 256 characters, not blank, without control characters.
pub(crate) fn user(text: &str) -> Result<String, String> {
    let usable = !text.trim().is_empty() && text.chars().nth(256).is_none() && !text.chars().any(char::is_control);
    if usable { Ok(text.to_owned()) } else { Err("1 to 256 characters are accepted, not blank".to_owned()) }
}
