use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use platform::settings::Settings;
use store::{BackupCheck, BackupSummary, RestoreOptions, RestoreReport, Store};

use super::lines::Lines;
use super::{Progress, STANDARD_OUTPUT};
use crate::command_result::{CommandError, CommandOutput, print_line};
use crate::store_location::StoreLocation;

/// Limits of one batch: number of lines, and their bytes unless a single line is longer.
const MAX_BATCH: (usize, usize) = (256, 1024 * 1024);

/// Writes a backup into the data table, after it was read through; what is there stays as it is.
///
/// Broken off, it is given again.
#[derive(Args, Debug)]
pub(crate) struct RestoreCommand {
    /// What `backup` wrote.
    file: PathBuf,
    /// Writes over what differs, also where a conversation continued since; but never over keys.
    #[arg(long)]
    replace: bool,
    /// Reports what would be done and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// Leaves API keys out: those that were revoked and deleted since would be valid again.
    #[arg(long)]
    without_keys: bool,
    #[command(flatten)]
    location: StoreLocation,
}

impl RestoreCommand {
    /// Runs the command and returns its messages.
    pub(crate) async fn run(self, settings: Settings) -> Result<CommandOutput, CommandError> {
        let mut lines = self.open()?;
        let contents = self.check(&mut lines)?;
        lines.rewind()?;
        let opened = self.location.open(settings).await?;
        let BackupSummary { items, table, at, .. } = &contents;
        print_line(&mut io::stderr(), &format!("{items} items of the table {table}, backed up at {at}"));
        let restored = self.restore(&opened.store, contents, lines).await?;
        Ok(CommandOutput { result: self.describe_result(restored), note: self.advice().to_owned() })
    }

    /// Opens the file once, so that the check and the restore read the same content.
    fn open(&self) -> Result<Lines, CommandError> {
        if self.file == Path::new(STANDARD_OUTPUT) || !self.file.metadata()?.is_file() {
            return Err(self.unrestorable(&"a file is accepted and no pipe, because it is read twice"));
        }
        Ok(Lines::of(File::open(&self.file)?))
    }

    /// Reads the file through before anything is written.
    fn check(&self, lines: &mut Lines) -> Result<BackupSummary, CommandError> {
        let mut check = BackupCheck::default();
        while let Some(line) = lines.next().map_err(|error| self.unrestorable(&error))? {
            check.check_line(&line).map_err(|why| self.unrestorable(&why))?;
        }
        check.finish().map_err(|why| self.unrestorable(&why))
    }

    fn unrestorable(&self, why: &dyn Display) -> CommandError {
        CommandError::Refused(format!("{} cannot be restored: {why}", self.file.display()))
    }

    async fn restore(
        &self,
        store: &Store,
        contents: BackupSummary,
        mut lines: Lines,
    ) -> Result<RestoreReport, CommandError> {
        let options = RestoreOptions { replace: self.replace, dry_run: self.dry_run, without_keys: self.without_keys };
        let (mut restore, mut progress) = (store.restore(contents, options), Progress::default());
        loop {
            let batch = next_batch(&mut lines)?;
            if batch.is_empty() {
                return Ok(restore.report());
            }
            restore.restore_lines(&batch).await?;
            progress.report(restore.report().all());
        }
    }

    fn describe_result(&self, restored: RestoreReport) -> String {
        let RestoreReport { written, replaced, unchanged: there, kept, skipped_keys: left_out } = restored;
        let not_done = if self.dry_run { "nothing is written; it would be: " } else { "" };
        format!(
            "{not_done}{written} written, {replaced} written over, {there} already there, {kept} kept as they are, \
             {left_out} left out"
        )
    }

    fn advice(&self) -> &'static str {
        if self.dry_run {
            ""
        } else if self.without_keys {
            "Users who were erased since the backup are back: `users delete` them again."
        } else {
            "Keys that were deleted since the backup are valid again, and users who were erased are back: \
             `keys list` and `keys revoke`, `users delete`."
        }
    }
}

/// Reads the next lines, up to [`MAX_BATCH`].
fn next_batch(lines: &mut Lines) -> io::Result<Vec<String>> {
    let ((max_lines, max_bytes), mut batch, mut bytes) = (MAX_BATCH, Vec::new(), 0);
    while batch.len() < max_lines && bytes < max_bytes {
        let Some(line) = lines.next()? else { break };
        bytes += line.len();
        batch.push(line);
    }
    Ok(batch)
}
