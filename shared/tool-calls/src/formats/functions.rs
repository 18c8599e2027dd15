//! Functions and parameters as elements: Qwen3-Coder, Seed-OSS and Doubao, Anthropic, `MiniMax`, DeepSeek's DSML.

use domain::ToolCall;
use serde_json::Value;

use super::CallFormat;
use crate::marker_role::Role;

/// Markers without a prefix.
pub(super) const MARKERS: &[(&str, Role)] = &[
    ("<function=", Role::Function),
    ("<function ", Role::FunctionWithAttributes),
    ("</function>", Role::FunctionEnd),
    // What Qwen and others write now and then for the function's tag.
    ("<call=", Role::Function),
    ("<tool=", Role::Function),
    ("<invoke=", Role::Function),
    ("</call>", Role::FunctionEnd),
    ("<parameter=", Role::Parameter),
    ("<param=", Role::Parameter),
    ("<parameter>", Role::Key),
    // MiniCPM 5, also with its tokenizer's sign for a blank, or without one.
    ("<functionname=", Role::Function),
    ("<functionĠname=", Role::Function),
    ("<paramname=", Role::Parameter),
    ("<paramĠname=", Role::Parameter),
    ("<param ", Role::ParameterWithAttributes),
    ("</param>", Role::ParameterEnd),
    ("<seed:tool_call>", Role::Wrapper),
    ("</seed:tool_call>", Role::Close),
    ("<minimax:tool_call>", Role::Wrapper),
    ("</minimax:tool_call>", Role::Close),
];

/// Elements that occur with every one of [`PREFIXES`].
const PREFIXED: &[(&str, &str, Role)] = &[
    ("<", "function_calls>", Role::Wrapper),
    ("<", "tool_calls>", Role::Wrapper),
    ("</", "function_calls>", Role::Close),
    ("</", "tool_calls>", Role::Close),
    ("<", "invoke ", Role::FunctionWithAttributes),
    ("</", "invoke>", Role::FunctionEnd),
    ("<", "parameter ", Role::ParameterWithAttributes),
    ("</", "parameter>", Role::ParameterEnd),
];

/// Elements that occur only with the prefixes of DeepSeek: without one they are too common.
const PREFIXED_DSML: &[(&str, &str, Role)] = &[
    ("<", "calls>", Role::Wrapper),
    ("<", "toolcalls>", Role::Wrapper),
    ("<", "tool>", Role::Wrapper),
    ("</", "calls>", Role::Close),
    ("</", "toolcalls>", Role::Close),
    ("</", "tool>", Role::Close),
];

/// No prefix, Anthropic's, Muse's, Step 3's, Beam's, DeepSeek's with every bar and gap seen in replies, and `GigaChat` 3.5's.
const PREFIXES: &[&str] = &[
    "",
    "antml:",
    "atem:",
    "steptml:",
    "rfl:",
    "｜DSML｜",
    "｜DSML｜ ",
    "｜｜DSML｜｜",
    "‖DSML‖",
    "|DSML|",
    "||DSML||",
    "｜GCML｜",
    "|GCML|",
];

/// Every element with every prefix.
pub(super) fn prefixed_markers() -> impl Iterator<Item = (String, Role)> {
    PREFIXES.iter().flat_map(|prefix| {
        let more = if prefix.contains("DSML") { PREFIXED_DSML } else { &[] };
        PREFIXED.iter().chain(more).map(move |(open, element, role)| (format!("{open}{prefix}{element}"), *role))
    })
}

/// `<tool_call><function=f><parameter=q>a</parameter></function></tool_call>` with a line for each.
pub(super) static QWEN: FunctionFormat = FunctionFormat {
    name: "qwen_functions",
    wrapper: ["<tool_call>", "</tool_call>"],
    function: ["<function=", ">", "</function>"],
    parameter: ["<parameter=", ">", "</parameter>"],
};
/// The same in `<seed:tool_call>`.
pub(super) static SEED: FunctionFormat =
    FunctionFormat { name: "seed_functions", wrapper: ["<seed:tool_call>", "</seed:tool_call>"], ..QWEN };
/// `<function_calls><invoke name="f"><parameter name="q">a</parameter></invoke></function_calls>`.
pub(super) static INVOKE: FunctionFormat = FunctionFormat {
    name: "invoke",
    wrapper: ["<function_calls>", "</function_calls>"],
    function: ["<invoke name=\"", "\">", "</invoke>"],
    parameter: ["<parameter name=\"", "\">", "</parameter>"],
};
/// The same in `<minimax:tool_call>`.
pub(super) static MINIMAX: FunctionFormat =
    FunctionFormat { name: "minimax_invoke", wrapper: ["<minimax:tool_call>", "</minimax:tool_call>"], ..INVOKE };

/// `<function name="f"><param name="q">a</param></function>`.
pub(super) static MINICPM: FunctionFormat = FunctionFormat {
    name: "minicpm",
    wrapper: ["", ""],
    function: ["<function name=\"", "\">", "</function>"],
    parameter: ["<param name=\"", "\">", "</param>"],
};

/// A format with a function and its parameters as elements.
#[derive(Clone, Copy)]
pub(super) struct FunctionFormat {
    name: &'static str,
    wrapper: [&'static str; 2],
    function: [&'static str; 3],
    parameter: [&'static str; 3],
}

impl CallFormat for FunctionFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn render_call(&self, call: &ToolCall) -> String {
        let ([open, close], [function, after_name, end]) = (self.wrapper, self.function);
        let parameters = render_parameters(&call.arguments, |key, value| {
            let [parameter, after_key, end] = self.parameter;
            format!("{parameter}{key}{after_key}\n{value}\n{end}\n")
        });
        let call = format!("{function}{}{after_name}\n{parameters}{end}", call.name);
        if open.is_empty() { call } else { format!("{open}\n{call}\n{close}") }
    }
}

/// Renders every argument as an element; strings as they are, everything else as JSON.
pub(super) fn render_parameters(arguments: &Value, element: impl Fn(&str, &str) -> String) -> String {
    let Value::Object(arguments) = arguments else { return format!("{arguments}\n") };
    arguments
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => element(key, text),
            other => element(key, &other.to_string()),
        })
        .collect()
}
