/// Why a synchronisation failed. The text has no key and no content of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SyncFault {
    /// S3 rejected a request; the code is the service's.
    #[error("S3 answered with status {status} {code}")]
    Rejected { status: u16, code: String },
    /// The connection failed, or an object ended before its length.
    #[error("S3 cannot be reached, or an answer broke off")]
    Connection,
    /// An answer that is not of the documented form.
    #[error("S3 answered with something else than the documented form")]
    Answer,
    /// An object was replaced between its listing and its reading.
    #[error("an object changed while it was copied")]
    Changed,
    /// More of these below the prefix than the limit.
    #[error("there are more than {1} {0} below the prefix")]
    TooMany(&'static str, u64),
    /// The local disk cannot be written.
    #[error("the local copy cannot be written: {0}")]
    Disk(std::io::ErrorKind),
}

impl SyncFault {
    /// Whether the same request may succeed at once.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Rejected { status, .. } => *status == 429 || *status >= 500,
            Self::Connection => true,
            _ => false,
        }
    }
}

impl From<std::io::Error> for SyncFault {
    fn from(error: std::io::Error) -> Self {
        Self::Disk(error.kind())
    }
}
