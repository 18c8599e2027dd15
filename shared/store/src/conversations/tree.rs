//! Which message of a conversation follows which.
//!
//! Nearly every message follows the one with the seq before it. A tree therefore lists only the messages that do not, in a
//! few bytes each, so that the head of a conversation holds it and a branch is found without reading a message. A question
//! and an answer alternate within a segment: the segments of a tree also give the role of each message.

use std::fmt::Write as _;

use super::Role;
use super::seq_ranges::SeqRanges;

/// Maximum number of segments that are not deleted; no more than one is deleted between two of them. A head is written
/// several times in a turn, and pays for each kilobyte.
const MAX_SEGMENTS: usize = 500;

/// The messages of a conversation, by seq.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageTree {
    /// In the order of their seqs, without a gap from 1 on.
    segments: Vec<Segment>,
    last: u64,
}

/// Messages of which each follows the one before it, up to the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    start: u64,
    /// The parent and the role of the first message; `None` if the messages are deleted.
    origin: Option<(u64, Role)>,
}

/// The segment of a conversation whose messages are not deleted begins with a question.
const FIRST: Segment = Segment { start: 1, origin: Some((0, Role::User)) };

impl MessageTree {
    /// A tree without branches.
    pub(super) fn linear(last: u64) -> Self {
        Self { segments: vec![FIRST], last }
    }

    /// The tree of messages in the order of their seqs, each with its parent and its role; missing ones are deleted.
    pub(super) fn of(messages: impl IntoIterator<Item = (u64, u64, Role)>, last: u64) -> Self {
        let mut tree = Self::default();
        for (seq, parent, role) in messages {
            tree.delete_up_to(seq - 1);
            tree.push(parent, role);
        }
        tree.delete_up_to(last);
        tree
    }

