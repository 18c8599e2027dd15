use conversation::Event;

use crate::Protocol;

/// Skips the frames that a client has already received.
pub struct Resumed<P> {
    protocol: P,
    left: u64,
}

impl<P: Protocol> Resumed<P> {
    /// Skips the first `seen` numbered frames; the turn's events must start with the first one.
    pub fn new(protocol: P, seen: u64) -> Self {
        Self { protocol, left: seen }
    }
}

impl<P: Protocol> Protocol for Resumed<P> {
    fn frames(&mut self, event: &Event, out: &mut String) {
        if self.left == 0 {
            return self.protocol.frames(event, out);
        }
        let mut frames = String::new();
        self.protocol.frames(event, &mut frames);
        for frame in frames.split_inclusive("\n\n") {
            if self.left > 0 && frame.starts_with("id: ") {
                self.left -= 1;
            } else {
                out.push_str(frame);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use conversation::FinishReason;

    use super::*;
    use crate::{Accumulated, Native};

    fn told(mut protocol: impl Protocol) -> Vec<String> {
        let mut out = String::new();
        for event in [
            Event::Text { delta: "a\n\nid: ".into() },
            Event::Handover { model: "other".into() },
            Event::Text { delta: "b".into() },
            Event::Done { finish_reason: FinishReason::Stop },
        ] {
            protocol.frames(&event, &mut out);
        }
        out.split_inclusive("\n\n").map(str::to_owned).collect()
    }

    #[test]
    fn resumed_stream_keeps_frame_numbers() {
        let (native, accumulated) = (|| Native::new("T", "r"), || Accumulated::new(Native::new("T", "r")));
        for seen in 0..4 {
            let rest = usize::try_from(seen).unwrap();
            assert_eq!(told(Resumed::new(native(), seen)), told(native())[rest..], "{seen}");
            assert_eq!(told(Resumed::new(accumulated(), seen)), told(accumulated())[rest..], "{seen}");
        }
        assert_eq!(told(Resumed::new(native(), 9)), ["data: [DONE]\n\n"]);
    }
}
