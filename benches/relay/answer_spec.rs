//! Protocol between the load and the model: the requested answer, and tokens that encode their time of sending.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Requested answer: number of tokens, the model's pause before each, and whether a model with tools searches before.
#[derive(Clone, Copy)]
pub(crate) struct AnswerSpec {
    pub(crate) tokens: u64,
    /// Zero for no pause.
    pub(crate) pause: Duration,
    pub(crate) searches: bool,
}

impl AnswerSpec {
    /// Encodes it as a user message.
    pub(crate) fn message(self) -> String {
        format!("words={} pause={} searches={} please", self.tokens, self.pause.as_micros(), self.searches)
    }

    /// Finds the last encoded answer in a request body.
    pub(crate) fn find(request: &str) -> Option<Self> {
        let (_, rest) = request.rsplit_once("words=")?;
        let (tokens, rest) = rest.split_once(" pause=")?;
        let (pause, rest) = rest.split_once(" searches=")?;
        let pause = Duration::from_micros(pause.parse().ok()?);
        Some(Self { tokens: tokens.parse().ok()?, pause, searches: rest.starts_with("true") })
    }
}

const DIGITS: [u8; 36] = *b"abcdefghijklmnopqrstuvwxyz0123456789";
const TOKEN_LETTERS: usize = 5;
/// Range of an encoded time in microseconds: about a minute.
const TIME_RANGE_MICROS: u64 = 36_u64.pow(5);

/// The current time in microseconds, modulo [`TIME_RANGE_MICROS`].
pub(crate) fn now_micros() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default() % TIME_RANGE_MICROS
}

/// Encodes a time as a token of five letters and a space.
pub(crate) fn encode_time(mut micros: u64) -> String {
    let mut token = [b' '; TOKEN_LETTERS + 1];
    for letter in token[..TOKEN_LETTERS].iter_mut().rev() {
        *letter = usize::try_from(micros % 36).map_or(b'a', |digit| DIGITS[digit]);
        micros /= 36;
    }
    token.iter().copied().map(char::from).collect()
}

/// Returns the age of a token in microseconds; `None` if it encodes no time.
pub(crate) fn token_age(token: &str, now: u64) -> Option<u64> {
    let digit_value = |letter: u8| DIGITS.iter().position(|digit| *digit == letter);
    let written = token.bytes().try_fold(0, |sum, letter| Some(sum * 36 + digit_value(letter)? as u64))?;
    (token.len() == TOKEN_LETTERS).then_some((now + TIME_RANGE_MICROS - written) % TIME_RANGE_MICROS)
}
