/// Pseudo-random numbers that depend on the seed only (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a generator from an input, so that a check makes the same choices for the same input.
    pub fn of(input: &[u8]) -> Self {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(input.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        usize::try_from(self.number().checked_rem(bound).unwrap_or(0)).unwrap_or(0)
    }

    /// Chooses an item, if there are any.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// Splits the input at positions that depend on the input only; sometimes into single bytes.
pub fn split_bytes(input: &[u8]) -> Vec<&[u8]> {
    let (mut random, mut rest, mut pieces) = (Random::of(input), input, Vec::new());
    let longest = [1, 3, 16, input.len().max(1)][random.below(4)];
    while !rest.is_empty() {
        let (piece, more) = rest.split_at((1 + random.below(longest)).min(rest.len()));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

/// Splits the text between characters.
pub fn split_text(text: &str) -> Vec<&str> {
    let (mut random, mut rest, mut pieces) = (Random::of(text.as_bytes()), text, Vec::new());
    let longest = [1, 3, 16, text.len().max(1)][random.below(4)];
    while !rest.is_empty() {
        let wanted = (1 + random.below(longest)).min(rest.len());
        let at = (wanted..=rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (piece, more) = rest.split_at(at);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_complete_and_deterministic() {
        let text = "a汉e\u{301}😀 b".repeat(9);
        assert_eq!(
            (split_text(&text).concat(), split_bytes(text.as_bytes()).concat()),
            (text.clone(), text.clone().into_bytes())
        );
        assert_eq!(split_bytes(text.as_bytes()), split_bytes(text.as_bytes()));
        assert!(split_bytes(b"").is_empty() && split_text("").is_empty());
    }
}
