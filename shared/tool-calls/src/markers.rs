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

/// Maximum number of blanks before the `>` of a tag.
const MAX_TAG_BLANKS: usize = 8;

/// Markers as a prefix tree of bytes; those that begin with `<` in lower case.
#[derive(Default)]
pub(crate) struct MarkerTree {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    next: Vec<(u8, usize)>,
    role: Option<Role>,
}

/// Markers with which a call may begin.
pub(crate) static OPENERS: LazyLock<MarkerTree> = LazyLock::new(|| MarkerTree::build(Role::opens));
/// Markers with which a call may end.
pub(crate) static CLOSERS: LazyLock<MarkerTree> =
    LazyLock::new(|| MarkerTree::build(|role| matches!(role, Role::Close | Role::FunctionEnd)));
/// Markers between a name and its arguments.
pub(crate) static SEPARATORS: LazyLock<MarkerTree> =
    LazyLock::new(|| MarkerTree::build(|role| matches!(role, Role::Separator | Role::CallId)));
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
        let mut tree = Self { nodes: vec![Node::default()] };
        for (text, role) in formats::markers().into_iter().filter(|(_, role)| wanted(*role)) {
            tree.insert(&text, role);
        }
        tree
    }

    fn insert(&mut self, text: &str, role: Role) {
        let mut node = 0;
        let text = if text.starts_with('<') { text.to_ascii_lowercase() } else { text.to_owned() };
        for byte in text.bytes() {
            node = self.child(node, byte).unwrap_or_else(|| {
                self.nodes.push(Node::default());
                let child = self.nodes.len() - 1;
                self.nodes[node].next.push((byte, child));
                child
            });
        }
        self.nodes[node].role = Some(role);
    }

    fn child(&self, node: usize, byte: u8) -> Option<usize> {
        self.nodes[node].next.iter().find(|(key, _)| *key == byte).map(|(_, child)| *child)
    }

    /// Matches a marker at the beginning of the text. Tags match in any case, and with blanks before their `>`.
    pub(crate) fn match_prefix(&self, text: &str) -> Match<Role> {
        let is_tag = text.starts_with('<');
        let (mut node, mut blanks) = (0, 0);
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let byte = if is_tag { byte.to_ascii_lowercase() } else { byte };
            match self.child(node, byte).filter(|_| blanks == 0 || byte == b'>') {
                Some(child) => node = child,
                None if is_tag && blanks < MAX_TAG_BLANKS && self.is_blank_before_end(node, byte) => blanks += 1,
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

    /// Finds the first marker at or after `from`: its position, role and end. Without one the error is the position at
    /// which to resume when more text arrives.
    pub(crate) fn find(&self, text: &str, from: usize) -> Result<(usize, Role, usize), usize> {
        let mut at = from;
        while let Some(found) = text[at..].find(['<', '[']) {
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
        for other in ["</tool_call x>", "</tool_call          >", "[tool_calls]", "< tool_call>"] {
            assert_eq!(
                (OPENERS.match_prefix(other), CLOSERS.match_prefix(other)),
                (Match::None, Match::None),
                "{other}"
            );
        }
    }
}
