//! Watches the database file while it is open, and logs its problems.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use commands::private_files;
use dynoxide::Database;
use rusqlite::{Connection, OpenFlags};
use work::lock;

use super::answer::{Answer, Trouble};
use super::file;

/// A problem that did not occur for this long counts as over; it is logged again the next time.
const RELOG_AFTER: Duration = Duration::from_mins(10);

/// Health of the database file: detects its removal, and logs each problem once.
pub(super) struct Health {
    /// The file with its identity; `None` for a database in memory.
    file: Option<(PathBuf, Option<(u64, u64)>)>,
    /// Disk space for deletions; `None` for a database in memory.
    pub(super) reserve: Option<Reserve>,
    /// Last time of each problem.
    last_seen: Mutex<HashMap<Trouble, Instant>>,
}

impl Health {
    /// Starts to watch the file, which must be open.
    pub(super) fn of(file: Option<&Path>) -> Self {
        let reserve = file.map(Reserve::of);
        let file = file.map(|file| (file.to_owned(), file::identity(file)));
        Self { file, reserve, last_seen: Mutex::default() }
    }

    /// Returns [`Trouble::Gone`] when the open file no longer has its name: later writes would be lost.
    ///
    /// Costs one `stat` per request, about a microsecond.
    pub(super) fn check(&self) -> Option<Trouble> {
        let (path, identity) = self.file.as_ref()?;
        (file::identity(path) != *identity).then_some(Trouble::Gone)
    }

    /// Logs the problem of an answer, unless it also occurred within the last [`RELOG_AFTER`].
    pub(super) fn record(&self, answer: &Answer, database: &Database, now: Instant) {
        let Some(trouble) = answer.trouble else { return };
        if self.is_new(trouble, now) {
            self.log(trouble, database);
        }
    }

    fn is_new(&self, trouble: Trouble, now: Instant) -> bool {
        let mut last_seen = lock(&self.last_seen);
        let last = last_seen.insert(trouble, now);
        last.is_none_or(|last| now.duration_since(last) > RELOG_AFTER)
    }

    fn log(&self, trouble: Trouble, database: &Database) {
        let file = self.file.as_ref().map_or(Path::new("memory"), |(path, _)| path).display();
        if trouble == Trouble::Gone {
            let saved = self.rescue(database).map(|path| path.display().to_string());
            let saved = saved.unwrap_or_else(|| "nowhere".to_owned());
            tracing::error!(%file, %saved, "{trouble}");
        } else {
            tracing::error!(%file, "{trouble}");
        }
    }

    /// Copies the content of the open file to a new one in the same folder.
    fn rescue(&self, database: &Database) -> Option<PathBuf> {
        let (path, _) = self.file.as_ref()?;
        let rescued = path.with_file_name(format!("rescued-{}.sqlite", domain::new_id()));
        private_files::create(&rescued).ok()?;
        database.vacuum_into(rescued.to_str()?).ok()?;
        Some(rescued)
    }
}

const RESERVE_FILE: &str = "reserve-for-deletions";

/// Size of the reserve. SQLite copies its write-ahead log into the main file at every 1,000 pages of 4 KiB, and fails to
/// do so on a full disk: until the disk is full, the log is at most two times that.
const RESERVE_BYTES: u64 = 8 * 1024 * 1024;

/// The smallest reserve. The log keeps its space when it was copied, so a later deletion needs less.
const MIN_RESERVE_BYTES: u64 = 1024 * 1024;

/// Disk space that only deletions may use, so that users of a full disk can free some; without space for the smallest
/// reserve there is none.
pub(super) struct Reserve {
    database: PathBuf,
    path: PathBuf,
}

impl Reserve {
    /// Allocates the reserve, if there is space.
    pub(super) fn of(database: &Path) -> Self {
        let reserve = Self { database: database.to_owned(), path: database.with_file_name(RESERVE_FILE) };
        if let Err(error) = reserve.fill() {
            tracing::debug!(%error, "no disk space is reserved for deletions");
        }
        reserve
    }

    /// Runs a deletion that found the disk full: once more with the space of the reserve.
    ///
    /// The log is copied into the main file before and after it, so that the log's own space is free for the next writes.
    /// Then what is left is reserved again.
    pub(super) fn delete<T>(&self, deletion: impl FnOnce() -> T) -> T {
        let _absent = fs::remove_file(&self.path);
        self.copy_log();
        let deleted = deletion();
        self.copy_log();
        let _full = self.fill();
        deleted
    }

    fn fill(&self) -> io::Result<()> {
        file::check(&self.path)?;
        if self.path.metadata().is_ok_and(|metadata| metadata.len() == RESERVE_BYTES) {
            return Ok(());
        }
        let mut bytes = RESERVE_BYTES;
        loop {
            let _absent = fs::remove_file(&self.path);
            match private_files::create(&self.path).and_then(|file| allocate(&file, bytes)) {
                Err(_) if bytes > MIN_RESERVE_BYTES => bytes /= 2,
                filled => return filled.inspect_err(|_| drop(fs::remove_file(&self.path))),
            }
        }
    }

    /// Copies the write-ahead log into the main file; the next writes then reuse the log's own space.
    fn copy_log(&self) {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let copied = Connection::open_with_flags(&self.database, flags)
            .and_then(|connection| connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())));
        if let Err(error) = copied {
            tracing::warn!(%error, "the write-ahead log of the database could not be copied into it");
        }
    }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => write_zeros(file, bytes),
        allocated => Ok(allocated?),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    write_zeros(file, bytes)
}

fn write_zeros(mut file: &File, bytes: u64) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(0), bytes), &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_logged_once_until_over() {
        let (health, start) = (Health::of(None), Instant::now());
        let is_new = |trouble, minutes| health.is_new(trouble, start + Duration::from_mins(minutes));
        assert!(is_new(Trouble::Full, 0) && is_new(Trouble::Damaged, 0));
        assert!([5, 12, 21].iter().all(|minutes| !is_new(Trouble::Full, *minutes)), "it goes on");
        assert!(is_new(Trouble::Full, 32), "there was room in between");
    }
}
