//! What the scan makes of text that is not JSON: guesses that serve to find the end.

use super::scan::{Expect, Place, Scan, Seen};

impl Scan {
    /// Goes on behind a `<` that was reported as foreign and is no marker.
    pub(crate) fn pass(&mut self, at: usize) -> usize {
        if self.in_string() {
            return at + 1;
        }
        self.broken = true;
        if self.reopen() { at } else { at + 1 }
    }

    /// A quote outside of strings; gives the position to go on from.
    pub(super) fn quote(&mut self, text: &str, at: usize) -> usize {
        if self.ended && text[..at].ends_with('"') {
            // Two quotes side by side where a comma is due: the first belongs to the string, the second may end it.
            self.reopen();
            return at;
        }
        if matches!(self.expect, Expect::Colon | Expect::CommaOrEnd) {
            self.broken = true;
            self.comma();
        }
        self.open_string('"');
        at + 1
    }

    /// A character that JSON has no place for here.
    pub(super) fn unexpected(&mut self, text: &str, at: usize) -> Seen {
        let Some(found) = text[at..].chars().next() else { return Seen::More(text.len()) };
        self.broken = true;
        match found {
            '：' if self.expect == Expect::Colon => self.expect_now(Expect::Value),
            '，' if self.expect == Expect::CommaOrEnd => self.comma(),
            '/' if text[..at].ends_with(char::is_whitespace) && !self.string.misled => self.place = Place::Slash,
            _ if self.reopen() => return Seen::More(at),
            '\'' => self.open_string('\''),
            '“' | '”' => self.open_string('”'),
            '/' => self.place = Place::Slash,
            '{' | '[' => self.open(found == '{'),
            ':' => self.expect_now(Expect::Value),
            ',' => self.expect_now(Expect::CommaOrEnd),
            _ => {
                self.place = Place::Word;
                return Seen::More(at);
            }
        }
        Seen::More(at + found.len_utf8())
    }

    /// The quote before this place did not end its string after all; false when there was none.
    fn reopen(&mut self) -> bool {
        if !std::mem::take(&mut self.ended) {
            return false;
        }
        self.broken = true;
        self.string.reopen();
        self.place = Place::String;
        true
    }

    /// In a comment, or behind the slash that may begin one.
    pub(super) fn comment(&mut self, text: &str, at: usize) -> Seen {
        let Some(found) = text[at..].chars().next() else { return Seen::More(text.len()) };
        self.place = match (self.place, found) {
            (Place::LineComment, '\n' | '\r') | (Place::BlockComment { star: true }, '/') => Place::Structure,
            (Place::LineComment, _) | (Place::Slash, '/') => Place::LineComment,
            (Place::Slash, '*') => Place::BlockComment { star: false },
            (Place::BlockComment { .. }, _) => Place::BlockComment { star: found == '*' },
            _ => {
                // A lone slash; this character is read as what it is.
                self.place = Place::Structure;
                return Seen::More(at);
            }
        };
        Seen::More(at + found.len_utf8())
    }
}
