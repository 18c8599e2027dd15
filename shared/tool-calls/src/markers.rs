//! Every marker of every format, as a prefix tree.
//!
//! No marker is a prefix of another, so the first match is the only one.

use std::sync::LazyLock;

use crate::formats;
use crate::marker_role::Role;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match<T> {
    /// A match and its length, in bytes.
    Full(T, usize),
    None,
    /// More text is needed to decide.
    Partial,
}

impl<T> Match<T> {
    pub(crate) fn literal(text: &str, wanted: &str, found: T) -> Self {
        match (text.starts_with(wanted), wanted.starts_with(text)) {
            (true, _) => Self::Full(found, wanted.len()),
            (false, true) => Self::Partial,
            (false, false) => Self::None,
        }
    }

    /// Continues from what matched and its length.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T, usize) -> Match<U>) -> Match<U> {
        match self {
            Self::Full(found, length) => next(found, length),
            Self::None => Match::None,
            Self::Partial => Match::Partial,
        }
    }

    pub(crate) fn full(self) -> Option<(T, usize)> {
        if let Self::Full(found, length) = self { Some((found, length)) } else { None }
    }

    /// Matches something else where this does not match.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_found() { self } else { other() }
    }

    /// No match instead of a partial one if the text has ended.
    pub(crate) fn unless_cut(self, ended: bool) -> Self {
        if ended && matches!(self, Self::Partial) { Self::None } else { self }
    }

    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Match<U> {
        self.and_then(|found, length| Match::Full(convert(found), length))
    }

    pub(crate) fn is_found(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// The same match after so many bytes that were matched before it.
    pub(crate) fn after(self, length: usize) -> Self {
        self.and_then(|found, more| Self::Full(found, length + more))
    }
}

/// Maximum number of blanks before the `>` of a tag.
const MAX_TAG_BLANKS: usize = 8;

/// Maximum length of a suffix that models of one family add to their tags, in bytes.
const MAX_SUFFIX_BYTES: usize = 24;

/// Texts as a prefix tree of bytes; those that begin with `<` in lower case.
pub(crate) struct MarkerTree<R = Role> {
    nodes: Vec<Node<R>>,
    /// For nodes with many children, the child of each byte.
    tables: Vec<[u16; 256]>,
    /// Maximum lengths of what precedes the `>` of a tag: a suffix, and blanks.
    max_tag_end: [usize; 2],
}

/// A node and its links, which are positions in the list of nodes, 0 for none.
struct Node<R> {
    /// The bytes between its parent and its children, and the first of them.
    label: Box<[u8]>,
    first_byte: u8,
    first_child: u16,
    next_sibling: u16,
    /// The position of its table after the first one, 0 for none: twenty markers differ in the byte after `<`.
    table: u16,
    /// The roles of the markers below.
    roles: u32,
    role: Option<R>,
}

/// The number of children from which a node has a table.
const MANY_CHILDREN: usize = 4;

static MARKERS: LazyLock<MarkerTree> = LazyLock::new(|| MarkerTree::build(formats::markers(), |role| 1 << role as u32));

#[derive(Clone, Copy)]
pub(crate) struct Markers {
    roles: u32,
}

/// Markers with which a call may begin.
pub(crate) const OPENERS: Markers = Markers::of(&[
    Role::Wrapper,
    Role::WrapperOrSeparator,
    Role::WrapperWithAttributes,
    Role::Function,
    Role::FunctionWithAttributes,
]);
/// Markers with which a call may end.
pub(crate) const CLOSERS: Markers = Markers::of(&[Role::Close, Role::TurnEnd, Role::FunctionEnd]);
/// Markers that count in prose: those with which a call may begin, or a call or the model's turn ends.
pub(crate) const IN_PROSE: Markers = OPENERS.and(CLOSERS);
/// Markers between a name and its arguments.
pub(crate) const SEPARATORS: Markers = Markers::of(&[Role::Separator, Role::WrapperOrSeparator, Role::CallId]);
pub(crate) const VALUES: Markers = Markers::of(&[Role::Value]);
pub(crate) const PARAMETERS: Markers = Markers::of(&[
    Role::Parameter,
    Role::ParameterWithAttributes,
    Role::Key,
    Role::KeyEnd,
    Role::ParameterEnd,
    Role::FunctionEnd,
]);

impl Markers {
    const fn of(roles: &[Role]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < roles.len() {
            bits |= 1 << roles[at] as u32;
            at += 1;
        }
        Self { roles: bits }
    }

    pub(crate) fn contains(self, role: Role) -> bool {
        self.roles & 1 << role as u32 > 0
    }

    const fn and(self, others: Self) -> Self {
        Self { roles: self.roles | others.roles }
    }

    /// Matches a marker at the beginning of the text; see [`MarkerTree::match_roles`].
    pub(crate) fn match_prefix(self, text: &str) -> Match<Role> {
        MARKERS.match_roles(text, self.roles)
    }

