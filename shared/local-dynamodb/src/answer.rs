use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::http::{HttpError, StatusCode};
use aws_smithy_types::body::SdkBody;
use dynoxide::DynoxideError;
use rusqlite::ErrorCode;
use serde_json::json;
use store::{STORAGE_DAMAGED, STORAGE_FULL};

#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) json: Vec<u8>,
    /// Set when the database file has a problem.
    pub(super) trouble: Option<Trouble>,
}

impl Answer {
    pub(super) fn new(status: u16, json: Vec<u8>) -> Self {
        Self { status, json, trouble: None }
    }

    /// A rejection with status 400; `code` is a name that the SDK reports, such as `ValidationException`.
    pub(super) fn rejection(code: &str, message: &str) -> Self {
        Self::failure(400, code, message)
    }

    /// A failure; the SDK retries a request that fails with status 500 or higher.
    pub(super) fn failure(status: u16, code: &str, message: &str) -> Self {
        let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message });
        Self::new(status, error.to_string().into_bytes())
    }

    /// Converts the answer for the SDK; an error if the status is invalid.
    pub(super) fn into_response(self) -> Result<HttpResponse, HttpError> {
        Ok(HttpResponse::new(StatusCode::try_from(self.status)?, SdkBody::from(self.json)))
    }
}

/// The answer to a failed request. The SDK retries only problems that may pass by themselves.
impl From<Trouble> for Answer {
    fn from(trouble: Trouble) -> Self {
        let refused = match trouble {
            Trouble::Full => Self::rejection(STORAGE_FULL, "No space is left for the database file."),
            Trouble::Damaged => Self::rejection(STORAGE_DAMAGED, "The database file is damaged."),
            Trouble::Gone => Self::rejection(STORAGE_DAMAGED, "The database file is not where it was."),
            Trouble::Disk => Self::failure(500, "InternalServerError", "The database file cannot be used now."),
        };
        Self { trouble: Some(trouble), ..refused }
    }
}

impl From<DynoxideError> for Answer {
    fn from(error: DynoxideError) -> Self {
        match Trouble::of(&error) {
            Some(trouble) => trouble.into(),
            None => Self::new(error.status_code(), error.to_json().into_bytes()),
        }
    }
}

/// Problem of the database file; its text is the log message for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub(super) enum Trouble {
    #[error(
        "the disk of the database is full: nothing is stored until space is free, but users can delete; what was \
         acknowledged is kept, and the server continues by itself once some is freed"
    )]
    Full,
    #[error(
        "the database file is damaged: stop the server, keep a copy of the folder, and restore a backup into a \
         new folder (`lambda-chat restore FILE --data DIR`); without one, `sqlite3 FILE .recover` reads what is left"
    )]
    Damaged,
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
