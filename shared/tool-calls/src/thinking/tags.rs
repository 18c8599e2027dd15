use std::sync::LazyLock;

use crate::markers::{MarkerTree, Match};

const ELEMENTS: [&str; 9] = [
    "think",
    "thinking",
    "seed:think",
    "mm:think",
    "longcat_think",
    "ifm|think",
    "ifm|think_fast",
    "ifm|think_faster",
    INNER,
];
/// The element that is nested in another one.
const INNER: &str = "seed:cot_budget_reflect";
/// An element of Doubao models, continued by digits that differ between models.
const NUMBERED: &str = "think_never_used_";
/// Maximum length of the number after [`NUMBERED`], of a suffix, which may be a UUID, and of blanks before `>`, in bytes.
const MAX_NUMBER_BYTES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThinkingTag {
    pub(super) opens: bool,
    pub(super) inner: bool,
    pub(super) numbered: bool,
}

static TREE: LazyLock<MarkerTree<ThinkingTag>> = LazyLock::new(|| {
    let rows = ["<", "</"].into_iter().flat_map(|begin| {
        let row = move |name: &str, end, numbered| {
            (format!("{begin}{name}{end}"), ThinkingTag { opens: begin == "<", inner: name == INNER, numbered })
        };
        ELEMENTS.into_iter().map(move |name| row(name, ">", false)).chain([row(NUMBERED, "", true)])
    });
    MarkerTree::build(rows.collect(), |_| 1).with_max_tag_end([MAX_NUMBER_BYTES; 2])
});

/// Matches a tag at the beginning of a text: in any case, with blanks or a suffix before its `>`, as in `<think:6124c78e>`.
pub(super) fn match_tag(text: &str) -> Match<ThinkingTag> {
    TREE.match_roles(text, 1).and_then(|tag, length| {
        let number = &text[length..];
        let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
        match number[digits..].chars().next() {
            _ if !tag.numbered => Match::Full(tag, length),
            Some('>') if digits <= MAX_NUMBER_BYTES => Match::Full(tag, length + digits + 1),
            None if digits <= MAX_NUMBER_BYTES => Match::Partial,
            _ => Match::None,
        }
    })
}
