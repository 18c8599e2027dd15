//! The commands `backup` and `restore`: a copy of the database of a data folder, and back.

use std::path::PathBuf;

use clap::Args;
use commands::{CommandError, CommandOutput};

/// Copies the database of this machine to a file, also while a server uses it.
///
/// The file holds what users wrote, and hashes of their keys. It is complete or absent. The tables of a deployed
/// function are backed up by AWS: docs/data.md.
#[derive(Args, Debug)]
pub(crate) struct BackupCommand {
    /// The file to write, which must not exist.
    file: PathBuf,
    /// The folder of the local server.
    #[arg(long, value_name = "DIR", default_value = ".data")]
    data: PathBuf,
}

/// Restores a copy that `backup` made into a folder without a database.
#[derive(Args, Debug)]
pub(crate) struct RestoreCommand {
    /// The file that `backup` wrote.
    file: PathBuf,
    /// The folder, in which no server may run.
    #[arg(long, value_name = "DIR", default_value = ".data")]
    data: PathBuf,
}

impl BackupCommand {
    pub(crate) async fn run(self) -> Result<CommandOutput, CommandError> {
        local_dynamodb::back_up(&self.data, &self.file).await?;
        Ok(format!("copied the database of {} to {}", self.data.display(), self.file.display()).into())
    }
}

impl RestoreCommand {
    pub(crate) async fn run(self) -> Result<CommandOutput, CommandError> {
        local_dynamodb::restore(&self.file, &self.data).await?;
        let note = "Keys that were revoked since the backup are valid again, and users who were erased are back: \
                    `keys list` and `keys revoke`, `users delete`.";
        let result = format!("restored {} into {}", self.file.display(), self.data.display());
        Ok(CommandOutput { result, note: note.to_owned() })
    }
}
