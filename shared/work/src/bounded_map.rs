use std::collections::HashMap;

/// Makes space for one more entry in a map of at most `capacity`, whose entries can all be found out again: drops those that
/// are no longer needed, or all if that is not enough.
pub fn make_space<K, V, S>(map: &mut HashMap<K, V, S>, capacity: usize, is_needed: impl Fn(&V) -> bool) {
    if map.len() >= capacity {
        map.retain(|_, value| is_needed(value));
    }
    if map.len() >= capacity {
        map.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_map_keeps_only_needed_entries() {
        let mut map: HashMap<u32, bool> = (0..4).map(|key| (key, key > 1)).collect();
        make_space(&mut map, 5, |_| false);
        assert_eq!(map.len(), 4, "there is space");
        make_space(&mut map, 4, |needed| *needed);
        assert_eq!(map, HashMap::from([(2, true), (3, true)]));
        make_space(&mut map, 2, |needed| *needed);
        assert!(map.is_empty());
    }
}
