use crate::Source;

/// The numbered pages of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedSources {
    /// The pages that are remembered, oldest first.
    pub sources: Vec<Source>,
    /// The highest number that was given to a page; 0 if none was.
    pub last: usize,
}
