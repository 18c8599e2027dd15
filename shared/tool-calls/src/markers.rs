//! Every marker of every format, as a prefix tree.
//!
//! No marker is a prefix of another, so the first match is the only one.

use std::sync::LazyLock;

use crate::formats;
use crate::marker_role::Role;

/// The result of matching the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match<T> {
    /// A match and its length, in bytes.
    Full(T, usize),
    /// No match.
    None,
    /// More text is needed to decide.
    Partial,
}

impl<T> Match<T> {
    /// Converts what matched.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Match<U> {
        match self {
            Self::Full(found, length) => Match::Full(convert(found), length),
            Self::None => Match::None,
            Self::Partial => Match::Partial,
        }
    }
}

/// Maximum number of blanks before the `>` of a tag.
const MAX_TAG_BLANKS: usize = 8;

/// Maximum length of a suffix that models of one family add to their tags, in bytes.
const MAX_SUFFIX_BYTES: usize = 24;

/// Markers as a prefix tree of bytes; those that begin with `<` in lower case.
pub(crate) struct MarkerTree<R = Role> {
    nodes: Vec<Node<R>>,
}

struct Node<R> {
    next: Vec<(u8, usize)>,
    /// The child of each byte, 0 for none, if there are many: twenty markers differ in the byte after `<`.
    table: Option<Box<[u16; 256]>>,
    role: Option<R>,
}

/// The number of children from which a node has a table.
const MANY_CHILDREN: usize = 6;

impl<R> Node<R> {
    fn new() -> Self {
        Self { next: Vec::new(), table: None, role: None }
    }

    fn add_table(&mut self) {
        let mut table = [0; 256];
        for &(byte, child) in &self.next {
            table[usize::from(byte)] = u16::try_from(child).unwrap_or_default();
        }
        self.table = Some(Box::new(table));
    }
}

/// Markers with which a call may begin.
pub(crate) static OPENERS: LazyLock<MarkerTree> = LazyLock::new(|| MarkerTree::build(Role::opens));
/// Markers with which a call may end.
pub(crate) static CLOSERS: LazyLock<MarkerTree> =
    LazyLock::new(|| MarkerTree::build(|role| matches!(role, Role::Close | Role::TurnEnd | Role::FunctionEnd)));
/// Markers with which the model's turn ends.
pub(crate) static TURN_ENDS: LazyLock<MarkerTree> = LazyLock::new(|| MarkerTree::build(|role| role == Role::TurnEnd));
/// Markers between a name and its arguments.
pub(crate) static SEPARATORS: LazyLock<MarkerTree> = LazyLock::new(|| {
    MarkerTree::build(|role| matches!(role, Role::Separator | Role::WrapperOrSeparator | Role::CallId))
});
/// Markers between the name of a parameter and its value.
pub(crate) static VALUES: LazyLock<MarkerTree> = LazyLock::new(|| MarkerTree::build(|role| role == Role::Value));
/// Markers that structure a function's parameters.
pub(crate) static PARAMETERS: LazyLock<MarkerTree> = LazyLock::new(|| {
    MarkerTree::build(|role| {
        matches!(
            role,
            Role::Parameter
                | Role::ParameterWithAttributes
                | Role::Key
                | Role::KeyEnd
                | Role::ParameterEnd
                | Role::FunctionEnd
        )
    })
});

impl MarkerTree {
    fn build(wanted: impl Fn(Role) -> bool) -> Self {
        Self::from_rows(formats::markers().into_iter().filter(|(_, role)| wanted(*role)))
    }
}

impl<R: Copy> MarkerTree<R> {
    /// Creates the tree of these markers; none may be a prefix of another.
    pub(crate) fn from_rows(rows: impl Iterator<Item = (impl AsRef<str>, R)>) -> Self {
        let mut tree = Self { nodes: vec![Node::new()] };
        for (text, role) in rows {
            tree.insert(text.as_ref(), role);
        }
        tree.nodes.iter_mut().filter(|node| node.next.len() >= MANY_CHILDREN).for_each(Node::add_table);
        tree
    }

    fn insert(&mut self, text: &str, role: R) {
        let mut node = 0;
        let text = if text.starts_with('<') { text.to_ascii_lowercase() } else { text.to_owned() };
        for byte in text.bytes() {
            node = self.child(node, byte).unwrap_or_else(|| {
                self.nodes.push(Node::new());
                let child = self.nodes.len() - 1;
                self.nodes[node].next.push((byte, child));
                child
            });
        }
        self.nodes[node].role = Some(role);
    }

