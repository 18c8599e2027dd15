use conversation::Event;
use serde::Serialize;

use crate::{Native, Protocol};

/// The older form of the native protocol, in which every frame of text repeats all text so far.
pub struct Accumulated {
    native: Native,
    content: String,
    thinking: String,
}

#[derive(Serialize)]
struct SoFar<'a> {
    r#type: &'static str,
    content: &'a str,
    thinking: &'a str,
}

impl Accumulated {
    /// Numbers frames and reports errors as `native` does.
    pub fn new(native: Native) -> Self {
        Self { native, content: String::new(), thinking: String::new() }
    }
}

impl Protocol for Accumulated {
    fn frames(&mut self, event: &Event, out: &mut String) {
        match event {
            Event::Text { delta } => self.content.push_str(delta),
            Event::Thinking { delta } => self.thinking.push_str(delta),
            other => return self.native.frames(other, out),
        }
        let so_far = SoFar { r#type: "content", content: &self.content, thinking: &self.thinking };
        self.native.write(&so_far, false, out);
    }
}

#[cfg(test)]
mod tests {
    use conversation::FinishReason;

    use super::*;

    #[test]
    fn every_frame_of_text_holds_all_text_so_far() {
        let mut protocol = Accumulated::new(Native::new("01T", "r"));
        let mut out = String::new();
        for event in [
            Event::Thinking { delta: "hm".into() },
            Event::Text { delta: "a".into() },
            Event::Text { delta: "b".into() },
            Event::Done { finish_reason: FinishReason::Stop },
        ] {
            protocol.frames(&event, &mut out);
        }
        let expected = r#"id: 01T-1
data: {"type":"content","content":"","thinking":"hm"}

id: 01T-2
data: {"type":"content","content":"a","thinking":"hm"}

id: 01T-3
data: {"type":"content","content":"ab","thinking":"hm"}

id: 01T-4
data: {"type":"done","finishReason":"stop"}

data: [DONE]

"#;
        assert_eq!(out, expected);
    }
}
