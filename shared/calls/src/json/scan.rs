use serde_json::{Map, Value};

use super::build::{Builder, word};

/// What [`Scan::advance`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The text is used up; go on from this position when there is more.
    More(usize),
    /// The value is complete and ends before this position.
    End(usize),
    /// At this position stands a `<` that JSON has no place for: a marker, or a defect.
    Foreign(usize),
    /// Watched: before this position a key or a value near the outside ended, or something was not as JSON wants it.
    News(usize),
}

/// Reads one JSON value from text that grows at its end.
///
/// A deviation makes the scan [`broken`](Scan::broken) and leaves the guessing to a few rules: a quote that is not
/// followed by `,`, `:`, `}` or `]` did not end its string; a missing comma, foreign quotes, bare words and comments
/// are passed over; brackets close what they can.
#[derive(Default)]
pub(crate) struct Scan {
    place: Place,
    expect: Expect,
    /// True for an object, false for an array.
    nesting: Vec<bool>,
    build: Builder,
    /// The content so far of the string or word that is being read.
    text: String,
    /// The quote that ended the string right before this place.
    ended: Option<char>,
    broken: bool,
    ambiguous: bool,
    watched: bool,
    news: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Structure,
    Text {
        quote: char,
    },
    Escape {
        quote: char,
    },
    Hex {
        quote: char,
        digits: u8,
        unit: u16,
        high: Option<u16>,
    },
    /// A high surrogate was read: `\u` and the low one must follow.
    Pair {
        quote: char,
        high: u16,
        slash: bool,
    },
    Word,
    Slash,
    LineComment,
    BlockComment {
        star: bool,
    },
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Expect {
    #[default]
    Value,
    ItemOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
}

impl Scan {
    /// A scan that reports what may decide early whether the value is of interest.
    pub(crate) fn watched() -> Self {
        Self { watched: true, ..Self::default() }
    }

    /// Reads on from position `at` of `text`, which starts with what was read before.
    pub(crate) fn advance(&mut self, text: &str, at: usize) -> Seen {
        let mut at = at;
        while at < text.len() {
            let seen = match self.place {
                Place::Structure => self.structure(text, at),
                Place::Text { quote } => self.string(text, at, quote),
                Place::Word => self.word(text, at),
                _ => self.detail(text, at),
            };
            match seen {
                Seen::More(next) if self.watched && (self.news || self.broken) => {
                    self.news = false;
                    self.watched = !self.broken;
                    return Seen::News(next);
                }
                Seen::More(next) => at = next,
                end => return end,
            }
        }
        Seen::More(at)
    }

    /// Ends the text: a number or word at its end is complete. Says whether the value is.
    pub(crate) fn finish(&mut self) -> bool {
        if self.place == Place::Word {
            self.end_word();
        }
        self.place == Place::Structure && self.nesting.is_empty() && self.expect == Expect::CommaOrEnd
    }

    /// Whether something was not as JSON wants it.
    pub(crate) fn broken(&self) -> bool {
        self.broken
    }

    /// Whether the place is inside a string.
    pub(crate) fn in_string(&self) -> bool {
        !matches!(
            self.place,
            Place::Structure | Place::Word | Place::Slash | Place::LineComment | Place::BlockComment { .. }
        )
    }

    /// The value, once it is complete and if it was well-formed.
    pub(crate) fn take(&mut self) -> Option<Value> {
        if self.broken { None } else { self.build.take() }
    }

    /// The members so far of the outermost object (in an array: of the one being read), up to what is broken.
    pub(crate) fn outer(&self) -> Option<&Map<String, Value>> {
        self.build.outer()
    }

    /// The key in the outermost object whose value is being read.
    pub(crate) fn outer_key(&self) -> Option<&str> {
        self.build.outer_key()
    }

    /// Goes on behind a `<` that was reported as foreign and is no marker.
    pub(crate) fn pass(&mut self, at: usize) -> usize {
        if self.in_string() {
            return at + 1;
        }
        self.broken = true;
        if self.reopen() { at } else { at + 1 }
    }

    fn structure(&mut self, text: &str, at: usize) -> Seen {
        let byte = text.as_bytes()[at];
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => return Seen::More(at + 1),
            b'"' => return self.open_string(text, at),
            b'{' | b'[' if self.wants_value() => self.open(byte == b'{'),
            b'}' | b']' => {
                if self.close(byte == b'}') {
                    return Seen::End(at + 1);
                }
            }
            b':' if self.expect == Expect::Colon => self.expect_now(Expect::Value),
            b',' if self.expect == Expect::CommaOrEnd => self.comma(),
            b'<' => return Seen::Foreign(at),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if self.wants_value() => {
                self.place = Place::Word;
                return Seen::More(at);
            }
            _ => return self.unexpected(text, at),
        }
        Seen::More(at + 1)
    }

