use proptest::prelude::*;

use super::*;

fn begun(attempts: u64) -> (Window, Vec<u64>) {
    let mut window = Window::default();
    let numbers = (0..attempts).map(|_| window.begin()).collect();
    (window, numbers)
}

/// What is said of each fault, in this order.
fn faults(window: &mut Window, attempts: impl IntoIterator<Item = u64>) -> Vec<bool> {
    attempts.into_iter().map(|attempt| window.failed(attempt)).collect()
}

#[test]
fn f004_five_faults_are_too_many_and_four_are_not() {
    let (mut window, attempts) = begun(5);
    assert_eq!(faults(&mut window, attempts), [false, false, false, false, true]);
}

#[test]
fn f004_fewer_than_half_of_the_last_sixteen_are_not_too_many() {
    let (mut window, _) = begun(40);
    assert_eq!(faults(&mut window, [20, 21, 22, 23, 24, 25, 26, 27]), [[false; 7].as_slice(), &[true]].concat());
    let (mut window, _) = begun(40);
    assert!(!faults(&mut window, (1..=40).filter(|attempt| attempt % 5 < 2)).contains(&true));
}

#[test]
fn f004_an_attempt_fails_once_and_one_from_before_it_was_cleared_not_at_all() {
    let (mut window, _) = begun(6);
    assert_eq!(faults(&mut window, [5; 9]), [false; 9]);
    window.clear();
    assert_eq!(faults(&mut window, 1..=6), [false; 6]);
    assert_eq!((0..5).map(|_| window.begin()).collect::<Vec<_>>(), [7, 8, 9, 10, 11]);
    assert!(faults(&mut window, 7..=11).contains(&true));
}

#[test]
fn f004_an_endpoint_that_lets_each_call_time_out_is_found_down_although_new_ones_keep_coming() {
    let (mut window, _) = begun(60);
    let said: Vec<bool> = (1..=8)
        .map(|attempt| {
            window.begin();
            window.failed(attempt)
        })
        .collect();
    assert_eq!(said, [[false; 4].as_slice(), &[true; 4]].concat());
}

proptest! {
    #[test]
    fn f004_one_fault_in_twenty_is_never_too_many_in_whatever_order_attempts_begin_and_end(
        first in 0..20_usize,
        keys in proptest::collection::vec(any::<u64>(), 300),
        width in 1..300_usize,
    ) {
        // Attempts begin in order; each fault comes at any time after its own beginning, up to `width` others later.
        let faulty = (first..keys.len()).step_by(20);
        let mut ends: Vec<(usize, usize)> =
            faulty.map(|at| (at + usize::try_from(keys[at] % 300).unwrap() % width, at + 1)).collect();
        ends.sort_unstable();
        let mut window = Window::default();
        let mut ends = ends.into_iter().peekable();
        for at in 0..keys.len() + width {
            window.begin();
            while let Some((_, attempt)) = ends.next_if(|(end, _)| *end <= at) {
                prop_assert!(!window.failed(attempt as u64));
            }
        }
        prop_assert!(ends.next().is_none());
    }

    #[test]
    fn f004_an_endpoint_where_all_fails_is_found_down_in_whatever_order_attempts_end(
        before in 0..50_u64,
        attempts in Just((0..100_u64).collect::<Vec<_>>()).prop_shuffle(),
        several in 5..100_u64,
    ) {
        let (mut window, _) = begun(before);
        let begun: Vec<u64> = (0..several).map(|_| window.begin()).collect();
        // Enough for a window of their own, or nothing before them.
        prop_assume!(before == 0 || several >= 8);
        let order = attempts.into_iter().filter_map(|at| begun.get(usize::try_from(at).unwrap()).copied());
        prop_assert!(faults(&mut window, order).contains(&true));
    }

    #[test]
    fn f004_it_says_what_counting_says(order in proptest::collection::vec(1..80_u64, 0..60)) {
        let (mut window, _) = begun(80);
        let mut failed = std::collections::BTreeSet::new();
        for attempt in order {
            failed.insert(attempt);
            let latest = *failed.last().unwrap();
            let oldest = latest.saturating_sub(15).max(1);
            let count = failed.range(oldest..).count() as u64;
            let expected = count >= 5 && count * 2 > latest - oldest;
            prop_assert_eq!(window.failed(attempt), expected);
        }
    }
}
