use domain::{Event, ToolEvent, TurnAccumulator};
use serde_json::{Value, json};

use super::mcp_result;
use crate::frame::write_json_frame;
use crate::{Protocol, TurnDocument};

/// Renders a call as reports of its progress, then its response.
pub struct McpStream {
    id: Value,
    progress_token: Value,
    is_own: bool,
    reports: u64,
    turn: TurnAccumulator,
}

impl McpStream {
    /// For the call with this id; `is_own` as in [`mcp_result`].
    pub fn new(id: Value, progress_token: Value, is_own: bool) -> Self {
        Self { id, progress_token, is_own, reports: 0, turn: TurnAccumulator::default() }
    }

    fn report(&mut self, message: &str, out: &mut String) {
        self.reports += 1;
        let params = json!({ "progressToken": self.progress_token, "progress": self.reports, "message": message });
        write_json_frame(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }), out);
    }
}

impl Protocol for McpStream {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        self.turn.apply(event);
        match event {
            Event::Tool(ToolEvent::Call(call)) if !self.is_own => self.report(&call.name, out),
            Event::Tool(ToolEvent::Progress(progress)) => self.report(&progress.text, out),
            Event::Tool(ToolEvent::Result(outcome)) => self.report(&outcome.summary, out),
            Event::End(_) => {
                let document = TurnDocument::new(std::mem::take(&mut self.turn));
                write_json_frame(&mcp_result(&self.id, document.as_ref(), self.is_own), out);
            }
            Event::Started(_)
            | Event::Delta(_)
            | Event::Note(_)
            | Event::Tool(ToolEvent::Call(_) | ToolEvent::ClientCall(_)) => {}
        }
    }
}
