//! Tracks code in Markdown, byte by byte: in code a call is quoted (R5).

const MIN_FENCE_TICKS: usize = 3;

/// Tracks whether the current position in a text is inside inline code or a fence.
///
/// Inline code ends with its line at the latest, so a stray backtick does not hide the rest of a reply.
#[derive(Debug)]
pub(crate) struct CodeTracker {
    /// Whether only blanks precede the current position on its line.
    pub(crate) is_line_start: bool,
    /// The first non-blank byte of the line; 0 before it.
    first_byte: u8,
    /// The number of backticks that opened the current inline code; 0 outside.
    inline: usize,
    /// The number of backticks directly before the current position, and whether they begin their line.
    run: usize,
    run_at_line_start: bool,
    fence: Option<Fence>,
}

#[derive(Debug)]
struct Fence {
    ticks: usize,
    /// Whether the fence may hold a call.
    tentative: bool,
    /// Whether the current position is still on the opening line.
    opening: bool,
}

impl Default for CodeTracker {
    fn default() -> Self {
        Self { is_line_start: true, first_byte: 0, inline: 0, run: 0, run_at_line_start: false, fence: None }
    }
}

impl CodeTracker {
    pub(crate) fn is_json_line(&self) -> bool {
        matches!(self.first_byte, b'{' | b'[' | b'"')
    }

    pub(crate) fn is_in_inline_code(&self) -> bool {
        self.inline > 0
    }

    pub(crate) fn fence(&self) -> Option<usize> {
        self.fence.as_ref().map(|fence| fence.ticks)
    }

    pub(crate) fn fence_may_hold_call(&self) -> bool {
        self.fence.as_ref().is_some_and(|fence| fence.tentative)
    }

    /// Whether backticks directly precede the current position.
    pub(crate) fn is_in_run(&self) -> bool {
        self.run > 0
    }

    /// Opens a fence that may hold a call; the current position is before its content.
    pub(crate) fn open_fence(&mut self, ticks: usize) {
        self.fence = Some(Fence { ticks, tentative: true, opening: false });
        self.is_line_start = true;
    }

    /// Closes the fence; the current position is after its backticks.
    pub(crate) fn close_fence(&mut self) {
        self.fence = None;
        self.is_line_start = false;
    }

    pub(crate) fn advance_hidden(&mut self) {
        self.end_run(None);
        self.is_line_start = false;
    }

    pub(crate) fn advance_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.advance(bytes[at]);
            at += 1;
            if self.is_plain() {
                let changes = |byte: &u8| matches!(byte, b'\n' | b'`');
                at += bytes[at..].iter().position(changes).unwrap_or(bytes.len() - at);
            }
        }
    }

    /// Whether the state stays the same up to the next line break or backtick.
    pub(crate) fn is_plain(&self) -> bool {
        !self.is_line_start && self.run == 0
    }

    /// Whether this text continues a line and cannot change any state: no byte of it begins or ends a line, code, a tag
    /// or a call.
    pub(crate) fn is_inert(&self, text: &str) -> bool {
        self.is_plain() && !text.bytes().any(|byte| matches!(byte, b'\n' | b'`' | b'<' | b'>' | b'[' | b']'))
    }

    pub(crate) fn advance(&mut self, byte: u8) {
        if self.is_line_start && !byte.is_ascii_whitespace() {
            self.first_byte = byte;
        }
        if byte == b'`' {
            if self.run == 0 {
                self.run_at_line_start = self.is_line_start;
            }
            self.run += 1;
            self.is_line_start = false;
            return;
        }
        self.end_run(Some(byte));
        match byte {
            b'\n' => {
                self.is_line_start = true;
                self.first_byte = 0;
                self.inline = 0;
                if let Some(fence) = &mut self.fence {
                    fence.opening = false;
                }
            }
            b' ' | b'\t' | b'\r' => {}
            _ => self.is_line_start = false,
        }
    }

    /// Ends a run of backticks before the current position; `next` follows it.
    #[inline]
    pub(crate) fn end_run(&mut self, next: Option<u8>) {
        if self.run > 0 {
            self.close_run(next);
        }
    }

    fn close_run(&mut self, next: Option<u8>) {
        let run = std::mem::take(&mut self.run);
        match &self.fence {
            // The same number of backticks on the opening line: it was inline code.
            Some(fence) if fence.opening && fence.ticks == run => self.fence = None,
            Some(fence) => {
                let alone = next.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t'));
                if self.run_at_line_start && run >= fence.ticks && alone {
                    self.fence = None;
                }
            }
            None if self.run_at_line_start && run >= MIN_FENCE_TICKS => {
                self.fence = Some(Fence { ticks: run, tentative: false, opening: true });
            }
            None if self.inline == 0 => self.inline = run,
            None if self.inline == run => self.inline = 0,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CodeTracker;

    fn at_end(text: &str) -> (bool, Option<usize>) {
        let mut code = CodeTracker::default();
        code.advance_text(text);
        code.end_run(None);
        (code.is_in_inline_code(), code.fence())
    }

    #[test]
    fn inline_code_ends_at_backticks_or_line_end() {
        assert_eq!(at_end("a `b"), (true, None));
        assert_eq!(at_end("a `b` c"), (false, None));
        assert_eq!(at_end("a ``b` c"), (true, None));
        assert_eq!(at_end("a `b\nc"), (false, None));
    }

    #[test]
    fn fence_needs_closing_backticks_on_their_own_line() {
        assert_eq!(at_end("```json\n{"), (false, Some(3)));
        assert_eq!(at_end("a\n  ````\n```\n"), (false, Some(4)));
        assert_eq!(at_end("```\nx\n```\n"), (false, None));
        assert_eq!(at_end("```\nx ```\n"), (false, Some(3)));
        assert_eq!(at_end("```inline``` x"), (false, None));
    }
}
