use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use domain::ErrorCode;

/// The result of a call of the store.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A storage failure, named by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Throttled or unreachable after the SDK's retries: try later.
    #[error("storage busy")]
    Busy,
    /// The disk of the embedded database is full; acknowledged writes are kept.
    #[error("storage full")]
    Full,
    /// The file of the embedded database is damaged or gone: the operator has to act.
    #[error("storage damaged")]
    Damaged,
    /// A fault in the request or in a stored item; the text names the operation, never a value.
    #[error("storage fault: {0}")]
    Fault(String),
}

impl StoreError {
    /// The code under which clients see this failure.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Busy => ErrorCode::StorageBusy,
            Self::Full => ErrorCode::StorageFull,
            Self::Damaged => ErrorCode::StorageDamaged,
            Self::Fault(_) => ErrorCode::Internal,
        }
    }

    pub(crate) fn fault(text: impl Into<String>) -> Self {
        Self::Fault(text.into())
    }
}

/// A request that lacks a required part.
impl From<BuildError> for StoreError {
    fn from(_: BuildError) -> Self {
        Self::fault("a request that was not built")
    }
}

/// The error code with which the embedded database reports [`StoreError::Full`]; DynamoDB has no such code.
pub const STORAGE_FULL: &str = "StorageFullException";

/// The error code with which the embedded database reports [`StoreError::Damaged`]; DynamoDB has no such code.
pub const STORAGE_DAMAGED: &str = "StorageDamagedException";

/// The error codes that mean "retry later", in addition to every status of 500 and above.
const BUSY_CODES: [&str; 11] = [
    "InternalServerError",
    "LimitExceededException",
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "ReplicatedWriteConflictException",
    "RequestLimitExceeded",
    "ThrottlingError",
    "ThrottlingException",
    "TransactionConflict",
    "TransactionConflictException",
    "TransactionInProgressException",
];

/// Whether an error code, of a call or of one item of a transaction, means that a retry may succeed.
pub(crate) fn is_busy(code: &str) -> bool {
    BUSY_CODES.contains(&code)
}

/// Classifies a failed call. Keeps the operation and the error code, and drops the service's message, which may quote
/// values.
pub(crate) fn classify<E: ProvideErrorMetadata>(operation: &str, error: &SdkError<E, HttpResponse>) -> StoreError {
    match error {
        SdkError::DispatchFailure(failure) if failure.is_user() => StoreError::fault(format!("{operation}: not sent")),
        SdkError::DispatchFailure(_) | SdkError::TimeoutError(_) => StoreError::Busy,
        SdkError::ResponseError(answer) => classify_response(operation, answer.raw().status().as_u16(), None),
        SdkError::ServiceError(answer) => {
            classify_response(operation, answer.raw().status().as_u16(), answer.err().code())
        }
        _ => StoreError::fault(format!("{operation}: not built")),
    }
}

fn classify_response(operation: &str, status: u16, code: Option<&str>) -> StoreError {
    match code {
        Some(STORAGE_FULL) => StoreError::Full,
        Some(STORAGE_DAMAGED) => StoreError::Damaged,
        _ if status >= 500 || code.is_some_and(is_busy) => StoreError::Busy,
        _ => StoreError::fault(format!("{operation}: {}", code.unwrap_or("unreadable answer"))),
    }
}
