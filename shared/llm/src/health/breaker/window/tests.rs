use proptest::prelude::*;

use super::*;

fn started_window(attempts: u64) -> (Window, Vec<u64>) {
    let mut window = Window::default();
    let numbers = (0..attempts).map(|_| window.begin()).collect();
    (window, numbers)
}

/// Records failed attempts in order and returns the result of each.
fn add_failures(window: &mut Window, attempts: impl IntoIterator<Item = u64>) -> Vec<bool> {
    attempts.into_iter().map(|attempt| window.add_failure(attempt)).collect()
}

#[test]
fn f004_five_failures_open_and_four_do_not() {
    let (mut window, attempts) = started_window(5);
    assert_eq!(add_failures(&mut window, attempts), [false, false, false, false, true]);
}

#[test]
fn f004_under_half_of_sixteen_does_not_open() {
    let (mut window, _) = started_window(40);
    assert_eq!(add_failures(&mut window, [20, 21, 22, 23, 24, 25, 26, 27]), [[false; 7].as_slice(), &[true]].concat());
    let (mut window, _) = started_window(40);
    assert!(!add_failures(&mut window, (1..=40).filter(|attempt| attempt % 5 < 2)).contains(&true));
}

#[test]
fn f004_attempt_fails_once_and_never_after_clear() {
    let (mut window, _) = started_window(6);
    assert_eq!(add_failures(&mut window, [5; 9]), [false; 9]);
    window.clear();
    assert_eq!(add_failures(&mut window, 1..=6), [false; 6]);
    assert_eq!((0..5).map(|_| window.begin()).collect::<Vec<_>>(), [7, 8, 9, 10, 11]);
    assert!(add_failures(&mut window, 7..=11).contains(&true));
}

#[test]
fn f004_timeouts_open_despite_new_attempts() {
    let (mut window, _) = started_window(60);
    let results: Vec<bool> = (1..=8)
        .map(|attempt| {
            window.begin();
            window.add_failure(attempt)
        })
        .collect();
    assert_eq!(results, [[false; 4].as_slice(), &[true; 4]].concat());
}

proptest! {
    #[test]
    fn f004_five_percent_failures_never_open(
        first in 0..20_usize,
        keys in proptest::collection::vec(any::<u64>(), 300),
        width in 1..300_usize,
    ) {
        // Attempts start in order; each failure follows its own start by up to `width` other starts.
        let faulty = (first..keys.len()).step_by(20);
        let mut ends: Vec<(usize, usize)> =
            faulty.map(|at| (at + usize::try_from(keys[at] % 300).unwrap() % width, at + 1)).collect();
        ends.sort_unstable();
        let mut window = Window::default();
        let mut ends = ends.into_iter().peekable();
        for at in 0..keys.len() + width {
            window.begin();
            while let Some((_, attempt)) = ends.next_if(|(end, _)| *end <= at) {
                prop_assert!(!window.add_failure(attempt as u64));
            }
        }
        prop_assert!(ends.next().is_none());
    }

    #[test]
    fn f004_all_failures_open_in_any_order(
        before in 0..50_u64,
        attempts in Just((0..100_u64).collect::<Vec<_>>()).prop_shuffle(),
        several in 5..100_u64,
    ) {
        let (mut window, _) = started_window(before);
        let begun: Vec<u64> = (0..several).map(|_| window.begin()).collect();
        // Enough attempts to fill a window, or none before them.
        prop_assume!(before == 0 || several >= 8);
        let order = attempts.into_iter().filter_map(|at| begun.get(usize::try_from(at).unwrap()).copied());
        prop_assert!(add_failures(&mut window, order).contains(&true));
    }

    #[test]
    fn f004_window_matches_reference_count(order in proptest::collection::vec(1..80_u64, 0..60)) {
        let (mut window, _) = started_window(80);
        let mut failed = std::collections::BTreeSet::new();
        for attempt in order {
            failed.insert(attempt);
            let latest = *failed.last().unwrap();
            let oldest = latest.saturating_sub(15).max(1);
            let count = failed.range(oldest..).count() as u64;
            let expected = count >= 5 && count * 2 > latest - oldest;
            prop_assert_eq!(window.add_failure(attempt), expected);
        }
    }
}
