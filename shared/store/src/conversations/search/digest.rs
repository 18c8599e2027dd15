use std::collections::HashSet;

/// The maximum number of terms of a filter, which then has 45 KB.
pub(super) const MAX_TERMS: usize = 30_000;

/// The bits of each term, of twelve that a filter has for it: one in 150 other terms then seems to be in it.
const BITS: u64 = 4;

/// Builds a Bloom filter of hashes of terms; one that excludes nothing if they are too many.
pub(super) fn build_filter(terms: &HashSet<u64>) -> Vec<u8> {
    if terms.len() > MAX_TERMS {
        return vec![u8::MAX];
    }
    let mut filter = vec![0; 32 + terms.len() * 3 / 2];
    let len = filter.len();
    for (byte, bit) in terms.iter().flat_map(|hash| bits(*hash, len)) {
        filter[byte] |= bit;
    }
    filter
}

/// Whether a filter may have all terms with these hashes.
pub(super) fn may_have(filter: &[u8], hashes: &[u64]) -> bool {
    let mut bits = hashes.iter().flat_map(|hash| bits(*hash, filter.len()));
    bits.all(|(byte, bit)| filter.get(byte).is_none_or(|byte| byte & bit != 0))
}

/// The bits of a hash in a filter of `len` bytes.
fn bits(hash: u64, len: usize) -> impl Iterator<Item = (usize, u8)> {
    let (first, step) = (hash & 0xFFFF_FFFF, (hash >> 32) | 1);
    (0..BITS).map(move |number| {
        let bit = (first + number * step) % (len as u64 * 8).max(1);
        (usize::try_from(bit / 8).unwrap_or_default(), 1 << (bit % 8))
    })
}

#[cfg(test)]
mod tests {
    use super::super::query::{ConversationQuery, SearchText};
    use super::*;

    #[test]
    fn filter_is_small_and_excludes_other_terms() {
        let all: Vec<String> = (0..500).map(|number| format!("{number}term")).collect();
        let text = format!("{} 喝一杯绿茶", all.join(" "));
        let filter = build_filter(&SearchText::of(&text).hashes().collect());
        let may_have = |query: &str| may_have(&filter, &ConversationQuery::parse(query).unwrap().hashes);
        assert_eq!(filter.len(), 32 + 999 * 3 / 2);
        assert!(all.iter().all(|term| may_have(term)) && may_have("杯绿 7Term") && may_have("茶"));
        let others = (1_000..2_000).filter(|number| may_have(&format!("{number}other"))).count();
        assert!(others < 20, "{others}");
        assert!(!may_have("茶绿") && may_have("123") && may_have("123te"), "beginnings of 123term");
    }

    #[test]
    fn filter_of_too_many_terms_excludes_nothing() {
        let filter = build_filter(&(0..=MAX_TERMS as u64).collect());
        assert!(filter.len() == 1 && may_have(&filter, &[1, u64::MAX]));
        assert!(may_have(&[], &[1]), "a damaged one");
    }
}
