//! Problems of the database file, as reported to callers and the operator.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dynoxide::{Database, DynoxideError};
use rusqlite::ErrorCode;
use store::{STORAGE_DAMAGED, STORAGE_FULL};

use super::file::{self, Identity};
use super::operations::Answer;

/// A problem that did not occur for this long counts as over; it is logged again the next time.
const RELOG_AFTER: Duration = Duration::from_mins(10);

/// Problem of the database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trouble {
    /// Its disk is full.
    Full,
    /// Its content is corrupt.
    Damaged,
    /// The system fails to read or write it.
    Disk,
    /// Its name refers to another file, or to none.
    Gone,
}

impl Trouble {
    /// Returns the file problem that caused a database error, if any.
    ///
    /// SQLite's errors usually arrive as text only; the sentences are SQLite's own and have not changed since 2004.
    pub(super) fn of(error: &DynoxideError) -> Option<Self> {
        match error {
            DynoxideError::SqliteError(error) => error.sqlite_error_code().and_then(Self::of_code),
            DynoxideError::InternalServerError(text) => Self::of_text(text),
            _ => None,
        }
    }

    fn of_code(code: ErrorCode) -> Option<Self> {
        match code {
            ErrorCode::DiskFull => Some(Self::Full),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(Self::Damaged),
            ErrorCode::SystemIoFailure | ErrorCode::ReadOnly | ErrorCode::CannotOpen => Some(Self::Disk),
            _ => None,
        }
    }

    fn of_text(text: &str) -> Option<Self> {
        const SENTENCES: [(&str, Trouble); 7] = [
            ("database or disk is full", Trouble::Full),
            ("database disk image is malformed", Trouble::Damaged),
            ("file is not a database", Trouble::Damaged),
            ("not a valid database", Trouble::Damaged),
            ("I/O error", Trouble::Disk),
            ("attempt to write a readonly database", Trouble::Disk),
            ("unable to open database file", Trouble::Disk),
        ];
        SENTENCES.iter().find(|(sentence, _)| text.contains(sentence)).map(|(_, trouble)| *trouble)
    }

    /// Returns the answer to a failed request. The SDK retries only problems that may pass by themselves.
    pub(super) fn answer(self) -> Answer {
        let refused = match self {
            Self::Full => Answer::rejection(STORAGE_FULL, "No room is left for the database file."),
            Self::Damaged => Answer::rejection(STORAGE_DAMAGED, "The database file is damaged."),
            Self::Gone => Answer::rejection(STORAGE_DAMAGED, "The database file is not where it was."),
            Self::Disk => Answer::failure(500, "InternalServerError", "The database file cannot be used now."),
        };
        refused.because_of(self)
    }
}

/// Health of the database file: detects its removal, and logs each problem once.
pub(super) struct Health {
    /// `None` for a database in memory.
    file: Option<(PathBuf, Option<Identity>)>,
    /// Last time of each problem.
    last_seen: Mutex<HashMap<Trouble, Instant>>,
}

impl Health {
    /// Starts to watch the file, which must be open.
    pub(super) fn of(file: Option<&Path>) -> Self {
        let file = file.map(|file| (file.to_owned(), file::identity(file)));
        Self { file, last_seen: Mutex::default() }
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
        let mut last_seen = self.last_seen.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last_seen.insert(trouble, now);
        last.is_none_or(|last| now.duration_since(last) > RELOG_AFTER)
    }

    fn log(&self, trouble: Trouble, database: &Database) {
        let file = self.file.as_ref().map_or(Path::new("memory"), |(path, _)| path).display();
        match trouble {
            Trouble::Full | Trouble::Damaged | Trouble::Disk => tracing::error!(%file, "{}", Advice(trouble)),
            Trouble::Gone => {
                let saved = self.rescue(database).map(|path| path.display().to_string());
                let saved = saved.unwrap_or_else(|| "nowhere".to_owned());
                tracing::error!(%file, %saved, "{}", Advice(trouble));
            }
        }
    }

    /// Copies the content of the open file to a new one in the same folder.
    fn rescue(&self, database: &Database) -> Option<PathBuf> {
        let (path, _) = self.file.as_ref()?;
        let rescued = path.with_file_name(format!("rescued-{}.sqlite", domain::new_id()));
        file::create(&rescued).ok()?;
        database.vacuum_into(rescued.to_str()?).ok()?;
        Some(rescued)
    }
}

/// Log message for the operator.
struct Advice(Trouble);

impl Display for Advice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.0 {
            Trouble::Full => {
                "the disk of the database is full: nothing is stored until there is room; what was acknowledged is kept, \
                 and the server goes on by itself once some is freed"
            }
            Trouble::Damaged => {
                "the database file is damaged: stop the server, keep a copy of the folder, and restore a backup into a \
                 new folder (`lambda-chat restore FILE --data DIR`); without one, `sqlite3 FILE .recover` reads what is left"
            }
            Trouble::Disk => {
                "the system refuses to read or write the database file: look at the disk, and at the permissions of the folder"
            }
            Trouble::Gone => {
                "the database file was removed or replaced while the server used it: nothing is stored any more; what it \
                 held was saved to the file named here; stop the server, put that file in its place, and start again"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_errors_are_classified() {
        let of = |text: &str| Trouble::of(&DynoxideError::InternalServerError(text.to_owned()));
        assert_eq!(of("backend: database or disk is full"), Some(Trouble::Full));
        assert_eq!(of("backend: database disk image is malformed"), Some(Trouble::Damaged));
        assert_eq!(of("backend: I/O error: disk I/O error"), Some(Trouble::Disk));
        assert_eq!(of("Lock poisoned"), None);
        let full = rusqlite::ffi::Error { code: ErrorCode::DiskFull, extended_code: 13 };
        let full = DynoxideError::SqliteError(rusqlite::Error::SqliteFailure(full, None));
        assert_eq!(Trouble::of(&full), Some(Trouble::Full));
        assert_eq!(Trouble::of(&DynoxideError::ValidationException("disk is full".to_owned())), None);
    }

    #[test]
    fn each_problem_is_logged_once_until_over() {
        let (health, start) = (Health::of(None), Instant::now());
        let is_new = |trouble, minutes| health.is_new(trouble, start + Duration::from_mins(minutes));
        assert!(is_new(Trouble::Full, 0) && is_new(Trouble::Damaged, 0));
        assert!([5, 12, 21].iter().all(|minutes| !is_new(Trouble::Full, *minutes)), "it goes on");
        assert!(is_new(Trouble::Full, 32), "there was room in between");
    }
}
