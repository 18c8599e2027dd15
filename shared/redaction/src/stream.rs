use crate::Redactor;

/// Number of bytes at the end of a line that are held back: the longest personal data, with separators between its digits.
const HELD_BYTES: usize = 256;

/// Number of bytes before the held ones that a search reads too, because a keyword identifies the digits after it.
const CONTEXT_BYTES: usize = 512;

/// Number of bytes from which on a search is worth while.
const MIN_NEW_BYTES: usize = 32;

/// Maximum number of held bytes of a line in which personal data does not end.
const MAX_HELD_BYTES: usize = 4096;

/// Redacts a text that arrives in deltas, independent of chunking: it holds back the end of an unfinished line.
#[derive(Clone)]
pub struct StreamRedactor {
    redactor: Redactor,
    /// The end of the line so far: context that was returned, then held text.
    line: String,
    /// How many bytes of `line` were returned.
    returned: usize,
}

impl StreamRedactor {
    /// Replaces what `redactor` replaces.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, line: String::new(), returned: 0 }
    }

    /// Adds a delta; returns the redacted text that later text cannot change.
    pub fn push(&mut self, delta: &str) -> String {
        let mut redacted = String::new();
        for piece in delta.split_inclusive(['\n', '\r']) {
            self.line.push_str(piece);
            if piece.ends_with(['\n', '\r']) {
                redacted.push_str(&self.finish());
            }
        }
        let held = self.line.len() - self.returned;
        if held > MAX_HELD_BYTES {
            self.release(self.line.len(), &mut redacted);
        } else if held >= HELD_BYTES + MIN_NEW_BYTES {
            self.release(self.line.floor_char_boundary(self.line.len() - HELD_BYTES), &mut redacted);
        }
        let context = self.returned.saturating_sub(CONTEXT_BYTES);
        if context > CONTEXT_BYTES {
            let context = self.line.floor_char_boundary(context);
            self.line.drain(..context);
            self.returned -= context;
        }
        redacted
    }

    /// Ends the text; returns the rest of it, redacted.
    pub fn finish(&mut self) -> String {
        let mut redacted = String::new();
        self.release(self.line.len(), &mut redacted);
        self.discard();
        redacted
    }

    /// Forgets what is held back.
    pub fn discard(&mut self) {
        self.line.clear();
        self.returned = 0;
    }

    /// Appends the redacted text up to `end`, or to the start of data that crosses it.
    fn release(&mut self, end: usize, out: &mut String) {
        let (mut from, mut end) = (self.returned, end);
        for span in self.redactor.spans(&self.line) {
            if span.range.end <= from {
                continue;
            }
            let start = span.range.start.max(from);
            if span.range.end > end {
                end = end.min(start);
                break;
            }
            out.push_str(self.line.get(from..start).unwrap_or_default());
            out.push_str(span.placeholder);
            from = span.range.end;
        }
        out.push_str(self.line.get(from..end).unwrap_or_default());
        self.returned = end;
    }
}

#[cfg(test)]
mod tests {
    use platform::settings::Settings;

    use super::*;

    fn redactor() -> Redactor {
        let patterns = r#"[{"name":"staff","pattern":"\\bE\\d{6}\\b"}]"#;
        Redactor::from_settings(&Settings::from_pairs([("MASK", "all"), ("MASK_PATTERNS", patterns)])).unwrap()
    }

    fn stream<'a>(deltas: impl IntoIterator<Item = &'a str>) -> String {
        let mut stream = StreamRedactor::new(redactor());
        let mut text: String = deltas.into_iter().map(|delta| stream.push(delta)).collect();
        text.push_str(&stream.finish());
        text
    }

    fn texts() -> Vec<String> {
        let data = "请拨 138 0013 8000 或写信给 ada@example.com，身份证 11010519850722007X；card 4111 2222 3333 4448, E123456.";
        let prose = "特斯拉第三季度营收 281 亿美元，同比增长 12%。The result of 2024-11-05 was 3.14159. ";
        vec![
            data.to_owned(),
            format!("{data}\n{prose}\r\n电话：\n13800138000\n"),
            format!("{}{data}{}{data}", prose.repeat(4), prose.repeat(3)),
            format!("{}{data}", "。".repeat(100)),
            format!("{}电话 {}62753000{}", prose.repeat(3), " ".repeat(9), "汉".repeat(100)),
        ]
    }

    #[test]
    fn stream_equals_the_whole_at_every_split() {
        for text in texts() {
            let whole = redactor().redact_text(&text).into_owned();
            assert!(whole.contains("[phone]") && !whole.contains("138 0013"), "{whole}");
            for (at, _) in text.char_indices() {
                let (before, after) = text.split_at(at);
                assert_eq!(stream([before, after]), whole, "{before}|");
            }
            let characters: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(stream(characters.iter().map(String::as_str)), whole);
        }
    }

    #[test]
    fn held_text_is_bounded() {
        let mut stream = StreamRedactor::new(redactor());
        let (mut sent, mut received) = (0, 0);
        for piece in ["汉字", "5", " ", "a@b"].iter().cycle().take(20_000) {
            (sent, received) = (sent + piece.len(), received + stream.push(piece).len());
            assert!(stream.line.len() <= MAX_HELD_BYTES + 3 * CONTEXT_BYTES, "{}", stream.line.len());
        }
        assert!(received > sent / 2, "{received} of {sent}");
    }

    #[test]
    fn discarded_text_never_appears() {
        let mut stream = StreamRedactor::new(redactor());
        assert_eq!(stream.push("138 0013"), "");
        stream.discard();
        assert_eq!((stream.push("8000\n"), stream.finish()), ("8000\n".to_owned(), String::new()));
    }
}
