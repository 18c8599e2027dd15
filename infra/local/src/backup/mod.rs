//! The commands `backup` and `restore`: the data table as a file, and back.

mod lines;
mod restore;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use platform::settings::Settings;
use store::Backup;
use tempfile::NamedTempFile;

pub(crate) use self::restore::RestoreCommand;
use crate::command_result::{CommandError, CommandOutput, print_line};
use crate::store_location::StoreLocation;

/// Number of items between two progress messages.
const PROGRESS_INTERVAL_ITEMS: u64 = 10_000;

/// File name that selects standard output.
const STANDARD_OUTPUT: &str = "-";

/// Writes everything that users own to a file: the data table, a JSON object a line; the last one has `end`.
///
/// It holds what users wrote, and hashes of their keys. A file is there whole or not at all.
#[derive(Args, Debug)]
pub(crate) struct BackupCommand {
    /// The file to write, which must not exist; `-` for the output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    location: StoreLocation,
}

impl BackupCommand {
    /// Runs the command and returns its messages.
    pub(crate) async fn run(self, settings: Settings, now: SystemTime) -> Result<CommandOutput, CommandError> {
        let draft = Draft::of(&self.out)?;
        let opened = self.location.open(settings).await?;
        let mut backup = opened.store.backup(now);
        let mut out = draft.writer()?;
        write(&mut backup, &mut out).await?;
        if backup.items() == 0 {
            return Err(CommandError::Absent(format!("there is nothing in the table {}", backup.table())));
        }
        out.flush()?;
        drop(out);
        draft.persist(&self.out)?;
        Ok(CommandOutput { result: String::new(), note: describe_backup(&backup) })
    }
}

/// Destination of a backup until it is complete.
enum Draft {
    Output,
    File(NamedTempFile),
}

impl Draft {
    /// Creates a temporary file next to `out`, readable by its owner only; it is deleted unless it is persisted.
    fn of(out: &Path) -> Result<Self, CommandError> {
        if out == Path::new(STANDARD_OUTPUT) {
            return Ok(Self::Output);
        }
        if out.exists() {
            return Err(CommandError::Refused(format!(
                "{} exists; name a new file, or - for the output",
                out.display()
            )));
        }
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self::File(tempfile::Builder::new().prefix(".backup-").tempfile_in(folder)?))
    }

    fn writer(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(match self {
            Self::Output => Box::new(BufWriter::new(io::stdout())),
            Self::File(file) => Box::new(BufWriter::new(file.as_file().try_clone()?)),
        })
    }

    fn persist(self, out: &Path) -> io::Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        file.as_file().sync_all()?;
        file.persist_noclobber(out).map(|_| ()).map_err(|refused| refused.error)
    }
}

async fn write(backup: &mut Backup, out: &mut impl Write) -> Result<(), CommandError> {
    let mut progress = Progress::default();
    while let Some(lines) = backup.next().await? {
        for line in lines {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
        progress.report(backup.items());
    }
    Ok(())
}

fn describe_backup(backup: &Backup) -> String {
    let text = format!("backed up {} items of the table {}", backup.items(), backup.table());
    match backup.unknown() {
        0 => text,
        unknown => {
            format!(
                "{text}; {unknown} of them are of a newer release or of something else, and only that can restore them"
            )
        }
    }
}

/// Prints a progress message every [`PROGRESS_INTERVAL_ITEMS`] items.
#[derive(Default)]
struct Progress(u64);

impl Progress {
    fn report(&mut self, items: u64) {
        if items / PROGRESS_INTERVAL_ITEMS > self.0 / PROGRESS_INTERVAL_ITEMS {
            print_line(&mut io::stderr(), &format!("{items} items"));
        }
        self.0 = items;
    }
}
