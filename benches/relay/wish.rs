//! What the model is asked for, and how its words tell when they were sent: known to the model and to the load.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many words an answer has, and how long the model waits before each.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) words: u64,
    /// Zero for as fast as can be.
    pub(crate) pause: Duration,
}

impl Wish {
    /// The wish as a user's message.
    pub(crate) fn message(self) -> String {
        format!("words={} pause={} please", self.words, self.pause.as_micros())
    }

    /// The last wish in a request, wherever in it the message stands.
    pub(crate) fn find(request: &str) -> Option<Self> {
        let (_, rest) = request.rsplit_once("words=")?;
        let (words, rest) = rest.split_once(" pause=")?;
        let (pause, _) = rest.split_once(' ')?;
        Some(Self { words: words.parse().ok()?, pause: Duration::from_micros(pause.parse().ok()?) })
    }
}

const DIGITS: [u8; 36] = *b"abcdefghijklmnopqrstuvwxyz0123456789";
const WIDTH: usize = 5;
/// How many microseconds a word can tell apart: a minute.
const SPAN: u64 = 36_u64.pow(5);

/// The microseconds of now, as far as a word tells them.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default() % SPAN
}

/// A word of five letters and a space that tells when it was written.
pub(crate) fn word(mut micros: u64) -> String {
    let mut word = [b' '; WIDTH + 1];
    for letter in word[..WIDTH].iter_mut().rev() {
        *letter = usize::try_from(micros % 36).map_or(b'a', |digit| DIGITS[digit]);
        micros /= 36;
    }
    word.iter().copied().map(char::from).collect()
}

/// How many microseconds ago a word was written; `None` for what is no such word.
pub(crate) fn age(word: &str, now: u64) -> Option<u64> {
    let place = |letter: u8| DIGITS.iter().position(|digit| *digit == letter);
    let written = word.bytes().try_fold(0, |sum, letter| Some(sum * 36 + place(letter)? as u64))?;
    (word.len() == WIDTH).then_some((now + SPAN - written) % SPAN)
}