    fn child(&self, node: usize, byte: u8) -> Option<usize> {
        let Node { next, table, .. } = &self.nodes[node];
        match table {
            Some(table) => Some(usize::from(table[usize::from(byte)])).filter(|child| *child > 0),
            None => next.iter().find(|(key, _)| *key == byte).map(|(_, child)| *child),
        }
    }

    /// Matches a marker at the beginning of the text. Tags match in any case, and with blanks or a
    /// suffix before their `>`.
    pub(crate) fn match_prefix(&self, text: &str) -> Match<R> {
        let is_tag = text.starts_with('<');
        let (mut node, mut blanks, mut suffix) = (0, 0, 0);
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let byte = if is_tag { byte.to_ascii_lowercase() } else { byte };
            match self.child(node, byte).filter(|_| blanks + suffix == 0 || byte == b'>') {
                Some(child) => node = child,
                None if is_tag && blanks < MAX_TAG_BLANKS && self.is_blank_before_end(node, byte) => blanks += 1,
                None if is_tag && blanks == 0 && suffix < MAX_SUFFIX_BYTES && self.is_in_suffix(node, byte, suffix) => {
                    suffix += 1;
                }
                None => return Match::None,
            }
            if let Some(role) = self.nodes[node].role {
                return Match::Full(role, at + 1);
            }
        }
        Match::Partial
    }

    /// Whether the byte is a blank where only the `>` of a tag is missing.
    fn is_blank_before_end(&self, node: usize, byte: u8) -> bool {
        byte.is_ascii_whitespace() && self.child(node, b'>').is_some()
    }

    /// Whether the byte continues a suffix where only the `>` of a tag is missing: `<tool_call:6124c78e>`.
    fn is_in_suffix(&self, node: usize, byte: u8, length: usize) -> bool {
        let fits = if length == 0 { byte == b':' } else { byte.is_ascii_alphanumeric() };
        fits && self.child(node, b'>').is_some()
    }

    /// Finds the first marker at or after `from`: its position, role and end. Without one the error is the position at
    /// which to resume when more text arrives.
    pub(crate) fn find(&self, text: &str, from: usize) -> Result<(usize, R, usize), usize> {
        let mut at = from;
        while let Some(found) = text.as_bytes()[at..].iter().position(|byte| matches!(byte, b'<' | b'[' | b']')) {
            at += found;
            match self.match_prefix(&text[at..]) {
                Match::Full(role, length) => return Ok((at, role, at + length)),
                Match::Partial => return Err(at),
                Match::None => at += 1,
            }
        }
        Err(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{CLOSERS, Match, OPENERS};
    use crate::formats;
    use crate::marker_role::Role;

    #[test]
    fn no_marker_is_a_prefix_of_another() {
        let markers = formats::markers();
        for (at, (marker, _)) in markers.iter().enumerate() {
            let others = markers.iter().enumerate().filter(|(other, _)| *other != at);
            let prefixed: Vec<_> = others.filter(|(_, (other, _))| other.starts_with(marker.as_str())).collect();
            assert!(prefixed.is_empty(), "{marker} {prefixed:?}");
        }
    }

    #[test]
    fn non_marker_is_detected_at_first_differing_byte() {
        assert_eq!(OPENERS.match_prefix("<tool_call>{"), Match::Full(Role::Wrapper, 11));
        assert_eq!(OPENERS.match_prefix("<tool_c"), Match::Partial);
        assert_eq!(OPENERS.match_prefix("<tool_cat"), Match::None);
        assert_eq!(OPENERS.match_prefix("<b"), Match::None);
    }

    #[test]
    fn tags_match_in_any_case_and_with_blanks() {
        assert_eq!(OPENERS.match_prefix("<TOOL_Call>{"), Match::Full(Role::Wrapper, 11));
        assert_eq!(OPENERS.match_prefix("<toolcall \n>{"), Match::Full(Role::Wrapper, 12));
        assert_eq!(CLOSERS.match_prefix("</tool_call  >x"), Match::Full(Role::Close, 14));
        assert_eq!(CLOSERS.match_prefix("</tool_call "), Match::Partial);
        assert_eq!(OPENERS.match_prefix("<tool_call:opensource>x"), Match::Full(Role::Wrapper, 22));
        assert_eq!(OPENERS.match_prefix("<tool_call:61"), Match::Partial);
        for other in ["</tool_call x>", "<tool_call:a b>", "</tool_call          >", "[tool_calls]", "< tool_call>"] {
            assert_eq!(
                (OPENERS.match_prefix(other), CLOSERS.match_prefix(other)),
                (Match::None, Match::None),
                "{other}"
            );
        }
    }
}
