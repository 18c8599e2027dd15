/// Why a check failed; of a response it holds only status and codes, never a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got}")]
pub struct CheckFailure {
    expected: String,
    got: String,
}

impl CheckFailure {
    /// A failure with the expected and the actual result.
    pub(crate) fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { expected: expected.into(), got: got.into() }
    }

    /// Returns the failure unless the expectation holds.
    pub(crate) fn ensure(holds: bool, expected: &str, got: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected, got())) }
    }
}
