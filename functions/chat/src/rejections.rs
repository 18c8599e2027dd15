use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// Rejections of a kind that an instance stores one by one in a minute; of the further ones it stores the numbers that are
/// powers of two, because a flood of requests must not become one of writes.
const FIRST_REJECTIONS: u64 = 8;

/// Numbers of rejections by their kind, with the minute in which they are counted.
#[derive(Default)]
pub(crate) struct Rejections(Mutex<HashMap<&'static str, (u64, u64)>>);

impl Rejections {
    /// Counts a rejection; returns how many an entry represents if one is due.
    pub(crate) fn count(&self, kind: &'static str, now: SystemTime) -> Option<u64> {
        let minute = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60;
        let mut counts = work::lock(&self.0);
        let (counted_in, number) = counts.entry(kind).or_default();
        if *counted_in != minute {
            (*counted_in, *number) = (minute, 0);
        }
        *number += 1;
        match *number {
            number if number <= FIRST_REJECTIONS => Some(1),
            number => number.is_power_of_two().then_some(number / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn f142_flood_of_rejections_has_bounded_entries() {
        let (rejections, start) = (Rejections::default(), UNIX_EPOCH + Duration::from_hours(1));
        let stored: Vec<u64> = (0..100_000).filter_map(|_| rejections.count("key", start)).collect();
        let expected = [1; 8].into_iter().chain((3..16).map(|power| 1 << power));
        assert_eq!(stored, expected.collect::<Vec<_>>());
        assert_eq!(stored.iter().sum::<u64>(), 65_536, "the largest power of two in the number");
        assert_eq!(rejections.count("token", start), Some(1), "kinds are counted apart");
        assert_eq!(rejections.count("key", start + Duration::from_mins(1)), Some(1));
    }
}
