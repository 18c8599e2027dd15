//! Consistent copies of the database file, made by SQLite itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use commands::CommandError;
use rusqlite::{Connection, InterruptHandle, OpenFlags};
use tempfile::NamedTempFile;

use super::file::{self, FileContent};
use super::folder::{DATABASE_FILE, DataFolder};

/// Stops a copy that still runs when its command ends, such as after a signal.
struct StopOnDrop(InterruptHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

/// Copies the database of a data folder to a new file as of one moment, also while a server uses it. What a process that
/// died has left in its write-ahead log is in the copy.
pub async fn back_up(data: &Path, out: &Path) -> Result<(), CommandError> {
    let database = data.join(DATABASE_FILE);
    if file::inspect(&database).map_err(CommandError::of_file(&database))? != FileContent::Store {
        return Err(CommandError::failed(format!("there is no database of this program in {}", data.display())));
    }
    if out.exists() {
        return Err(CommandError::wrong_use(format!("{} exists; name a new file", out.display())));
    }
    let draft = draft_next_to(out).map_err(CommandError::of_file(out))?;
    // Not read-only, so that SQLite recovers the log of a process that died.
    vacuum(&database, OpenFlags::SQLITE_OPEN_READ_WRITE, draft.path()).await?;
    persist(draft, out).map_err(CommandError::of_file(out))
}

/// Puts a copy into a data folder that has no database, where no server runs.
pub async fn restore(copy: &Path, data: &Path) -> Result<(), CommandError> {
    let refused = |why: &str| CommandError::wrong_use(format!("{} cannot be restored: {why}", copy.display()));
    let unreadable = CommandError::of_file(copy);
    if !copy.metadata().map_err(&unreadable)?.is_file() {
        return Err(refused("a file is accepted"));
    }
    match file::inspect(copy).map_err(&unreadable)? {
        FileContent::Store => {}
        _ if is_from_earlier_release(copy).map_err(&unreadable)? => return Err(refused(EARLIER_FORM)),
        _ => return Err(refused("it is not a copy that `backup` made")),
    }
    let Some(_folder) = DataFolder::lock(data)? else {
        return Err(refused(&format!("a server or another command uses {}; stop it first", data.display())));
    };
    let database = data.join(DATABASE_FILE);
    if let Some(present) = file::companions(&database).find(|file| file.symlink_metadata().is_ok()) {
        return Err(refused(&format!("{} exists; name an empty folder with --data", present.display())));
    }
    let draft = draft_next_to(&database).map_err(CommandError::of_file(&database))?;
    vacuum(copy, OpenFlags::SQLITE_OPEN_READ_ONLY, draft.path()).await?;
    persist(draft, &database).map_err(CommandError::of_file(&database))
}

const EARLIER_FORM: &str = "it is a backup of an earlier release, as JSON lines; restore it with that release, such as 0.1.0, and use this one on the folder";

/// Whether a file begins like a backup as JSON lines, or is compressed, as these often were.
fn is_from_earlier_release(file: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(file)?.take(10).read_to_end(&mut head)?;
    Ok(head.starts_with(br#"{"backup":"#) || head.starts_with(b"\x1f\x8b"))
}

/// An empty file of this user in the folder of `out`, removed when dropped.
fn draft_next_to(out: &Path) -> io::Result<NamedTempFile> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".copy-").tempfile_in(folder)
}

fn persist(draft: NamedTempFile, out: &Path) -> io::Result<()> {
    draft.as_file().sync_all()?;
    draft.persist_noclobber(out).map_err(|refused| refused.error)?;
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Writes the content of a database into an empty file, and checks what was written.
async fn vacuum(from: &Path, flags: OpenFlags, into: &Path) -> Result<(), CommandError> {
    let connection = Connection::open_with_flags(from, flags).map_err(unreadable)?;
    let _stop = StopOnDrop(connection.get_interrupt_handle());
    let into: PathBuf = into.to_owned();
    let copied = tokio::task::spawn_blocking(move || {
        let name = into.to_str().ok_or(rusqlite::Error::InvalidPath(into.clone()))?;
        connection.execute("VACUUM INTO ?1", [name])?;
        let copy = Connection::open_with_flags(&into, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        copy.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    });
    let checked = copied.await.map_err(unreadable)?.map_err(unreadable)?;
    if checked == "ok" { Ok(()) } else { Err(unreadable(checked)) }
}

fn unreadable(error: impl std::fmt::Display) -> CommandError {
    CommandError::failed(format!("the database cannot be copied: {error}"))
}
