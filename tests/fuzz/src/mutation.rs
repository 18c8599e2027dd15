use crate::Random;

/// Length limit of an input, in bytes.
pub const MAX_INPUT_BYTES: usize = 8 * 1024;

/// Byte strings that are significant to many parsers.
const COMMON_TOKENS: [&[u8]; 34] = [
    b"\0",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\t",
    b"\"",
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"<",
    b">",
    b"&",
    b"%",
    b"/",
    b"=",
    b"-1",
    b"0",
    b"1e999",
    b"9223372036854775808",
    b"null",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe6\xb1\x89",
    b"e\xcc\x81",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\x8b",
];

/// Limit of changes to one input.
const MAX_CHANGES: usize = 8;

/// Creates an input: a sample with some random changes.
pub(crate) fn input(random: &mut Random, samples: &[&[u8]], tokens: &[&str]) -> Vec<u8> {
    let mut input = random.choose(samples).map(|sample| sample.to_vec()).unwrap_or_default();
    for _ in 0..=random.below(MAX_CHANGES) {
        change(&mut input, random, samples, tokens);
        input.truncate(MAX_INPUT_BYTES);
    }
    input
}

fn change(input: &mut Vec<u8>, random: &mut Random, samples: &[&[u8]], tokens: &[&str]) {
    let at = random.below(input.len() + 1);
    match random.below(9) {
        0 => drop(input.drain(range(input.len(), at, random))),
        1 => repeat(input, at, random),
        2 => input.truncate(at),
        3 => {
            let other = random.choose(samples).copied().unwrap_or_default();
            let from = random.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        4 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        5 => insert(input, at, random.choose(&COMMON_TOKENS).copied().unwrap_or_default()),
        6 => {
            let replaced = range(input.len(), at, random);
            let token = random.choose(tokens).copied().unwrap_or_default();
            drop(input.splice(replaced, token.bytes()));
        }
        _ => insert(input, at, random.choose(tokens).copied().unwrap_or_default().as_bytes()),
    }
}

/// Repeats a part in place, sometimes very often, which reveals quadratic work.
fn repeat(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let part = input[range(input.len(), at, random)].to_vec();
    let max_repeats = if random.below(4) == 0 { MAX_INPUT_BYTES / part.len().max(1) } else { 4 };
    insert(input, at, &part.repeat(1 + random.below(max_repeats)));
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(input.splice(at..at, piece.iter().copied()));
}

/// A short range that begins at `at`.
fn range(length: usize, at: usize, random: &mut Random) -> std::ops::Range<usize> {
    at..(at + random.below(24)).min(length)
}
