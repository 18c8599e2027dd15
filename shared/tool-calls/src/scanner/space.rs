use std::ops::Range;

use super::attributes::space_len;

/// Minimum length of white space that is remembered, in bytes.
const MIN_KNOWN_BYTES: usize = 32;

/// Finds the end of white space in text that grows at its end. Models may end a reply in thousands of line breaks: a run
/// of them is remembered, so that its next character does not read all of it again.
#[derive(Default)]
pub(super) struct SpaceScan {
    /// The last two long runs of white space: some readers look past a comma or a bracket between two of them.
    known: [Range<usize>; 2],
}

impl SpaceScan {
    /// The end of the white space that begins at `from`, which may be `from` itself.
    pub(super) fn end(&mut self, text: &str, from: usize) -> usize {
        // The text may be shorter than before: a candidate is read in windows.
        let known = self.known.iter().position(|run| run.contains(&from));
        let read = known.map_or(from, |run| self.known[run].end.min(text.len()));
        let end = read + space_len(&text[read..]);
        if end - from >= MIN_KNOWN_BYTES {
            self.known.swap(0, known.unwrap_or(1));
            self.known[0] = from..end;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::SpaceScan;

    #[test]
    fn end_is_the_same_for_every_cut() {
        let text = format!("a{}b{}c  d", " ".repeat(100), "\n\t\r ".repeat(50));
        let mut scan = SpaceScan::default();
        for cut in 1..=text.len() {
            for from in 0..cut {
                let expected = text[from..cut].find(|c| !" \n\t\r".contains(c)).map_or(cut, |length| from + length);
                assert_eq!(scan.end(&text[..cut], from), expected, "from {from} of {cut}");
            }
        }
        assert_eq!((scan.end(&text[..101], 1), scan.end(&text[..50], 1)), (101, 50), "of a shorter text");
    }
}
