//! Where one model's words go on in another's: models often repeat the last words, or the whole answer from its start,
//! before they go on.

mod overlap;

use self::overlap::{Joint, Overlap};

/// How far back from the end of what was said a repetition may begin, in bytes; the very beginning always may.
const REACH: usize = 4096;

/// Takes what only repeats what was said off the beginning of a text that comes in pieces.
///
/// Held back is only what may still turn out to be a repetition. One counts when it runs to the end of what was said
/// and is too long, or stands too oddly, to be what really comes next (`overlap`); of several the longest counts. White
/// space before it goes with it, and behind it what stands at the end of what was said already. Everything else goes on
/// as it came, however it was cut.
pub(crate) struct Seam {
    said: String,
    /// Where the white space at the end of `said` begins.
    end: usize,
    held: String,
    /// How much of `held` is leading white space.
    white: usize,
    /// Where repetitions may begin that agree with all of `held`, the longest first.
    alive: Vec<Overlap>,
    /// The longest repetition that is certain: where it begins, and how much of `held` it is.
    found: Option<(usize, usize)>,
    settled: bool,
}

impl Seam {
    /// For a text that goes on from `said`.
    pub(crate) fn new(said: &str) -> Self {
        let end = said.trim_end().len();
        Self {
            said: said.to_owned(),
            end,
            held: String::new(),
            white: 0,
            alive: overlap::all(&said[..end], REACH),
            found: None,
            settled: end == 0,
        }
    }

    /// Takes more text and gives what is certain by now.
    pub(crate) fn push(&mut self, text: impl Into<String>) -> String {
        let text = text.into();
        if self.settled {
            return text;
        }
        let mut from = self.held.len();
        self.held.push_str(&text);
        if from == self.white {
            self.white = self.held.len() - self.held.trim_start().len();
            from = self.white;
        }
        self.compare(from);
        self.settle()
    }

    /// Ends the text and gives what was held.
    ///
    /// A text that began again and ended before it came to anything new gives nothing.
    pub(crate) fn finish(&mut self) -> String {
        if self.settled {
            return String::new();
        }
        let (joint, length) = (self.joint(), self.held.len() - self.white);
        for overlap in std::mem::take(&mut self.alive) {
            let complete = overlap.at + length >= self.end;
            if (complete && overlap.counts(joint, false)) || overlap.is_long_restart(self.matched()) {
                self.find(overlap.at, length);
            }
        }
        self.settle()
    }

    /// Goes through what came from `from` on.
    fn compare(&mut self, from: usize) {
        let joint = self.joint();
        let (seen, new) = (from - self.white, &self.held[from..]);
        let (mut alive, mut ended) = (Vec::new(), Vec::new());
        for overlap in std::mem::take(&mut self.alive) {
            let rest = &self.said[overlap.at + seen..];
            if rest.starts_with(new) {
                alive.push(overlap);
                continue;
            }
            let same = common(rest, new);
            let goes_on = new[same..].starts_with(overlap::spells);
            let completes = rest[same..].is_empty() && self.is_cut_word() && goes_on;
            // A finished word is not the beginning of another one.
            let other = rest[same..].starts_with(char::is_whitespace) && new[same..].starts_with(char::is_alphanumeric);
            let complete = overlap.at + seen + same >= self.end && !other;
            if complete && overlap.counts(joint, completes) {
                ended.push((overlap.at, seen + same));
            }
        }
        self.alive = alive;
        for (at, length) in ended {
            self.find(at, length);
        }
    }

    fn find(&mut self, at: usize, length: usize) {
        if self.found.is_none_or(|(before, _)| at < before) {
            self.found = Some((at, length));
        }
    }

    /// Gives what is held once no longer repetition is possible.
    fn settle(&mut self) -> String {
        let longest = self.alive.first().map_or(usize::MAX, |overlap| overlap.at);
        if longest <= self.found.map_or(usize::MAX - 1, |(at, _)| at) {
            return String::new();
        }
        self.settled = true;
        let held = std::mem::take(&mut self.held);
        match self.found {
            Some((_, length)) => held[self.white + length..].to_owned(),
            None => held,
        }
    }

    /// What is held, without the white space before it.
    fn matched(&self) -> &str {
        &self.held[self.white..]
    }

    /// Whether what was said ends in a word that may go on.
    fn is_cut_word(&self) -> bool {
        self.said.ends_with(overlap::spells)
    }

    /// What stands between what was said and the text.
    fn joint(&self) -> Joint {
        let (before, after) = (&self.said[self.end..], &self.held[..self.white]);
        Joint {
            line: before.contains('\n') || after.contains('\n'),
            cell: self.said[..self.end].ends_with('|') || self.matched().starts_with('|'),
            touches: after.is_empty()
                && self.said.ends_with(char::is_alphanumeric)
                && self.matched().starts_with(char::is_alphanumeric),
        }
    }
}

/// How many bytes of the beginning both have in common, whole characters.
fn common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

#[cfg(test)]
mod tests;
