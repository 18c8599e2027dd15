use domain::{AnswerDelta, Event, split_last_characters};
use serde::Serialize;

use crate::{NativeSse, Protocol};

/// Up to this total length of text, in bytes, every delta has a frame.
const MAX_UNMERGED_BYTES: usize = 8 * 1024;

/// Beyond it, a frame is written when the text has grown by 1/32. The total size of all frames is then at most a
/// constant multiple of the answer's length instead of its square.
const GROWTH_DIVISOR: usize = 32;

/// The older form of the native protocol, in which every frame of text repeats all text so far.
///
/// In a long answer several deltas share a frame. Pending text gets its frame before the next event of another kind.
pub struct Accumulated {
    native: NativeSse,
    content: String,
    thinking: String,
    /// The length of the text in the last frame, in bytes.
    written_bytes: usize,
}

#[derive(Serialize)]
struct AccumulatedText<'a> {
    r#type: &'static str,
    content: &'a str,
    thinking: &'a str,
}

impl Accumulated {
    /// Gives frames the ids of `native`, and reports errors as it does.
    pub fn new(native: NativeSse) -> Self {
        Self { native, content: String::new(), thinking: String::new(), written_bytes: 0 }
    }

    fn total_bytes(&self) -> usize {
        self.content.len() + self.thinking.len()
    }

    /// Whether enough text arrived since the last frame.
    fn is_due(&self) -> bool {
        let length = self.total_bytes();
        length <= MAX_UNMERGED_BYTES || length - self.written_bytes >= length / GROWTH_DIVISOR
    }

    fn write_accumulated(&mut self, out: &mut String) {
        self.written_bytes = self.total_bytes();
        let so_far = AccumulatedText { r#type: "content", content: &self.content, thinking: &self.thinking };
        self.native.write_payload(&so_far, out);
    }
}

impl Protocol for Accumulated {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        match event {
            Event::Delta(AnswerDelta::Text(delta)) => self.content.push_str(delta),
            Event::Delta(AnswerDelta::Thinking(delta)) => self.thinking.push_str(delta),
            // The next frame has both texts as they are then.
            Event::Delta(AnswerDelta::Reclassified(characters)) => {
                let reasoning = split_last_characters(&mut self.content, *characters);
                self.thinking.push_str(&reasoning);
            }
            Event::Started(_) | Event::Tool(_) | Event::Note(_) | Event::End(_) => {
                if self.written_bytes < self.total_bytes() {
                    self.write_accumulated(out);
                }
                return self.native.write_frames(event, out);
            }
        }
        if !self.native.advance(event) {
            // The client's last frame has this text.
            self.written_bytes = self.total_bytes();
        } else if self.is_due() || matches!(event, Event::Delta(AnswerDelta::Reclassified(_))) {
            self.write_accumulated(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{FinishReason, Note, TurnPosition};

    use super::*;

    #[test]
    fn total_frame_size_grows_linearly() {
        for (pieces, piece) in [(5_000, "x".repeat(400)), (200_000, "x".to_owned())] {
            let mut protocol = Accumulated::new(NativeSse::new("01T", "r"));
            let (mut bytes, mut last) = (0, String::new());
            for _ in 0..pieces {
                let mut out = String::new();
                protocol.write_frames(&Event::Delta(AnswerDelta::Text(piece.clone())), &mut out);
                bytes += out.len();
            }
            protocol.write_frames(&Event::End(Ok(FinishReason::Stop)), &mut last);
            let length = pieces * piece.len();
            assert!(bytes < 40 * length + MAX_UNMERGED_BYTES * MAX_UNMERGED_BYTES, "{bytes} bytes for {length}");
            assert!(last.contains("done") && (last.contains(&"x".repeat(length)) || protocol.written_bytes == length));
        }
    }

    #[test]
    fn pending_text_is_flushed_before_next_event() {
        let mut protocol = Accumulated::new(NativeSse::new("01T", "r"));
        let mut out = String::new();
        protocol.write_frames(&Event::Delta(AnswerDelta::Text("x".repeat(2 * MAX_UNMERGED_BYTES))), &mut out);
        out.clear();
        protocol.write_frames(&Event::Delta(AnswerDelta::Text("end".to_owned())), &mut out);
        assert_eq!(out, "");
        protocol.write_frames(&Event::End(Ok(FinishReason::Stop)), &mut out);
        assert!(
            out.contains("id: 01T-16388.0\n") && out.contains("xend") && out.contains("id: 01T-16389.0000014\n"),
            "{out}"
        );
    }

    #[test]
    fn every_text_frame_repeats_all_text() {
        let mut protocol = Accumulated::new(NativeSse::new("01T", "r"));
        let mut out = String::new();
        for event in [
            Event::Delta(AnswerDelta::Thinking("hm".into())),
            Event::Delta(AnswerDelta::Text("a".into())),
            Event::Delta(AnswerDelta::Text("b".into())),
            Event::End(Ok(FinishReason::Stop)),
        ] {
            protocol.write_frames(&event, &mut out);
        }
        let expected = r#"id: 01T-3.12
data: {"type":"content","content":"","thinking":"hm"}

id: 01T-4.12
data: {"type":"content","content":"a","thinking":"hm"}

id: 01T-5.12
data: {"type":"content","content":"ab","thinking":"hm"}

id: 01T-6.12000014
data: {"type":"done","finishReason":"stop"}

data: [DONE]

"#;
        assert_eq!(out, expected);
    }

    #[test]
    fn resumed_frames_repeat_all_text_once() {
        let events = [
            Event::Delta(AnswerDelta::Thinking("hm".into())),
            Event::Delta(AnswerDelta::Text("a".into())),
            Event::Note(Note::ModelSwitched("other".into())),
            Event::Delta(AnswerDelta::Text("b".into())),
            Event::End(Ok(FinishReason::Stop)),
        ];
        let render = |mut protocol: Accumulated| {
            let mut out = String::new();
            for event in &events {
                protocol.write_frames(event, &mut out);
            }
            out.split_inclusive("\n\n").map(str::to_owned).collect::<Vec<_>>()
        };
        let native = || NativeSse::new("01T", "r");
        let all = render(Accumulated::new(native()));
        for (index, frame) in all.iter().enumerate().take(4) {
            let id = frame.lines().next().and_then(|line| line.strip_prefix("id: 01T-")).unwrap();
            let received = TurnPosition::parse(id).unwrap();
            assert_eq!(render(Accumulated::new(native().resume_after(received))), all[index + 1..], "{id}");
            let counted = TurnPosition::parse(&(index + 1).to_string()).unwrap();
            let end = all.len() - 2;
            assert_eq!(
                render(Accumulated::new(native().resume_after(counted))),
                all[(index + 1).min(end)..],
                "an earlier id counts frames"
            );
        }
    }
}
