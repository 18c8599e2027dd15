use serde_json::{Map, Value};

use super::build::{Builder, word};
use super::nesting::Nesting;
use super::text::{Read, Text};

/// The result of [`JsonScan::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The text is used up; continue from this position when more arrives.
    More(usize),
    /// The value is complete and ends before this position.
    End(usize),
    /// A `<` that JSON does not allow is at this position: a marker, or a defect.
    Foreign(usize),
    /// With early checks: before this position a key or a value of the two outer levels ended, or the JSON deviated.
    News(usize),
}

/// Reads one JSON value from text that grows at its end.
///
/// After a deviation the scan is [`broken`](JsonScan::is_broken) and applies heuristics: a quote that is not followed by
/// `,`, `:`, `}` or `]` did not end its string; a missing comma, foreign quotes, bare literals and comments are skipped;
/// a bracket closes the nearest open one of its kind.
#[derive(Default)]
pub(crate) struct Scan {
    pub(super) place: Place,
    pub(super) expect: Expect,
    nesting: Nesting,
    build: Builder,
    pub(super) string: Text,
    word: String,
    /// Whether a string ended directly before the current position.
    pub(super) ended: bool,
    pub(super) broken: bool,
    watch: Watch,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Place {
    #[default]
    Structure,
    String,
    Word,
    /// After a slash outside strings.
    Slash,
    LineComment,
    BlockComment {
        star: bool,
    },
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Expect {
    #[default]
    Value,
    ItemOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Watch {
    #[default]
    Off,
    On,
    News,
}

impl Scan {
    /// Creates a scan that reports positions where the caller can decide early whether the value matters.
    pub(crate) fn watched() -> Self {
        Self { watch: Watch::On, ..Self::default() }
    }

    /// Continues at position `at` of `text`, which starts with the text read before.
    pub(crate) fn advance(&mut self, text: &str, at: usize) -> Seen {
        let mut at = at;
        while at < text.len() {
            let seen = match self.place {
                Place::Structure => self.structure(text, at),
                Place::String => self.string(text, at),
                Place::Word => self.word(text, at),
                _ => self.comment(text, at),
            };
            match seen {
                Seen::More(next) if self.is_news() => return Seen::News(next),
                Seen::More(next) => at = next,
                end => return end,
            }
        }
        Seen::More(at)
    }

    fn is_news(&mut self) -> bool {
        let news = self.watch == Watch::News || (self.watch == Watch::On && self.broken);
        if news {
            self.watch = if self.broken { Watch::Off } else { Watch::On };
        }
        news
    }

    /// Ends the text: a number or literal at its end is complete. Returns whether the value is.
    pub(crate) fn finish(&mut self) -> bool {
        if self.place == Place::Word {
            self.end_word();
        }
        self.place == Place::Structure && self.nesting.depth() == 0 && self.expect == Expect::CommaOrEnd
    }

    /// Whether the text deviated from JSON.
    pub(crate) fn broken(&self) -> bool {
        self.broken
    }

    /// Whether the current position is inside a string.
    pub(crate) fn in_string(&self) -> bool {
        self.place == Place::String
    }

    /// Whether a quote did not end the string that it seemed to end, so the ends of strings are uncertain.
    pub(crate) fn misled(&self) -> bool {
        self.string.misled
    }

    /// Takes the value if it is complete and well-formed.
    pub(crate) fn take(&mut self) -> Option<Value> {
        if self.broken { None } else { self.build.take() }
    }

    /// The members so far of the outermost object (in an array: of the current item), up to the first deviation.
    pub(crate) fn outer(&self) -> Option<&Map<String, Value>> {
        self.build.outer()
    }

    /// The key in the outermost object whose value is being read.
    pub(crate) fn outer_key(&self) -> Option<&str> {
        self.build.outer_key()
    }

    fn structure(&mut self, text: &str, at: usize) -> Seen {
        let byte = text.as_bytes()[at];
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => return Seen::More(at + 1),
            b'"' => return Seen::More(self.quote(text, at)),
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

    pub(super) fn expect_now(&mut self, expect: Expect) {
        self.expect = expect;
        self.ended = false;
    }

    pub(super) fn comma(&mut self) {
        let object = self.nesting.inner() == Some(true);
        self.expect_now(if object { Expect::Key } else { Expect::Value });
    }

    pub(super) fn open(&mut self, object: bool) {
        self.nesting.open(object);
        if !self.broken && !self.build.open(object) {
            self.broken = true;
        }
        self.expect_now(if object { Expect::KeyOrEnd } else { Expect::ItemOrEnd });
    }

    /// Closes the innermost container, or the nearest of this kind; returns true if it was the outermost one.
    fn close(&mut self, object: bool) -> bool {
        let fits = match self.expect {
            Expect::CommaOrEnd => true,
            Expect::KeyOrEnd => object,
            Expect::ItemOrEnd => !object,
            _ => false,
        };
        self.broken |= !fits || self.nesting.inner() != Some(object);
        self.nesting.close(object);
        if !self.broken {
            self.build.close();
        }
        self.expect_now(Expect::CommaOrEnd);
        self.nesting.depth() == 0
    }

    pub(super) fn open_string(&mut self, quote: char) {
        self.ended = false;
        self.string.open(quote);
        self.place = Place::String;
    }

    fn string(&mut self, text: &str, at: usize) -> Seen {
        let read = self.string.advance(text, at);
        self.broken |= !self.string.sound;
        match read {
            Read::On(next) => Seen::More(next),
            Read::Foreign(place) => Seen::Foreign(place),
            Read::End(after) => self.end_string(after),
        }
    }

    fn end_string(&mut self, after: usize) -> Seen {
        self.place = Place::Structure;
        self.ended = true;
        let content = self.string.take();
        if self.watch == Watch::On && self.nesting.depth() <= 2 {
            self.watch = Watch::News;
        }
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
        if self.nesting.depth() == 0 { Seen::End(after) } else { Seen::More(after) }
    }

    fn word(&mut self, text: &str, at: usize) -> Seen {
        let ends = |c: char| matches!(c, ',' | ':' | '}' | ']' | '"' | '<' | '，' | '：') || c.is_ascii_whitespace();
        // The first character is always consumed, which guarantees progress.
        let first = if self.word.is_empty() { text[at..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        let length = text[at + first..].find(ends).map(|length| first + length);
        let stop = length.map_or(text.len(), |length| at + length);
        self.word.push_str(&text[at..stop]);
        if length.is_none() {
            return Seen::More(stop);
        }
        self.end_word();
        if self.nesting.depth() == 0 { Seen::End(stop) } else { Seen::More(stop) }
    }

    fn end_word(&mut self) {
        self.place = Place::Structure;
        let text = std::mem::take(&mut self.word);
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
}
