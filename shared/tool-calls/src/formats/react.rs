//! `ReAct`: `Action: f` and `Action Input: {…}`.

use domain::ToolCall;

use super::CallFormat;
use super::tag::to_spaced_json;

/// The `ReAct` format. Only a scanner built with [`with_actions`](crate::CallScanner::with_actions) finds its calls,
/// because in other replies `Action:` may begin ordinary lines.
pub(super) static REACT: ReactFormat = ReactFormat;

pub(super) struct ReactFormat;

impl CallFormat for ReactFormat {
    fn name(&self) -> &'static str {
        "react"
    }

    fn render_call(&self, call: &ToolCall) -> String {
        format!("Action: {}\nAction Input: {}", call.name, to_spaced_json(&call.arguments))
    }
}
