//! Recovery for text that is not JSON: heuristics to find the end.

use super::scan::{Expect, Place, Scan, Seen};

impl Scan {
    /// Continues after a `<` that was reported as foreign and is not a marker.
    pub(crate) fn pass(&mut self, at: usize) -> usize {
        if self.in_string() {
            return at + 1;
        }
        self.broken = true;
        if self.reopen() { at } else { at + 1 }
    }

    /// Reads a quote outside strings; returns the position to continue from.
    pub(super) fn quote(&mut self, text: &str, at: usize) -> usize {
        if self.ended && text[..at].ends_with('"') {
            // Two adjacent quotes where a comma is expected: the first belongs to the string, the second may end it.
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

    /// Reads a character that JSON does not allow at this position.
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

    /// Reopens the string whose quote turned out not to end it; returns false if there was none.
    fn reopen(&mut self) -> bool {
        if !std::mem::take(&mut self.ended) {
            return false;
        }
        self.broken = true;
        self.string.reopen();
        self.place = Place::String;
        true
    }

    /// Reads in a comment, or after the slash that may begin one.
    pub(super) fn comment(&mut self, text: &str, at: usize) -> Seen {
        let Some(found) = text[at..].chars().next() else { return Seen::More(text.len()) };
        self.place = match (self.place, found) {
            (Place::LineComment, '\n' | '\r') | (Place::BlockComment { star: true }, '/') => Place::Structure,
            (Place::LineComment, _) | (Place::Slash, '/') => Place::LineComment,
            (Place::Slash, '*') => Place::BlockComment { star: false },
            (Place::BlockComment { .. }, _) => Place::BlockComment { star: found == '*' },
            _ => {
                // A lone slash; this character is read normally.
                self.place = Place::Structure;
                return Seen::More(at);
            }
        };
        Seen::More(at + found.len_utf8())
    }
}
