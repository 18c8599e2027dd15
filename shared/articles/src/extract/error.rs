/// The maximum number of elements, texts and attributes of a page.
pub(super) const MAX_NODES: usize = 200_000;

/// The maximum number of elements that are open at the same time.
pub(super) const MAX_DEPTH: usize = 1_000;

/// The maximum number of attributes of a tag.
pub(super) const MAX_ATTRIBUTES: usize = 256;

/// The maximum number of headings of a document.
pub(super) const MAX_HEADINGS: usize = 20_000;

/// Why a document is not read: the bound that it exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Too many elements, texts and attributes.
    #[error("it has more than {MAX_NODES} elements, texts and attributes")]
    TooManyNodes,
    /// Too many elements are open at the same time.
    #[error("its elements are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// Too many tags are inside many others.
    #[error("too many of its tags are deeply nested")]
    TooNested,
    /// A tag has too many attributes.
    #[error("one of its tags has more than {MAX_ATTRIBUTES} attributes")]
    TooManyAttributes,
    /// Too many headings.
    #[error("it has more than {MAX_HEADINGS} headings")]
    TooManyHeadings,
}
