//! Disk space that only deletions may use, so that users of a full disk can free some.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::file;
use crate::private_files;

/// File name of the reserve, in the data folder.
const RESERVE_FILE: &str = "reserve-for-deletions";

/// Size of the reserve. SQLite copies its write-ahead log into the main file at every 1,000 pages of 4 KiB, and fails to
/// do so on a full disk: until the disk is full, the log is at most two times that.
const RESERVE_BYTES: u64 = 8 * 1024 * 1024;

/// The smallest reserve. The log keeps its space when it was copied, so a later deletion needs less.
const MIN_RESERVE_BYTES: u64 = 1024 * 1024;

/// The reserve of a database file; without space for the smallest one there is none.
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
