/// How much a result may contain for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultBudget {
    /// Maximum length of the text, in bytes; the session truncates what is longer.
    pub max_bytes: usize,
    /// Maximum number of entries of a list, such as search results.
    pub max_entries: usize,
}

impl ResultBudget {
    /// Maximum length in any case, in bytes.
    pub const MAX_BYTES: usize = 256 * 1024;
}

impl Default for ResultBudget {
    fn default() -> Self {
        Self { max_bytes: Self::MAX_BYTES, max_entries: usize::MAX }
    }
}