    fn wants_value(&self) -> bool {
        matches!(self.expect, Expect::Value | Expect::ItemOrEnd)
    }

    fn expect_now(&mut self, expect: Expect) {
        self.expect = expect;
        self.ended = None;
    }

    fn comma(&mut self) {
        let object = self.nesting.last().copied().unwrap_or_default();
        self.expect_now(if object { Expect::Key } else { Expect::Value });
    }

    fn open(&mut self, object: bool) {
        self.nesting.push(object);
        if !self.broken && !self.build.open(object) {
            self.broken = true;
        }
        self.expect_now(if object { Expect::KeyOrEnd } else { Expect::ItemOrEnd });
    }

    /// Closes the innermost container, or the nearest of this kind; true when that was the outermost one.
    fn close(&mut self, object: bool) -> bool {
        let fits = match self.expect {
            Expect::CommaOrEnd => true,
            Expect::KeyOrEnd => object,
            Expect::ItemOrEnd => !object,
            _ => false,
        };
        if !fits || self.nesting.last() != Some(&object) {
            self.broken = true;
            while self.nesting.last().is_some_and(|open| *open != object) && self.nesting.contains(&object) {
                self.nesting.pop();
            }
        }
        self.nesting.pop();
        if !self.broken {
            self.build.close();
        }
        self.expect_now(Expect::CommaOrEnd);
        self.nesting.is_empty()
    }

    fn open_string(&mut self, text: &str, at: usize) -> Seen {
        if self.ended.is_some() && text[..at].ends_with('"') {
            // Two quotes side by side where a comma is due: the second one belongs to the string.
            self.reopen();
            return Seen::More(at + 1);
        }
        if matches!(self.expect, Expect::Colon | Expect::CommaOrEnd) {
            self.broken = true;
        }
        self.start_string('"');
        Seen::More(at + 1)
    }

    fn start_string(&mut self, quote: char) {
        self.text.clear();
        self.ended = None;
        self.place = Place::Text { quote };
    }

    /// The quote before this place did not end its string after all; false when there was none.
    fn reopen(&mut self) -> bool {
        let Some(quote) = self.ended.take() else { return false };
        self.broken = true;
        self.ambiguous = true;
        self.place = Place::Text { quote };
        true
    }

    fn unexpected(&mut self, text: &str, at: usize) -> Seen {
        let Some(found) = text[at..].chars().next() else { return Seen::More(text.len()) };
        let after = at + found.len_utf8();
        match found {
            '：' if self.expect == Expect::Colon => self.expect_now(Expect::Value),
            '，' if self.expect == Expect::CommaOrEnd => self.comma(),
            _ if self.ended.is_some() => {
                self.reopen();
                return Seen::More(at);
            }
            '\'' => self.start_string('\''),
            '“' | '”' => self.start_string('”'),
            '/' => self.place = Place::Slash,
            '{' | '[' => self.open(found == '{'),
            ':' | ',' => self.expect_now(if found == ':' { Expect::Value } else { Expect::CommaOrEnd }),
            _ => self.place = Place::Word,
        }
        self.broken = true;
        Seen::More(if self.place == Place::Word { at } else { after })
    }

    fn string(&mut self, text: &str, at: usize, quote: char) -> Seen {
        let mut lead = [0; 4];
        let lead = quote.encode_utf8(&mut lead).as_bytes()[0];
        let rest = &text.as_bytes()[at..];
        let stop = rest
            .iter()
            .position(|&byte| byte < b' ' || byte == lead || byte == b'\\' || (byte == b'<' && self.ambiguous))
            .unwrap_or(rest.len());
        let found = at + stop;
        if !self.broken {
            self.text.push_str(&text[at..found]);
        }
        let Some(next) = text[found..].chars().next() else { return Seen::More(found) };
        match next {
            '\\' => self.place = Place::Escape { quote },
            '<' => return Seen::Foreign(found),
            _ if next == quote => return self.end_string(quote, found + next.len_utf8()),
            _ => self.broken |= next < ' ',
        }
        Seen::More(found + next.len_utf8())
    }