    /// Finds the first marker at or after `from`: its position, role and end. Without one the error is the position at
    /// which to resume when more text arrives.
    pub(crate) fn find(self, text: &str, from: usize) -> Result<(usize, Role, usize), usize> {
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

impl<R: Copy> MarkerTree<R> {
    /// Creates the tree of these texts, whose roles are bits; none may be a prefix of another.
    pub(crate) fn build(rows: Vec<(String, R)>, bit: fn(R) -> u32) -> Self {
        let (mut texts, roles): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        texts.iter_mut().filter(|text| text.starts_with('<')).for_each(|text| text.make_ascii_lowercase());
        let mut texts: Vec<_> = texts.into_iter().enumerate().map(|(at, text)| (text, at)).collect();
        texts.sort_unstable();
        let rows: Vec<_> = texts.into_iter().map(|(text, at)| (text, roles[at], bit(roles[at]))).collect();
        let max_tag_end = [MAX_SUFFIX_BYTES, MAX_TAG_BLANKS];
        let mut tree = Self { nodes: Vec::new(), tables: vec![[0; 256]], max_tag_end };
        tree.add_node(&rows, 0, 0);
        tree
    }

    /// Other limits of what precedes the `>` of a tag: a suffix, and blanks.
    pub(crate) fn with_max_tag_end(self, max_tag_end: [usize; 2]) -> Self {
        Self { max_tag_end, ..self }
    }

    /// Adds a node for sorted rows that are the same before `from`, and everything below it; returns its position.
    fn add_node(&mut self, rows: &[(String, R, u32)], from: usize, next_sibling: u16) -> u16 {
        let (Some((first, role, _)), Some((last, ..))) = (rows.first(), rows.last()) else { return 0 };
        let same = first.bytes().zip(last.bytes()).take_while(|(left, right)| left == right).count();
        // The root has no label, so that its children are found like those of any other node.
        let end = if from == 0 && self.nodes.is_empty() { 0 } else { same };
        let position = self.nodes.len();
        self.nodes.push(Node {
            label: first.as_bytes()[from..end].into(),
            first_byte: first.as_bytes()[from],
            first_child: 0,
            next_sibling,
            table: 0,
            roles: rows.iter().fold(0, |roles, (.., bit)| roles | bit),
            role: (end == first.len()).then_some(*role),
        });
        if end < first.len() {
            self.add_children(position, rows, end);
        }
        u16::try_from(position).unwrap_or_default()
    }

    fn add_children(&mut self, node: usize, rows: &[(String, R, u32)], end: usize) {
        let (mut table, mut child, mut count) = ([0; 256], 0, 0);
        for group in rows.chunk_by(|left, right| left.0.as_bytes()[end] == right.0.as_bytes()[end]) {
            child = self.add_node(group, end, child);
            table[usize::from(group[0].0.as_bytes()[end])] = child;
            count += 1;
        }
        self.nodes[node].first_child = child;
        if count >= MANY_CHILDREN {
            self.nodes[node].table = u16::try_from(self.tables.len()).unwrap_or_default();
            self.tables.push(table);
        }
    }

    fn child(&self, node: &Node<R>, byte: u8) -> Option<&Node<R>> {
        let mut next = node.first_child;
        if node.table > 0 {
            next = self.tables[usize::from(node.table)][usize::from(byte)];
        }
        while next > 0 {
            let child = &self.nodes[usize::from(next)];
            if child.first_byte == byte {
                return Some(child);
            }
            next = child.next_sibling;
        }
        None
    }

    /// Matches a text of these roles at the beginning of the text. Tags match in any case, and with blanks or a suffix before
    /// their `>`.
    pub(crate) fn match_roles(&self, text: &str, roles: u32) -> Match<R> {
        let bytes = text.as_bytes();
        let is_tag = bytes.first() == Some(&b'<');
        let (mut node, mut at) = (&self.nodes[0], 0);
        while let Some(byte) = bytes.get(at) {
            let byte = if is_tag { byte.to_ascii_lowercase() } else { *byte };
            let Some(child) = self.child(node, byte) else {
                let end = if is_tag { self.child(node, b'>') } else { None };
                return end.map_or(Match::None, |end| self.match_tag_end(end, 0, roles, bytes, at));
            };
            if child.roles & roles == 0 {
                return Match::None;
            }
            let is_written_so = child.label.len() == 1 || bytes[at..].starts_with(&child.label);
            for (position, expected) in child.label.iter().enumerate().skip(if is_written_so { usize::MAX } else { 1 })
            {
                let Some(byte) = bytes.get(at + position) else { return Match::Partial };
                let byte = if is_tag { byte.to_ascii_lowercase() } else { *byte };
                if byte != *expected {
                    let may_end = is_tag && *expected == b'>';
                    return if may_end {
                        self.match_tag_end(child, position, roles, bytes, at + position)
                    } else {
                        Match::None
                    };
                }
            }
            at += child.label.len();
            if let Some(role) = child.role {
                return Match::Full(role, at);
            }
            node = child;
        }
        Match::Partial
    }

    /// Matches the end of a tag of which only the `>` is missing, which is the node's label from `from` on: a suffix as in
    /// `<tool_call:6124c78e>`, and blanks.
    fn match_tag_end(&self, node: &Node<R>, from: usize, roles: u32, bytes: &[u8], at: usize) -> Match<R> {
        let Some(role) = node.role.filter(|_| node.roles & roles > 0 && node.label[from..] == *b">") else {
            return Match::None;
        };
        let ([max_suffix, max_blanks], rest) = (self.max_tag_end, &bytes[at..]);
        let has_suffix = rest.first() == Some(&b':');
        let is_suffix = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let suffix = rest.iter().skip(1).take_while(|byte| has_suffix && is_suffix(**byte)).count();
        let suffix = usize::from(has_suffix) + suffix;
        let blanks = rest.iter().skip(suffix).take_while(|byte| byte.is_ascii_whitespace()).count();
        match rest.get(suffix + blanks) {
            _ if suffix > max_suffix || blanks > max_blanks => Match::None,
            Some(b'>') => Match::Full(role, at + suffix + blanks + 1),
            Some(_) => Match::None,
            None => Match::Partial,
        }
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
