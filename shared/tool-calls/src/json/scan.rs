use serde_json::{Map, Value};

use super::build::{Nesting, ValueBuilder, parse_literal};
use super::text::{StringReader, StringStep};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanStep {
    /// The text is used up; continue from this position when more arrives.
    NeedMore(usize),
    /// The value is complete and ends before this position.
    End(usize),
    /// A `<` that JSON does not allow is at this position: a marker, or a defect.
    Foreign(usize),
    /// With early checks: before this position a key or a value of the two outer levels ended, or the JSON deviated.
    EarlyCheck(usize),
}

/// Reads one JSON value from text that grows at its end.
///
/// After a deviation the scan is [`broken`](JsonScan::broken) and applies heuristics: a quote that is not followed by
/// `,`, `:`, `}` or `]` did not end its string; a missing comma, foreign quotes, bare literals and comments are skipped;
/// a bracket closes the nearest open one of its kind.
#[derive(Default)]
pub(crate) struct JsonScan {
    pub(super) state: LexState,
    pub(super) expect: Expect,
    nesting: Nesting,
    builder: ValueBuilder,
    pub(super) string: StringReader,
    pub(super) string_just_ended: bool,
    pub(crate) broken: bool,
    early_checks: EarlyChecks,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum LexState {
    #[default]
    Structure,
    String,
    Literal {
        start: usize,
    },
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
enum EarlyChecks {
    #[default]
    Off,
    On,
    Due,
}

impl JsonScan {
    /// Creates a scan that reports positions where the caller can decide early whether the value matters.
    pub(crate) fn with_early_checks() -> Self {
        Self { early_checks: EarlyChecks::On, ..Self::default() }
    }

    /// Continues at position `at` of `text`, which starts with the text read before.
    pub(crate) fn advance(&mut self, text: &str, at: usize) -> ScanStep {
        let mut at = at;
        while at < text.len() {
            let step = match self.state {
                LexState::Structure => self.read_structure(text, at),
                LexState::String => self.read_string(text, at),
                LexState::Literal { start } => self.read_literal(text, at, start),
                _ => self.read_comment(text, at),
            };
            match step {
                ScanStep::NeedMore(next) if self.take_due_check() => return ScanStep::EarlyCheck(next),
                ScanStep::NeedMore(next) => at = next,
                end => return end,
            }
        }
        ScanStep::NeedMore(at)
    }

    fn take_due_check(&mut self) -> bool {
        let due = self.early_checks == EarlyChecks::Due || (self.early_checks == EarlyChecks::On && self.broken);
        if due {
            self.early_checks = if self.broken { EarlyChecks::Off } else { EarlyChecks::On };
        }
        due
    }

    /// Ends the text: a number or literal at its end is complete. Returns whether the value is.
    pub(crate) fn finish(&mut self, text: &str) -> bool {
        if let LexState::Literal { start } = self.state {
            self.end_literal(&text[start..]);
        }
        self.state == LexState::Structure && self.nesting.depth() == 0 && self.expect == Expect::CommaOrEnd
    }

    pub(crate) fn is_in_string(&self) -> bool {
        self.state == LexState::String
    }

    /// Whether a quote did not end the string that it seemed to end, so the ends of strings are uncertain.
    pub(crate) fn had_false_end(&self) -> bool {
        self.string.had_false_end
    }

    /// Takes the value if it is complete and well-formed.
    pub(crate) fn take(&mut self) -> Option<Value> {
        if self.broken { None } else { self.builder.take() }
    }

    /// The members so far of the outermost object (in an array: of the current item), up to the first deviation, and the key
    /// whose value is being read.
    pub(crate) fn outer(&self) -> Option<(&Map<String, Value>, Option<&str>)> {
        self.builder.outer()
    }

    fn read_structure(&mut self, text: &str, at: usize) -> ScanStep {
        let byte = text.as_bytes()[at];
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => return ScanStep::NeedMore(at + 1),
            b'"' => return ScanStep::NeedMore(self.read_quote(text, at)),
            b'{' | b'[' if self.expects_value() => self.open(byte == b'{'),
            b'}' | b']' => {
                if self.close(byte == b'}') {
                    return ScanStep::End(at + 1);
                }
            }
            b':' if self.expect == Expect::Colon => self.set_expect(Expect::Value),
            b',' if self.expect == Expect::CommaOrEnd => self.read_comma(),
            b'<' => return ScanStep::Foreign(at),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if self.expects_value() => {
                self.state = LexState::Literal { start: at };
                return ScanStep::NeedMore(at);
            }
            _ => return self.read_unexpected(text, at),
        }
        ScanStep::NeedMore(at + 1)
    }

    fn expects_value(&self) -> bool {
        matches!(self.expect, Expect::Value | Expect::ItemOrEnd)
    }

    pub(super) fn set_expect(&mut self, expect: Expect) {
        self.expect = expect;
        self.string_just_ended = false;
    }

    pub(super) fn read_comma(&mut self) {
        let object = self.nesting.inner() == Some(true);
        self.set_expect(if object { Expect::Key } else { Expect::Value });
    }

    pub(super) fn open(&mut self, object: bool) {
        self.nesting.open(object);
        if !self.broken && !self.builder.open(object) {
            self.broken = true;
        }
        self.set_expect(if object { Expect::KeyOrEnd } else { Expect::ItemOrEnd });
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
            self.builder.close();
        }
        self.set_expect(Expect::CommaOrEnd);
        self.nesting.depth() == 0
    }

