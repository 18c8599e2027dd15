use client_protocols::{NativeSse, Protocol};
use domain::Event;
use serde_json::Value;

/// Encodes the events of one turn as payloads of the product's own protocol.
pub(crate) struct Payloads(NativeSse);

impl Default for Payloads {
    fn default() -> Self {
        Self(NativeSse::new("", ""))
    }
}

impl Payloads {
    /// Returns the payload of the next event, if it has one. Tool progress is skipped: no later event depends on it, and
    /// a replayed call does not repeat it.
    pub(crate) fn of(&mut self, event: &Event) -> Option<Value> {
        if matches!(event, Event::ToolProgress(_)) {
            return None;
        }
        let mut frames = String::new();
        self.0.write_frames(event, &mut frames);
        frames.lines().find_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
    }
}
