//! `ReAct`: `Action: f` and `Action Input: {…}`, for prompts that ask for it.

use conversation::ToolCall;

use super::CallFormat;
use super::tag::spaced;

/// The `ReAct` form; its calls are found only by a scanner made with
/// [`with_actions`](crate::CallScanner::with_actions), for `Action:` begins many an ordinary line.
pub static REACT: &dyn CallFormat = &React;

struct React;

impl CallFormat for React {
    fn name(&self) -> &'static str {
        "react"
    }

    fn render_call(&self, call: &ToolCall) -> String {
        format!("Action: {}\nAction Input: {}", call.name, spaced(&call.arguments))
    }
}
