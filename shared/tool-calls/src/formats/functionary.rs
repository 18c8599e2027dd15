//! Functionary 3.2: `>>>f`, a line break, and the arguments.

use domain::ToolCall;

use super::CallFormat;
use super::tag::to_spaced_json;

/// The format of Functionary 3.2, whose replies begin with a recipient.
pub(super) static FUNCTIONARY: FunctionaryFormat = FunctionaryFormat;

pub(super) struct FunctionaryFormat;

impl CallFormat for FunctionaryFormat {
    fn name(&self) -> &'static str {
        "functionary"
    }

    fn render_call(&self, call: &ToolCall) -> String {
        format!(">>>{}\n{}", call.name, to_spaced_json(&call.arguments))
    }
}
