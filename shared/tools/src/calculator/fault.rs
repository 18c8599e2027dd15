/// Why there is no value; the texts are for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not an expression.
    Unreadable(String),
    /// The expression has no value.
    Undefined(String),
    /// The value takes too long to compute.
    TooLarge,
}

impl Fault {
    pub(super) fn unreadable(reason: &str) -> Self {
        Self::Unreadable(reason.to_owned())
    }

    pub(super) fn division_by_zero() -> Self {
        Self::Undefined("除数为零，没有结果".to_owned())
    }

    /// An argument is outside the domain of its function.
    pub(super) fn outside(reason: &str) -> Self {
        Self::Undefined(format!("超出了定义域（{reason}）"))
    }

    /// The precision of an approximate number does not suffice.
    pub(super) fn unprovable() -> Self {
        Self::Undefined("精度不够，得不到可靠的结果".to_owned())
    }
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}
