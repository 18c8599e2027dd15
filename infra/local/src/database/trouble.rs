//! Problems of the database file, recognised in errors of the database.

use dynoxide::DynoxideError;
use rusqlite::ErrorCode;

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