    pub(super) fn open_string(&mut self, quote: char, start: usize) {
        self.string_just_ended = false;
        self.string.open(quote, start);
        self.state = LexState::String;
    }

    fn read_string(&mut self, text: &str, at: usize) -> ScanStep {
        let read = self.string.advance(text, at);
        self.broken |= self.string.is_malformed;
        match read {
            StringStep::Continue(next) => ScanStep::NeedMore(next),
            StringStep::Foreign(position) => ScanStep::Foreign(position),
            StringStep::End(after) => self.end_string(text, after),
        }
    }

    fn end_string(&mut self, text: &str, after: usize) -> ScanStep {
        self.state = LexState::Structure;
        self.string_just_ended = true;
        if self.early_checks == EarlyChecks::On && self.nesting.depth() <= 2 {
            self.early_checks = EarlyChecks::Due;
        }
        let is_key = matches!(self.expect, Expect::Key | Expect::KeyOrEnd);
        self.expect = if is_key { Expect::Colon } else { Expect::CommaOrEnd };
        if !self.broken {
            let content = self.string.content(text, after);
            if is_key { self.builder.key(content) } else { self.builder.value(Value::String(content)) }
        }
        if !is_key && self.nesting.depth() == 0 { ScanStep::End(after) } else { ScanStep::NeedMore(after) }
    }

    fn read_literal(&mut self, text: &str, at: usize, start: usize) -> ScanStep {
        let ends = |c: char| matches!(c, ',' | ':' | '}' | ']' | '"' | '<' | '，' | '：') || c.is_ascii_whitespace();
        // The first character is always consumed, which guarantees progress.
        let first = if at == start { text[at..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        let Some(length) = text[at + first..].find(ends) else { return ScanStep::NeedMore(text.len()) };
        let stop = at + first + length;
        self.end_literal(&text[start..stop]);
        if self.nesting.depth() == 0 { ScanStep::End(stop) } else { ScanStep::NeedMore(stop) }
    }

    fn end_literal(&mut self, text: &str) {
        self.state = LexState::Structure;
        if matches!(self.expect, Expect::Key | Expect::KeyOrEnd) {
            self.broken = true;
            self.set_expect(Expect::Colon);
            return;
        }
        self.set_expect(Expect::CommaOrEnd);
        match parse_literal(text) {
            Some(value) if !self.broken => self.builder.value(value),
            Some(_) => {}
            None => self.broken = true,
        }
    }
}
