//! GLM: the name first, then pairs of `<arg_key>` and `<arg_value>`, in the same wrapper as Hermes.

use domain::ToolCall;

use super::CallFormat;
use super::functions::render_parameters;
use crate::marker_role::Role;

/// Markers of this family; the wrapper is that of the tag forms.
pub(super) const MARKERS: &[(&str, Role)] = &[
    ("<arg_key>", Role::Key),
    ("</arg_key>", Role::KeyEnd),
    ("<arg_value>", Role::Value),
    ("</arg_value>", Role::ParameterEnd),
];

/// `<tool_call>f` and the pairs, a line each.
pub(super) static GLM: GlmFormat = GlmFormat;

/// The format of GLM 4.5 and later.
pub(super) struct GlmFormat;

impl CallFormat for GlmFormat {
    fn name(&self) -> &'static str {
        "glm"
    }

    fn render_call(&self, call: &ToolCall) -> String {
        let pairs = render_parameters(&call.arguments, |key, value| {
            format!("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
        });
        format!("<tool_call>{}\n{pairs}</tool_call>", call.name)
    }
}
