use crate::piece::{Malformed, ParsedCall, Piece};

/// Maximum number of bytes held because the following text may confirm calls, and of white space around calls.
const MAX_HELD: usize = 64 * 1024;

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
    shown: bool,
    /// Calls that count only if nothing but calls and white space follows, and the text after them.
    held: Vec<Held>,
    held_bytes: usize,
}

/// A stretch of the reply after the first unconfirmed call.
struct Held {
    raw: String,
    calls: Vec<ParsedCall>,
    /// Whether the calls count regardless of the following text.
    sure: bool,
}

impl Output {
    /// Whether no text was shown since the last call or the beginning.
    pub(super) fn fresh(&self) -> bool {
        !self.shown
    }

    /// Whether there are unconfirmed calls.
    pub(super) fn waiting(&self) -> bool {
        !self.held.is_empty()
    }

    pub(super) fn text(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        if self.held.is_empty() {
            self.show(text, pieces);
        } else if text.trim().is_empty() {
            self.hold(text, Vec::new(), false, pieces);
        } else {
            self.reject(pieces);
            self.show(text, pieces);
        }
    }

    /// Drops the white space after the last call, which turned out to be inside its wrapper.
    pub(super) fn drop_gap(&mut self) {
        self.gap.truncate(self.gap_from);
    }

    /// Adds calls that count regardless of the following text.
    pub(super) fn calls(&mut self, raw: &str, calls: Vec<ParsedCall>, pieces: &mut Vec<Piece>) {
        if !self.held.is_empty() {
            return self.hold(raw, calls, true, pieces);
        }
        self.give(calls, pieces);
    }

    /// Adds content that becomes text unless only calls and white space follow.
    pub(super) fn unconfirmed(&mut self, raw: &str, calls: Vec<ParsedCall>, pieces: &mut Vec<Piece>) {
        self.hold(raw, calls, false, pieces);
    }

    pub(super) fn malformed(&mut self, malformed: Malformed, pieces: &mut Vec<Piece>) {
        self.reject(pieces);
        self.gap.clear();
        self.give(Vec::new(), pieces);
        pieces.push(Piece::Malformed(malformed));
    }

    /// Ends the reply: unconfirmed calls are confirmed.
    pub(super) fn finish(&mut self, pieces: &mut Vec<Piece>) {
        let calls = self.held.drain(..).flat_map(|held| held.calls);
        pieces.extend(calls.map(Piece::Call));
    }

    fn hold(&mut self, raw: &str, calls: Vec<ParsedCall>, sure: bool, pieces: &mut Vec<Piece>) {
        self.held_bytes += raw.len();
        match self.held.last_mut() {
            Some(last) if calls.is_empty() && last.calls.is_empty() => last.raw.push_str(raw),
            _ => self.held.push(Held { raw: raw.to_owned(), calls, sure }),
        }
        if self.held_bytes > MAX_HELD {
            self.reject(pieces);
        }
    }

    /// Handles other content: the held text is shown, and only confirmed calls are emitted.
    fn reject(&mut self, pieces: &mut Vec<Piece>) {
        self.held_bytes = 0;
        for held in std::mem::take(&mut self.held) {
            if held.sure {
                self.give(held.calls, pieces);
            } else {
                self.show(&held.raw, pieces);
            }
        }
    }

    fn give(&mut self, calls: Vec<ParsedCall>, pieces: &mut Vec<Piece>) {
        self.shown = false;
        self.gap_from = self.gap.len();
        pieces.extend(calls.into_iter().map(Piece::Call));
    }

    fn show(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        if self.shown {
            return append(text, pieces);
        }
        let space = text.len() - text.trim_start().len();
        self.gap.push_str(&text[..space]);
        if space < text.len() || self.gap.len() > MAX_HELD {
            self.shown = true;
            self.gap_from = 0;
            append(&std::mem::take(&mut self.gap), pieces);
            append(&text[space..], pieces);
        }
    }
}

fn append(text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}
