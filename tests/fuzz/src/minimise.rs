use std::time::{Duration, Instant};

/// Time limit for minimising an input.
const MINIMISE_TIME: Duration = Duration::from_secs(10);

/// Removes parts of a failing input, halves first and single bytes last, while it still fails.
pub(crate) fn minimise(input: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (mut smallest, begun) = (input.to_vec(), Instant::now());
    let mut size = smallest.len() / 2;
    while size > 0 {
        let before = smallest.len();
        let mut at = 0;
        while at < smallest.len() && begun.elapsed() < MINIMISE_TIME {
            let end = (at + size).min(smallest.len());
            let shorter = [&smallest[..at], &smallest[end..]].concat();
            if fails(&shorter) {
                smallest = shorter;
            } else {
                at = end;
            }
        }
        size = if smallest.len() < before { size.min(smallest.len()) } else { size / 2 };
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irrelevant_bytes_are_removed() {
        let input = [vec![b'x'; 1_000], b"<".to_vec(), vec![b'y'; 500], b">".to_vec()].concat();
        let fails = |input: &[u8]| {
            let open = input.iter().position(|byte| *byte == b'<');
            open.is_some_and(|at| input[at..].contains(&b'>'))
        };
        assert_eq!(minimise(&input, fails), b"<>");
    }
}
