use super::sort_keys::seq_in_sk;
use crate::item::{Item, ItemExt};
use crate::key::SK;

/// Other messages between two ranges that are read with them: more of them cost more than another request.
const MAX_GAP: u64 = 32;

/// Ascending, disjoint ranges of seqs, each with its last seq.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SeqRanges(pub(super) Vec<(u64, u64)>);

impl SeqRanges {
    pub(super) fn contains(&self, seq: u64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= seq);
        self.0[..after].last().is_some_and(|(_, last)| seq <= *last)
    }

    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    pub(super) fn last(&self) -> Option<u64> {
        self.0.last().map(|(_, last)| *last)
    }

    /// The part from `first` to `last`.
    pub(super) fn between(&self, first: u64, last: u64) -> Self {
        let parts = self.0.iter().map(|(start, end)| ((*start).max(first), (*end).min(last)));
        Self(parts.filter(|(start, end)| start <= end).collect())
    }

    /// Ranges that include these and are each read by one query; they may include other seqs.
    pub(super) fn queries(&self) -> Vec<(u64, u64)> {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in &self.0 {
            match joined.last_mut() {
                Some((_, end)) if *first - *end <= MAX_GAP => *end = *last,
                _ => joined.push((*first, *last)),
            }
        }
        joined
    }
}

/// Whether an item belongs to one of these messages.
pub(super) fn is_in(seqs: &SeqRanges, item: &Item) -> bool {
    item.text(SK).ok().and_then(seq_in_sk).is_some_and(|seq| seqs.contains(seq))
}
