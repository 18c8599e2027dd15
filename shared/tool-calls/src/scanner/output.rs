use crate::segment::{Malformed, ParsedCall, Segment};

/// Maximum number of bytes held because the following text may confirm calls, and of white space around calls.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// The output in order, and the unconfirmed calls.
///
/// White space between a call and another call, the beginning or the end of the reply belongs to the calls: it is shown
/// only together with later text. All other text is shown as written.
#[derive(Default)]
pub(super) struct Output {
    /// What is certain by now. [`push_into`](super::CallScanner::push_into) has the caller's segments here.
    pub(super) segments: Vec<Segment>,
    /// White space since text was last shown; the part after `gap_from` came after the last call.
    gap: String,
    gap_from: usize,
    pub(super) text_shown: bool,
    /// Calls that count only if nothing but calls and white space follows, and the text after them.
    held: Vec<HeldSegment>,
    held_bytes: usize,
}

/// A stretch of the reply after the first unconfirmed call.
struct HeldSegment {
    raw: String,
    calls: Vec<ParsedCall>,
    /// Whether the calls count regardless of the following text.
    confirmed: bool,
}

impl Output {
    pub(super) fn has_unconfirmed(&self) -> bool {
        !self.held.is_empty()
    }

    pub(super) fn push_text(&mut self, text: &str) {
        if self.held.is_empty() {
            self.emit_text(text);
        } else if text.trim().is_empty() {
            self.push_calls(text, Vec::new(), false);
        } else {
            self.reject();
            self.emit_text(text);
        }
    }

    /// Drops the white space after the last call, which turned out to be inside its wrapper.
    pub(super) fn drop_gap(&mut self) {
        self.gap.truncate(self.gap_from);
    }

    /// Adds calls. Unless they are confirmed, they become text if anything but calls and white space follows.
    pub(super) fn push_calls(&mut self, raw: &str, calls: Vec<ParsedCall>, confirmed: bool) {
        if confirmed && self.held.is_empty() {
            return self.emit_calls(calls);
        }
        self.held_bytes += raw.len();
        match self.held.last_mut() {
            Some(last) if calls.is_empty() && last.calls.is_empty() => last.raw.push_str(raw),
            _ => self.held.push(HeldSegment { raw: raw.to_owned(), calls, confirmed }),
        }
        if self.held_bytes > MAX_HELD_BYTES {
            self.reject();
        }
    }

    pub(super) fn push_malformed(&mut self, malformed: Malformed) {
        self.reject();
        self.gap.clear();
        self.emit_calls(Vec::new());
        self.segments.push(Segment::Malformed(malformed));
    }

    /// Ends the reply: unconfirmed calls are confirmed.
    pub(super) fn finish(&mut self) {
        let calls = self.held.drain(..).flat_map(|held| held.calls);
        self.segments.extend(calls.map(Segment::Call));
    }

    /// Handles other content: the held text is shown, and only confirmed calls are emitted.
    fn reject(&mut self) {
        self.held_bytes = 0;
        for held in std::mem::take(&mut self.held) {
            if held.confirmed {
                self.emit_calls(held.calls);
            } else {
                self.emit_text(&held.raw);
            }
        }
    }

    fn emit_calls(&mut self, calls: Vec<ParsedCall>) {
        self.text_shown = false;
        self.gap_from = self.gap.len();
        self.segments.extend(calls.into_iter().map(Segment::Call));
    }

    fn emit_text(&mut self, text: &str) {
        if self.text_shown {
            return self.append_text(text);
        }
        let space = text.len() - text.trim_start().len();
        self.gap.push_str(&text[..space]);
        if space < text.len() || self.gap.len() > MAX_HELD_BYTES {
            self.text_shown = true;
            self.gap_from = 0;
            let gap = std::mem::take(&mut self.gap);
            self.append_text(&gap);
            self.append_text(&text[space..]);
        }
    }

    fn append_text(&mut self, text: &str) {
        match self.segments.last_mut() {
            _ if text.is_empty() => {}
            Some(Segment::Text(last)) => last.push_str(text),
            _ => self.segments.push(Segment::Text(text.to_owned())),
        }
    }
}
