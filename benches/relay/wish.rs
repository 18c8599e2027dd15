//! Protocol between the load and the model: the requested answer, and tokens that encode their time of sending.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Requested answer: number of tokens, and the model's pause before each.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) words: u64,
    /// Zero for no pause.
    pub(crate) pause: Duration,
}

impl Wish {
    /// Encodes it as a user message.
    pub(crate) fn message(self) -> String {
        format!("words={} pause={} please", self.words, self.pause.as_micros())
    }

    /// Finds the last encoded answer in a request body.
    pub(crate) fn find(request: &str) -> Option<Self> {
        let (_, rest) = request.rsplit_once("words=")?;
        let (words, rest) = rest.split_once(" pause=")?;
        let (pause, _) = rest.split_once(' ')?;
        Some(Self { words: words.parse().ok()?, pause: Duration::from_micros(pause.parse().ok()?) })
    }
}

const DIGITS: [u8; 36] = *b"abcdefghijklmnopqrstuvwxyz0123456789";
const WIDTH: usize = 5;
/// Range of an encoded time in microseconds: about a minute.
const SPAN: u64 = 36_u64.pow(5);

/// The current time in microseconds, modulo [`TIME_RANGE_MICROS`].
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default() % SPAN
}

/// Encodes a time as a token of five letters and a space.
pub(crate) fn word(mut micros: u64) -> String {
    let mut word = [b' '; WIDTH + 1];
    for letter in word[..WIDTH].iter_mut().rev() {
        *letter = usize::try_from(micros % 36).map_or(b'a', |digit| DIGITS[digit]);
        micros /= 36;
    }
    word.iter().copied().map(char::from).collect()
}

/// Returns the age of a token in microseconds; `None` if it encodes no time.
pub(crate) fn age(word: &str, now: u64) -> Option<u64> {
    let place = |letter: u8| DIGITS.iter().position(|digit| *digit == letter);
    let written = word.bytes().try_fold(0, |sum, letter| Some(sum * 36 + place(letter)? as u64))?;
    (word.len() == WIDTH).then_some((now + SPAN - written) % SPAN)
}
