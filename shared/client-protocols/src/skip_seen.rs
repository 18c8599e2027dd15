use domain::Event;

use crate::Protocol;

/// Skips the frames that a client has already received.
pub struct SkipSeen<P> {
    protocol: P,
    to_skip: u64,
}

impl<P: Protocol> SkipSeen<P> {
    /// Skips the first `seen` numbered frames; the turn's events must start with the first one.
    pub fn new(protocol: P, seen: u64) -> Self {
        Self { protocol, to_skip: seen }
    }
}

impl<P: Protocol> Protocol for SkipSeen<P> {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        if self.to_skip == 0 {
            return self.protocol.write_frames(event, out);
        }
        let mut frames = String::new();
        self.protocol.write_frames(event, &mut frames);
        for frame in frames.split_inclusive("\n\n") {
            if self.to_skip > 0 && frame.starts_with("id: ") {
                self.to_skip -= 1;
            } else {
                out.push_str(frame);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::FinishReason;

    use super::*;
    use crate::{Accumulated, NativeSse};

    fn render_frames(mut protocol: impl Protocol) -> Vec<String> {
        let mut out = String::new();
        for event in [
            Event::Text { delta: "a\n\nid: ".into() },
            Event::ModelSwitched { model: "other".into() },
            Event::Text { delta: "b".into() },
            Event::Done { finish_reason: FinishReason::Stop },
        ] {
            protocol.write_frames(&event, &mut out);
        }
        out.split_inclusive("\n\n").map(str::to_owned).collect()
    }

    #[test]
    fn resumed_stream_keeps_frame_numbers() {
        let (native, accumulated) = (|| NativeSse::new("T", "r"), || Accumulated::new(NativeSse::new("T", "r")));
        for seen in 0..4 {
            let rest = usize::try_from(seen).unwrap();
            assert_eq!(render_frames(SkipSeen::new(native(), seen)), render_frames(native())[rest..], "{seen}");
            assert_eq!(
                render_frames(SkipSeen::new(accumulated(), seen)),
                render_frames(accumulated())[rest..],
                "{seen}"
            );
        }
        assert_eq!(render_frames(SkipSeen::new(native(), 9)), ["data: [DONE]\n\n"]);
    }
}
