pub(super) enum StringStep {
    Continue(usize),
    End(usize),
    /// A `<` is at this position, in a string after a false end.
    Foreign(usize),
}

/// Finds the end of a JSON string, and whether it is well-formed.
#[derive(Default)]
pub(super) struct StringReader {
    quote: char,
    start: usize,
    state: StringState,
    /// Whether the last escape was a high surrogate: `\u` and the low one must follow.
    is_in_pair: bool,
    pub(super) is_malformed: bool,
    /// Whether a quote turned out not to end its string; then an end marker also counts inside strings.
    pub(super) had_false_end: bool,
}

#[derive(Clone, Copy, Default)]
enum StringState {
    #[default]
    Plain,
    /// After a backslash.
    Escape,
    /// After so many digits of `\uXXXX`.
    Hex(u8),
}

impl StringReader {
    pub(super) fn open(&mut self, quote: char, start: usize) {
        (self.quote, self.start, self.state, self.is_in_pair) = (quote, start, StringState::Plain, false);
    }

    /// The content of a well-formed string that ended before `end`.
    pub(super) fn content(&self, text: &str, end: usize) -> String {
        let content = &text[self.start..end - 1];
        if content.contains('\\') {
            serde_json::from_str(&text[self.start - 1..end]).unwrap_or_default()
        } else {
            content.to_owned()
        }
    }

    /// Continues at position `at`, which is before the end of the text.
    pub(super) fn advance(&mut self, text: &str, at: usize) -> StringStep {
        let Some(next) = text[at..].chars().next() else { return StringStep::Continue(text.len()) };
        let after = at + next.len_utf8();
        match self.state {
            StringState::Plain if self.is_in_pair && next != '\\' => return self.reject_escape(at),
            StringState::Plain => return self.read_plain(text, at),
            StringState::Escape => {
                let is_known = matches!(next, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') && !self.is_in_pair;
                self.is_malformed |= !is_known && next != 'u';
                self.is_in_pair &= next == 'u';
                self.state = if next == 'u' { StringState::Hex(0) } else { StringState::Plain };
            }
            StringState::Hex(_) if !next.is_ascii_hexdigit() => return self.reject_escape(at),
            StringState::Hex(digits @ 0..=2) => self.state = StringState::Hex(digits + 1),
            StringState::Hex(_) => {
                let unit = u16::from_str_radix(&text[after - 4..after], 16).unwrap_or_default();
                let (is_high, is_low) = ((0xD800..0xDC00).contains(&unit), (0xDC00..0xE000).contains(&unit));
                self.is_malformed |= self.is_in_pair != is_low;
                self.is_in_pair = is_high && !self.is_in_pair;
                self.state = StringState::Plain;
            }
        }
        StringStep::Continue(after)
    }

    /// Reads up to the next special character.
    fn read_plain(&mut self, text: &str, at: usize) -> StringStep {
        let mut lead = [0; 4];
        let lead = self.quote.encode_utf8(&mut lead).as_bytes()[0];
        let rest = &text.as_bytes()[at..];
        let special = |&byte: &u8| byte < b' ' || byte == lead || byte == b'\\' || (byte == b'<' && self.had_false_end);
        let found = at + rest.iter().position(special).unwrap_or(rest.len());
        let Some(next) = text[found..].chars().next() else { return StringStep::Continue(found) };
        let after = found + next.len_utf8();
        match next {
            '\\' => self.state = StringState::Escape,
            '<' => return StringStep::Foreign(found),
            _ if next == self.quote => return StringStep::End(after),
            // A control character, or another character that shares its first byte with the quote.
            _ => self.is_malformed |= next < ' ',
        }
        StringStep::Continue(after)
    }

    fn reject_escape(&mut self, at: usize) -> StringStep {
        (self.is_malformed, self.is_in_pair, self.state) = (true, false, StringState::Plain);
        StringStep::Continue(at)
    }
}
