/// What a check found wrong; of an answer it holds status and codes only, never a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got}")]
pub struct Fault {
    expected: String,
    got: String,
}

impl Fault {
    /// A fault out of what was expected and what came.
    pub(crate) fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { expected: expected.into(), got: got.into() }
    }

    /// Nothing if the expectation holds, else the fault.
    pub(crate) fn unless(holds: bool, expected: &str, got: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected, got())) }
    }
}
