use crate::segment::{Malformed, ParsedCall, Segment};

/// Maximum number of bytes held because the following text may confirm calls, and of white space around calls.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// The output in order, and the unconfirmed calls.
///
/// White space between a call and another call, the beginning or the end of the reply belongs to the calls: it is shown
/// only together with later text. All other text is shown as written.
#[derive(Default)]
pub(super) struct Output {
    /// White space since text was last shown; the part after `gap_from` came after the last call.
    gap: String,
    gap_from: usize,
    /// Whether text was shown since the last call or the beginning.
    text_shown: bool,
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
    /// Whether no text was shown since the last call or the beginning.
    pub(super) fn no_text_shown(&self) -> bool {
        !self.text_shown
    }

    pub(super) fn has_unconfirmed(&self) -> bool {
        !self.held.is_empty()
    }

    pub(super) fn push_text(&mut self, text: &str, segments: &mut Vec<Segment>) {
        if self.held.is_empty() {
            self.emit_text(text, segments);
        } else if text.trim().is_empty() {
            self.push_calls(text, Vec::new(), false, segments);
        } else {
            self.reject(segments);
            self.emit_text(text, segments);
        }
    }

    /// Drops the white space after the last call, which turned out to be inside its wrapper.
    pub(super) fn drop_gap(&mut self) {
        self.gap.truncate(self.gap_from);
    }

    /// Adds calls. Unless they are confirmed, they become text if anything but calls and white space follows.
    pub(super) fn push_calls(
        &mut self,
        raw: &str,
        calls: Vec<ParsedCall>,
        confirmed: bool,
        segments: &mut Vec<Segment>,
    ) {
        if confirmed && self.held.is_empty() {
            return self.emit_calls(calls, segments);
        }
        self.held_bytes += raw.len();
        match self.held.last_mut() {
            Some(last) if calls.is_empty() && last.calls.is_empty() => last.raw.push_str(raw),
            _ => self.held.push(HeldSegment { raw: raw.to_owned(), calls, confirmed }),
        }
        if self.held_bytes > MAX_HELD_BYTES {
            self.reject(segments);
        }
    }

    pub(super) fn push_malformed(&mut self, malformed: Malformed, segments: &mut Vec<Segment>) {
        self.reject(segments);
        self.gap.clear();
        self.emit_calls(Vec::new(), segments);
        segments.push(Segment::Malformed(malformed));
    }

    /// Ends the reply: unconfirmed calls are confirmed.
    pub(super) fn finish(&mut self, segments: &mut Vec<Segment>) {
        let calls = self.held.drain(..).flat_map(|held| held.calls);
        segments.extend(calls.map(Segment::Call));
    }

    /// Handles other content: the held text is shown, and only confirmed calls are emitted.
    fn reject(&mut self, segments: &mut Vec<Segment>) {
        self.held_bytes = 0;
        for held in std::mem::take(&mut self.held) {
            if held.confirmed {
                self.emit_calls(held.calls, segments);
            } else {
                self.emit_text(&held.raw, segments);
            }
        }
    }

    fn emit_calls(&mut self, calls: Vec<ParsedCall>, segments: &mut Vec<Segment>) {
        self.text_shown = false;
        self.gap_from = self.gap.len();
        segments.extend(calls.into_iter().map(Segment::Call));
    }

    fn emit_text(&mut self, text: &str, segments: &mut Vec<Segment>) {
        if self.text_shown {
            return append_text(text, segments);
        }
        let space = text.len() - text.trim_start().len();
        self.gap.push_str(&text[..space]);
        if space < text.len() || self.gap.len() > MAX_HELD_BYTES {
            self.text_shown = true;
            self.gap_from = 0;
            append_text(&std::mem::take(&mut self.gap), segments);
            append_text(&text[space..], segments);
        }
    }
}

fn append_text(text: &str, segments: &mut Vec<Segment>) {
    match segments.last_mut() {
        _ if text.is_empty() => {}
        Some(Segment::Text(last)) => last.push_str(text),
        _ => segments.push(Segment::Text(text.to_owned())),
    }
}