    /// Parses the text form: the last seq, then each segment as its first seq, `.` (a question) or `:` (an answer) and the
    /// parent, or `-` if it is deleted. `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let mut tree = Self { segments: Vec::new(), last: parts.next()?.parse().ok()? };
        for part in parts {
            let (start, rest) = part.split_at_checked(part.find(['.', ':', '-'])?)?;
            let start = start.parse().ok()?;
            let role = if rest.starts_with('.') { Role::User } else { Role::Assistant };
            let origin = if rest == "-" { None } else { Some((rest[1..].parse().ok()?, role)) };
            let is_valid = origin.is_none_or(|(parent, _)| parent < start)
                && tree.segments.last().is_none_or(|before| before.start < start);
            tree.segments.push(Some(Segment { start, origin }).filter(|_| is_valid)?);
        }
        if tree.segments.first().is_none_or(|first| first.start > 1) {
            tree.segments.insert(0, FIRST);
        }
        Some(tree)
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = self.last.to_string();
        for Segment { start, origin } in self.segments.iter().filter(|segment| **segment != FIRST) {
            // Writing to a String cannot fail.
            let _ = match origin {
                None => write!(text, " {start}-"),
                Some((parent, Role::User)) => write!(text, " {start}.{parent}"),
                Some((parent, Role::Assistant)) => write!(text, " {start}:{parent}"),
            };
        }
        text
    }

    /// The last seq, also of a deleted message.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.segments.iter().filter(|segment| segment.origin.is_some()).count() > MAX_SEGMENTS
    }

    /// Adds a message after `parent`, 0 for a first one; returns its seq.
    pub(super) fn push(&mut self, parent: u64, role: Role) -> u64 {
        let follows = parent == self.last && self.role(parent).is_some_and(|before| before != role);
        self.last += 1;
        if !follows {
            self.segments.push(Segment { start: self.last, origin: Some((parent, role)) });
        }
        self.last
    }

    /// The role of a message; `None` if it does not exist.
    pub(super) fn role(&self, seq: u64) -> Option<Role> {
        let (Segment { start, .. }, (_, first)) = self.segment(seq)?;
        let is_question = (first == Role::User) == (seq - start).is_multiple_of(2);
        Some(if is_question { Role::User } else { Role::Assistant })
    }

    /// The message before a message; 0 for a first one, and for one that does not exist.
    pub(super) fn parent(&self, seq: u64) -> u64 {
        match self.segment(seq) {
            Some((segment, (parent, _))) if segment.start == seq => parent,
            Some(_) => seq - 1,
            None => 0,
        }
    }

    /// The messages with the same parent, itself included, in the order of their creation.
    pub(super) fn siblings(&self, seq: u64) -> Vec<u64> {
        let parent = self.parent(seq);
        let next = parent + 1;
        let is_start = self.segments.iter().any(|segment| segment.start == next);
        let direct = (!is_start && self.role(parent).is_some() && self.role(next).is_some()).then_some(next);
        let forks = self.segments.iter().filter(|one| one.origin.is_some_and(|(origin, _)| origin == parent));
        direct.into_iter().chain(forks.map(|fork| fork.start)).collect()
    }

    /// The messages from the first one to this one.
    pub(super) fn path(&self, leaf: u64) -> SeqRanges {
        let (mut ranges, mut seq) = (Vec::new(), leaf);
        while let Some((segment, (parent, _))) = self.segment(seq) {
            ranges.push((segment.start, seq));
            seq = parent;
        }
        ranges.reverse();
        SeqRanges(ranges)
    }

    /// All messages, on any branch.
    pub(super) fn all(&self) -> SeqRanges {
        let existing = self.segments.iter().enumerate().filter(|(_, segment)| segment.origin.is_some());
        SeqRanges(existing.map(|(index, segment)| (segment.start, self.end(index))).collect())
    }

    /// A message with all messages after it on any branch.
    pub(super) fn subtree(&self, root: u64) -> SeqRanges {
        let mut found = SeqRanges::default();
        for (index, Segment { start, origin }) in self.segments.iter().enumerate() {
            let (end, Some((parent, _))) = (self.end(index), origin) else { continue };
            if (*start..=end).contains(&root) {
                found.0.push((root, end));
            } else if found.contains(*parent) {
                found.0.push((*start, end));
            }
        }
        found
    }

    /// The newest message of those after a message on any branch, or the message itself.
    pub(super) fn newest_below(&self, root: u64) -> u64 {
        self.subtree(root).last().unwrap_or(root)
    }

    /// The end of the shown branch once a message with all after it is deleted: that of the previous sibling's branch, else
    /// of the next one's, else the parent.
    pub(super) fn leaf_without(&self, root: u64) -> u64 {
        let siblings = self.siblings(root);
        let (before, after) = siblings.split_at(siblings.partition_point(|sibling| *sibling < root));
        let nearest = before.last().or_else(|| after.get(1));
        nearest.map_or_else(|| self.parent(root), |sibling| self.newest_below(*sibling))
    }

    /// Deletes the messages of a subtree.
    pub(super) fn delete(&mut self, subtree: &SeqRanges) {
        for (first, last) in &subtree.0 {
            let deleted = Segment { start: *first, origin: None };
            let index = self.segments.partition_point(|segment| segment.start < *first);
            match self.segments.get_mut(index).filter(|segment| segment.start == *first) {
                Some(segment) => *segment = deleted,
                None => self.segments.insert(index, deleted),
            }
            debug_assert!(self.end(index) == *last, "a subtree has whole segments after its root");
        }
        self.segments.dedup_by(|next, before| next.origin.is_none() && before.origin.is_none());
    }

    pub(super) fn deleted(&self) -> SeqRanges {
        let deleted = self.segments.iter().enumerate().filter(|(_, segment)| segment.origin.is_none());
        SeqRanges(deleted.map(|(index, segment)| (segment.start, self.end(index))).collect())
    }

    fn delete_up_to(&mut self, last: u64) {
        if last > self.last {
            self.segments.push(Segment { start: self.last + 1, origin: None });
            self.last = last;
        }
    }

    fn index(&self, seq: u64) -> Option<usize> {
        let after = self.segments.partition_point(|segment| segment.start <= seq);
        after.checked_sub(1).filter(|_| seq <= self.last)
    }

    /// The segment of a message that exists, with the parent and the role of its first message.
    fn segment(&self, seq: u64) -> Option<(Segment, (u64, Role))> {
        let segment = self.segments[self.index(seq)?];
        segment.origin.map(|origin| (segment, origin))
    }

    fn end(&self, index: usize) -> u64 {
        self.segments.get(index + 1).map_or(self.last, |next| next.start - 1)
    }
}

#[cfg(test)]
mod tests;
