/// The result of [`StringReader::advance`].
pub(super) enum Read {
    /// Continue from this position.
    On(usize),
    /// The string ends before this position.
    End(usize),
    /// A `<` is at this position, in a string after a false end.
    Foreign(usize),
}

/// Reads the content of a JSON string and decodes it while it is well-formed.
pub(super) struct Text {
    quote: char,
    content: String,
    place: Place,
    /// Whether the content is still well-formed.
    pub(super) sound: bool,
    /// Whether a quote turned out not to end its string; then an end marker also counts inside strings.
    pub(super) misled: bool,
}

#[derive(Clone, Copy)]
enum Place {
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

impl Default for Text {
    fn default() -> Self {
        Self { quote: '"', content: String::new(), place: Place::Plain, sound: true, misled: false }
    }
}

impl Text {
    /// Starts a string that this quote ends.
    pub(super) fn open(&mut self, quote: char) {
        self.quote = quote;
        self.content.clear();
        self.place = Place::Plain;
    }

    /// Continues the string that just ended: its quote was part of it.
    pub(super) fn reopen(&mut self) {
        self.sound = false;
        self.misled = true;
    }

    /// Takes the content of the string that ended.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.content)
    }

    /// Continues at position `at`, which is before the end of the text.
    pub(super) fn advance(&mut self, text: &str, at: usize) -> Read {
        let Some(next) = text[at..].chars().next() else { return Read::On(text.len()) };
        let after = at + next.len_utf8();
        match self.place {
            Place::Plain => return self.plain(text, at),
            Place::Escape => self.escape(next),
            Place::Hex { digits, unit, high } => {
                let Some(digit) = next.to_digit(16).and_then(|digit| u16::try_from(digit).ok()) else {
                    return self.bad_escape(at);
                };
                self.hex(digits + 1, unit << 4 | digit, high);
            }
            Place::Pair { high, backslash: false } if next == '\\' => {
                self.place = Place::Pair { high, backslash: true };
            }
            Place::Pair { high, backslash: true } if next == 'u' => {
                self.place = Place::Hex { digits: 0, unit: 0, high: Some(high) };
            }
            Place::Pair { backslash: true, .. } => {
                self.sound = false;
                self.escape(next);
            }
            Place::Pair { .. } => return self.bad_escape(at),
        }
        Read::On(after)
    }

    /// Reads up to the next special character.
    fn plain(&mut self, text: &str, at: usize) -> Read {
        let mut lead = [0; 4];
        let lead = self.quote.encode_utf8(&mut lead).as_bytes()[0];
        let rest = &text.as_bytes()[at..];
        let special = |&byte: &u8| byte < b' ' || byte == lead || byte == b'\\' || (byte == b'<' && self.misled);
        let found = at + rest.iter().position(special).unwrap_or(rest.len());
        let Some(next) = text[found..].chars().next() else { return self.keep(text, at, found) };
        let after = found + next.len_utf8();
        self.keep(text, at, found);
        match next {
            '\\' => self.place = Place::Escape,
            '<' => return Read::Foreign(found),
            _ if next == self.quote => return Read::End(after),
            _ => {
                // A control character, or another character that shares its first byte with the quote.
                self.sound &= next >= ' ';
                self.keep(text, found, after);
            }
        }
        Read::On(after)
    }

    fn keep(&mut self, text: &str, from: usize, to: usize) -> Read {
        if self.sound {
            self.content.push_str(&text[from..to]);
        }
        Read::On(to)
    }

    fn escape(&mut self, found: char) {
        self.place = Place::Plain;
        let meant = match found {
            '"' | '\\' | '/' => found,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                self.place = Place::Hex { digits: 0, unit: 0, high: None };
                return;
            }
            _ => {
                self.sound = false;
                return;
            }
        };
        self.content.push(meant);
    }

    fn hex(&mut self, digits: u8, unit: u16, high: Option<u16>) {
        if digits < 4 {
            self.place = Place::Hex { digits, unit, high };
            return;
        }
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.place = Place::Pair { high: unit, backslash: false };
            return;
        }
        self.place = Place::Plain;
        match char::decode_utf16(high.into_iter().chain([unit])).next() {
            Some(Ok(decoded)) => self.content.push(decoded),
            _ => self.sound = false,
        }
    }

    fn bad_escape(&mut self, at: usize) -> Read {
        self.sound = false;
        self.place = Place::Plain;
        Read::On(at)
    }
}
