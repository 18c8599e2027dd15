use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use settings::Settings;
use store::{Check, Contents, Restored, Store, Wish};

use super::lines::Lines;
use super::{OUTPUT, Progress};
use crate::command_line::{Said, say};
use crate::store_place::{CommandError, StorePlace};

/// Limits of one batch: number of lines, and their bytes unless a single line is longer.
const HELD: (usize, usize) = (256, 1024 * 1024);

/// Writes a backup into the data table, after it was read through; what is there stays as it is.
///
/// Broken off, it is given again.
#[derive(Args, Debug)]
pub(crate) struct RestoreCommand {
    /// What `backup` wrote.
    file: PathBuf,
    /// Writes over what differs, also where a conversation went on since; but never over keys.
    #[arg(long)]
    replace: bool,
    /// Says what would be done and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// Leaves API keys out: those that were revoked and deleted since would be valid again.
    #[arg(long)]
    without_keys: bool,
    #[command(flatten)]
    place: StorePlace,
}

impl RestoreCommand {
    /// Runs the command and returns its messages.
    pub(crate) async fn run(self, settings: Settings) -> Result<Said, CommandError> {
        let mut lines = self.open()?;
        let contents = self.check(&mut lines)?;
        lines.again()?;
        let opened = self.place.open(settings).await?;
        let Contents { items, table, at, .. } = &contents;
        say(&mut io::stderr(), &format!("{items} items of the table {table}, backed up at {at}"));
        let restored = self.restore(&opened.store, contents, lines).await?;
        Ok(Said { result: self.told(restored), note: self.advice().to_owned() })
    }

    /// Opens the file once, so that the check and the restore read the same content.
    fn open(&self) -> Result<Lines, CommandError> {
        if self.file == Path::new(OUTPUT) || !self.file.metadata()?.is_file() {
            return Err(self.refused(&"a file is accepted and no pipe, because it is read twice"));
        }
        Ok(Lines::of(File::open(&self.file)?))
    }

    /// Reads the file through before anything is written.
    fn check(&self, lines: &mut Lines) -> Result<Contents, CommandError> {
        let mut check = Check::default();
        while let Some(line) = lines.next().map_err(|error| self.refused(&error))? {
            check.line(&line).map_err(|why| self.refused(&why))?;
        }
        check.end().map_err(|why| self.refused(&why))
    }

    fn refused(&self, why: &dyn Display) -> CommandError {
        CommandError::Refused(format!("{} cannot be restored: {why}", self.file.display()))
    }

    async fn restore(&self, store: &Store, contents: Contents, mut lines: Lines) -> Result<Restored, CommandError> {
        let wish = Wish { replace: self.replace, dry_run: self.dry_run, without_keys: self.without_keys };
        let (mut restore, mut progress) = (store.restore(contents, wish), Progress::default());
        loop {
            let some = held(&mut lines)?;
            if some.is_empty() {
                return Ok(restore.restored());
            }
            restore.lines(&some).await?;
            progress.reached(restore.restored().all());
        }
    }

    fn told(&self, restored: Restored) -> String {
        let Restored { written, replaced, there, kept, left_out } = restored;
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
fn held(lines: &mut Lines) -> io::Result<Vec<String>> {
    let ((most, most_bytes), mut some, mut bytes) = (HELD, Vec::new(), 0);
    while some.len() < most && bytes < most_bytes {
        let Some(line) = lines.next()? else { break };
        bytes += line.len();
        some.push(line);
    }
    Ok(some)
}
