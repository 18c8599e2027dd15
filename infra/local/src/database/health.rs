//! Watches the database file while it is open, and logs its problems.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dynoxide::Database;

use super::answer::Answer;
use super::file;
use super::reserve::Reserve;
use super::trouble::Trouble;
use crate::private_files;

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
        let mut last_seen = self.last_seen.lock().unwrap_or_else(PoisonError::into_inner);
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
