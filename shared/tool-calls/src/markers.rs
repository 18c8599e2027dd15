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

/// Markers as a prefix tree of bytes.
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
        for &byte in text.as_bytes() {
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

    /// Matches a marker at the beginning of the text.
    pub(crate) fn match_prefix(&self, text: &str) -> Match<Role> {
        let mut node = 0;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            match self.child(node, byte) {
                Some(child) => node = child,
                None => return Match::None,
            }
            if let Some(role) = self.nodes[node].role {
                return Match::Full(role, at + 1);
            }
        }
        Match::Partial
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
    use super::{Match, OPENERS};
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
}
