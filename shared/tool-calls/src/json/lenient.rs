//! Recovery for text that is not JSON: heuristics to find the end.

use super::scan::{Expect, JsonScan, LexState, ScanStep};

impl JsonScan {
    /// Continues after a `<` that was reported as foreign and is not a marker.
    pub(crate) fn skip_foreign(&mut self, at: usize) -> usize {
        if self.is_in_string() {
            return at + 1;
        }
        self.broken = true;
        if self.reopen() { at } else { at + 1 }
    }

    /// Reads a quote outside strings; returns the position to continue from.
    pub(super) fn read_quote(&mut self, text: &str, at: usize) -> usize {
        if self.string_just_ended && text[..at].ends_with('"') {
            // Two adjacent quotes where a comma is expected: the first belongs to the string, the second may end it.
            self.reopen();
            return at;
        }
        if matches!(self.expect, Expect::Colon | Expect::CommaOrEnd) {
            self.broken = true;
            self.read_comma();
        }
        self.open_string('"', at + 1);
        at + 1
    }

    /// Reads a character that JSON does not allow at this position.
    pub(super) fn read_unexpected(&mut self, text: &str, at: usize) -> ScanStep {
        let Some(found) = text[at..].chars().next() else { return ScanStep::NeedMore(text.len()) };
        self.broken = true;
        match found {
            '：' if self.expect == Expect::Colon => self.set_expect(Expect::Value),
            '，' if self.expect == Expect::CommaOrEnd => self.read_comma(),
            '/' if text[..at].ends_with(char::is_whitespace) && !self.string.had_false_end => {
                self.state = LexState::Slash;
            }
            _ if self.reopen() => return ScanStep::NeedMore(at),
            '\'' => self.open_string('\'', at + 1),
            '“' | '”' => self.open_string('”', at + found.len_utf8()),
            '/' => self.state = LexState::Slash,
            '{' | '[' => self.open(found == '{'),
            ':' => self.set_expect(Expect::Value),
            ',' => self.set_expect(Expect::CommaOrEnd),
            _ => {
                self.state = LexState::Literal { start: at };
                return ScanStep::NeedMore(at);
            }
        }
        ScanStep::NeedMore(at + found.len_utf8())
    }

    /// Reopens the string whose quote turned out not to end it; returns false if there was none.
    fn reopen(&mut self) -> bool {
        if !std::mem::take(&mut self.string_just_ended) {
            return false;
        }
        // Its quote was part of it.
        (self.broken, self.string.is_malformed, self.string.had_false_end) = (true, true, true);
        self.state = LexState::String;
        true
    }

    /// Reads in a comment, or after the slash that may begin one.
    pub(super) fn read_comment(&mut self, text: &str, at: usize) -> ScanStep {
        let Some(found) = text[at..].chars().next() else { return ScanStep::NeedMore(text.len()) };
        self.state = match (self.state, found) {
            (LexState::LineComment, '\n' | '\r') | (LexState::BlockComment { star: true }, '/') => LexState::Structure,
            (LexState::LineComment, _) | (LexState::Slash, '/') => LexState::LineComment,
            (LexState::Slash, '*') => LexState::BlockComment { star: false },
            (LexState::BlockComment { .. }, _) => LexState::BlockComment { star: found == '*' },
            _ => {
                // A lone slash; this character is read normally.
                self.state = LexState::Structure;
                return ScanStep::NeedMore(at);
            }
        };
        ScanStep::NeedMore(at + found.len_utf8())
    }
}