    fn end_string(&mut self, quote: char, after: usize) -> Seen {
        self.place = Place::Structure;
        self.ended = Some(quote);
        self.news = self.nesting.len() <= 2;
        let content = std::mem::take(&mut self.text);
        if matches!(self.expect, Expect::Key | Expect::KeyOrEnd) {
            self.expect = Expect::Colon;
            if !self.broken {
                self.build.key(content);
            }
            return Seen::More(after);
        }
        self.expect = Expect::CommaOrEnd;
        if !self.broken {
            self.build.value(Value::String(content));
        }
        if self.nesting.is_empty() { Seen::End(after) } else { Seen::More(after) }
    }

    fn word(&mut self, text: &str, at: usize) -> Seen {
        let ends = |c: char| matches!(c, ',' | ':' | '}' | ']' | '"' | '<' | '，' | '：') || c.is_ascii_whitespace();
        // The first character is taken whatever it is, so that there is always progress.
        let first = if self.text.is_empty() { text[at..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        let length = text[at + first..].find(ends).map(|length| first + length);
        let stop = length.map_or(text.len(), |length| at + length);
        self.text.push_str(&text[at..stop]);
        if length.is_none() {
            return Seen::More(stop);
        }
        self.end_word();
        if self.nesting.is_empty() { Seen::End(stop) } else { Seen::More(stop) }
    }

    fn end_word(&mut self) {
        self.place = Place::Structure;
        let text = std::mem::take(&mut self.text);
        if matches!(self.expect, Expect::Key | Expect::KeyOrEnd) {
            self.broken = true;
            self.expect_now(Expect::Colon);
            return;
        }
        self.expect_now(Expect::CommaOrEnd);
        match word(&text) {
            Some(value) if !self.broken => self.build.value(value),
            Some(_) => {}
            None => self.broken = true,
        }
    }

    /// The places that are left after one character.
    fn detail(&mut self, text: &str, at: usize) -> Seen {
        let Some(found) = text[at..].chars().next() else { return Seen::More(text.len()) };
        let after = at + found.len_utf8();
        match self.place {
            Place::Escape { quote } => self.escape(found, quote),
            Place::Hex { quote, digits, unit, high } => {
                let Some(digit) = found.to_digit(16).and_then(|digit| u16::try_from(digit).ok()) else {
                    return self.bad_escape(quote, at);
                };
                self.hex(quote, digits + 1, unit << 4 | digit, high);
            }
            Place::Pair { quote, high, slash } => match (slash, found) {
                (false, '\\') => self.place = Place::Pair { quote, high, slash: true },
                (true, 'u') => self.place = Place::Hex { quote, digits: 0, unit: 0, high: Some(high) },
                (true, _) => {
                    self.broken = true;
                    self.place = Place::Escape { quote };
                    return Seen::More(at);
                }
                (false, _) => return self.bad_escape(quote, at),
            },
            Place::Slash => return self.slash(found, after),
            Place::LineComment => {
                if matches!(found, '\n' | '\r') {
                    self.place = Place::Structure;
                }
            }
            Place::BlockComment { star } => {
                self.place =
                    if star && found == '/' { Place::Structure } else { Place::BlockComment { star: found == '*' } };
            }
            Place::Structure | Place::Text { .. } | Place::Word => {}
        }
        Seen::More(after)
    }

    fn slash(&mut self, found: char, after: usize) -> Seen {
        self.place = match found {
            '/' => Place::LineComment,
            '*' => Place::BlockComment { star: false },
            _ => Place::Structure,
        };
        Seen::More(if self.place == Place::Structure { after - found.len_utf8() } else { after })
    }

    fn escape(&mut self, found: char, quote: char) {
        let meant = match found {
            '"' | '\\' | '/' => found,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                self.place = Place::Hex { quote, digits: 0, unit: 0, high: None };
                return;
            }
            _ => {
                self.broken = true;
                found
            }
        };
        self.text.push(meant);
        self.place = Place::Text { quote };
    }

    fn hex(&mut self, quote: char, digits: u8, unit: u16, high: Option<u16>) {
        if digits < 4 {
            self.place = Place::Hex { quote, digits, unit, high };
            return;
        }
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.place = Place::Pair { quote, high: unit, slash: false };
            return;
        }
        self.place = Place::Text { quote };
        let units = high.into_iter().chain([unit]);
        match char::decode_utf16(units).next() {
            Some(Ok(decoded)) => self.text.push(decoded),
            _ => self.broken = true,
        }
    }

    fn bad_escape(&mut self, quote: char, at: usize) -> Seen {
        self.broken = true;
        self.place = Place::Text { quote };
        Seen::More(at)
    }
}
