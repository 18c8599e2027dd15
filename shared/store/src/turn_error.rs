//! Failures of the store as failures of a turn.

use domain::{ErrorCode, Failure, TurnError};

use crate::{BeginError, DefineError, KeyError, ReadError, StoreError};

/// The embedded database itself logs, once, that its disk is full or its file is damaged: those have no cause here.
impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        let code = error.code();
        match error {
            StoreError::Full | StoreError::Damaged => code.into(),
            StoreError::Busy | StoreError::Fault(_) => Self::caused_by(code, error),
        }
    }
}

impl From<ReadError> for TurnError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotFound => ErrorCode::NotFound.into(),
            ReadError::BadCursor => {
                Self::new(ErrorCode::InvalidRequest, "`cursor` must be a `nextCursor` that this list gave")
            }
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<BeginError> for TurnError {
    fn from(error: BeginError) -> Self {
        match error {
            BeginError::NotFound => ErrorCode::NotFound.into(),
            BeginError::NothingToRegenerate => {
                Self::new(ErrorCode::InvalidRequest, "There is no message yet that could be answered again")
            }
            BeginError::Unsuitable(message) => Self::new(ErrorCode::InvalidRequest, message),
            BeginError::NotTemporary => {
                Self::new(ErrorCode::InvalidRequest, "`temporary` is for a new conversation: this one is kept")
            }
            BeginError::InProgress { retry_after } => {
                Failure::from(ErrorCode::TurnInProgress).with_retry_after(retry_after.as_secs() + 1).into()
            }
            BeginError::KeyInUse => ErrorCode::TurnInProgress.into(),
            BeginError::Store(error) => error.into(),
        }
    }
}

impl From<DefineError> for TurnError {
    fn from(error: DefineError) -> Self {
        match error {
            DefineError::NotFound => ErrorCode::NotFound.into(),
            DefineError::Taken => Self::new(ErrorCode::InvalidRequest, "`name` or `id` is taken by another one"),
            DefineError::Store(error) => error.into(),
        }
    }
}

impl From<KeyError> for TurnError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::LastAdministrator => Self::new(
                ErrorCode::InvalidRequest,
                "This is the last administrator key without an expiry; create one for another user first",
            ),
            KeyError::Store(error) => error.into(),
        }
    }
}
