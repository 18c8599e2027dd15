//! Watches the database file while it is open, and logs its problems.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dynoxide::Database;

use super::answer::Answer;
use super::file::{self, Identity};
use super::reserve::Reserve;
use super::trouble::Trouble;
use crate::private_files;

/// A problem that did not occur for this long counts as over; it is logged again the next time.
const RELOG_AFTER: Duration = Duration::from_mins(10);

/// Health of the database file: detects its removal, and logs each problem once.
pub(super) struct Health {
    /// `None` for a database in memory.
    file: Option<(PathBuf, Option<Identity>)>,
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
        private_files::create(&rescued).ok()?;
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
                "the disk of the database is full: nothing is stored until space is free, but users can delete; what was \
                 acknowledged is kept, and the server continues by itself once some is freed"
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
    fn each_problem_is_logged_once_until_over() {
        let (health, start) = (Health::of(None), Instant::now());
        let is_new = |trouble, minutes| health.is_new(trouble, start + Duration::from_mins(minutes));
        assert!(is_new(Trouble::Full, 0) && is_new(Trouble::Damaged, 0));
        assert!([5, 12, 21].iter().all(|minutes| !is_new(Trouble::Full, *minutes)), "it goes on");
        assert!(is_new(Trouble::Full, 32), "there was room in between");
    }
}
