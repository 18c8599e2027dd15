pub(super) enum StringStep {
    /// Continue from this position.
    Continue(usize),
    /// The string ends before this position.
    End(usize),
    /// A `<` is at this position, in a string after a false end.
    Foreign(usize),
}

/// Reads the content of a JSON string and decodes it while it is well-formed.
pub(super) struct StringReader {
    quote: char,
    content: String,
    state: StringState,
    /// Whether the content is still well-formed.
    pub(super) is_well_formed: bool,
    /// Whether a quote turned out not to end its string; then an end marker also counts inside strings.
    pub(super) had_false_end: bool,
}

#[derive(Clone, Copy)]
enum StringState {
    Plain,
    /// After a backslash.
    Escape,
    /// In the digits of `\uXXXX`; `high` is a preceding surrogate.
    Hex {
        digits: u8,
        unit: u16,
        high: Option<u16>,
    },
    /// After a high surrogate: `\u` and the low one must follow.
    Pair {
        high: u16,
        backslash: bool,
    },
}

impl Default for StringReader {
    fn default() -> Self {
        Self {
            quote: '"',
            content: String::new(),
            state: StringState::Plain,
            is_well_formed: true,
            had_false_end: false,
        }
    }
}

impl StringReader {
    pub(super) fn open(&mut self, quote: char) {
        self.quote = quote;
        self.content.clear();
        self.state = StringState::Plain;
    }

    /// Continues the string that just ended: its quote was part of it.
    pub(super) fn reopen(&mut self) {
        self.is_well_formed = false;
        self.had_false_end = true;
    }

    pub(super) fn take_content(&mut self) -> String {
        std::mem::take(&mut self.content)
    }

    /// Continues at position `at`, which is before the end of the text.
    pub(super) fn advance(&mut self, text: &str, at: usize) -> StringStep {
        let Some(next) = text[at..].chars().next() else { return StringStep::Continue(text.len()) };
        let after = at + next.len_utf8();
        match self.state {
            StringState::Plain => return self.read_plain(text, at),
            StringState::Escape => self.read_escape(next),
            StringState::Hex { digits, unit, high } => {
                let Some(digit) = next.to_digit(16).and_then(|digit| u16::try_from(digit).ok()) else {
                    return self.reject_escape(at);
                };
                self.read_hex(digits + 1, unit << 4 | digit, high);
            }
            StringState::Pair { high, backslash: false } if next == '\\' => {
                self.state = StringState::Pair { high, backslash: true };
            }
            StringState::Pair { high, backslash: true } if next == 'u' => {
                self.state = StringState::Hex { digits: 0, unit: 0, high: Some(high) };
            }
            StringState::Pair { backslash: true, .. } => {
                self.is_well_formed = false;
                self.read_escape(next);
            }
            StringState::Pair { .. } => return self.reject_escape(at),
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
        let Some(next) = text[found..].chars().next() else { return self.push_content(text, at, found) };
        let after = found + next.len_utf8();
        self.push_content(text, at, found);
        match next {
            '\\' => self.state = StringState::Escape,
            '<' => return StringStep::Foreign(found),
            _ if next == self.quote => return StringStep::End(after),
            _ => {
                // A control character, or another character that shares its first byte with the quote.
                self.is_well_formed &= next >= ' ';
                self.push_content(text, found, after);
            }
        }
        StringStep::Continue(after)
    }

    fn push_content(&mut self, text: &str, from: usize, to: usize) -> StringStep {
        if self.is_well_formed {
            self.content.push_str(&text[from..to]);
        }
        StringStep::Continue(to)
    }

    fn read_escape(&mut self, found: char) {
        self.state = StringState::Plain;
        let decoded = match found {
            '"' | '\\' | '/' => found,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                self.state = StringState::Hex { digits: 0, unit: 0, high: None };
                return;
            }
            _ => {
                self.is_well_formed = false;
                return;
            }
        };
        self.content.push(decoded);
    }

    fn read_hex(&mut self, digits: u8, unit: u16, high: Option<u16>) {
        if digits < 4 {
            self.state = StringState::Hex { digits, unit, high };
            return;
        }
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.state = StringState::Pair { high: unit, backslash: false };
            return;
        }
        self.state = StringState::Plain;
        match char::decode_utf16(high.into_iter().chain([unit])).next() {
            Some(Ok(decoded)) => self.content.push(decoded),
            _ => self.is_well_formed = false,
        }
    }

    fn reject_escape(&mut self, at: usize) -> StringStep {
        self.is_well_formed = false;
        self.state = StringState::Plain;
        StringStep::Continue(at)
    }
}
