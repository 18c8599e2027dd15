//! Problems of the database file, recognised in errors of the database.

use dynoxide::DynoxideError;
use rusqlite::ErrorCode;

/// Problem of the database file; its text is the log message for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub(super) enum Trouble {
    /// Its disk is full.
    #[error(
        "the disk of the database is full: nothing is stored until space is free, but users can delete; what was \
         acknowledged is kept, and the server continues by itself once some is freed"
    )]
    Full,
    /// Its content is corrupt.
    #[error(
        "the database file is damaged: stop the server, keep a copy of the folder, and restore a backup into a \
         new folder (`lambda-chat restore FILE --data DIR`); without one, `sqlite3 FILE .recover` reads what is left"
    )]
    Damaged,
    /// The system fails to read or write it.
    #[error(
        "the system refuses to read or write the database file: look at the disk, and at the permissions of the folder"
    )]
    Disk,
    /// Its name refers to another file, or to none.
    #[error(
        "the database file was removed or replaced while the server used it: nothing is stored any more; what it \
         held was saved to the file named here; stop the server, put that file in its place, and start again"
    )]
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
}
