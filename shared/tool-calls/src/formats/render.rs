use domain::ToolCall;
use serde_json::{Map, Value, json};

use crate::json_calls::is_call_key;

/// A text format for calls that a prompt can teach and that history is written in.
pub struct CallFormat {
    pub(super) name: &'static str,
    /// Patterns of the ids of models that use it, in lower case.
    pub(super) models: &'static [&'static str],
    syntax: Syntax,
}

/// How a format writes a call of `f` with the argument `q`.
#[derive(Clone, Copy)]
enum Syntax {
    /// `<tool_call>{"tool": "f", "q": "a"}</tool_call>`: flat, on one line.
    FlatJson,
    /// The element around `{"name": "f", "arguments": {"q": "a"}}`, on three lines.
    Json(&'static str),
    /// The texts around the call, the function's name and the parameter's name.
    Functions { wrapper: [&'static str; 2], function: [&'static str; 3], parameter: [&'static str; 3] },
    /// `<tool_call>f` and pairs of `<arg_key>` and `<arg_value>`, a line each.
    Pairs,
    /// `Action: f` and `Action Input: {…}`.
    Action,
    /// `>>>f`, a line break, and the arguments.
    Recipient,
}

/// The formats; of those whose patterns a model's id contains the first one counts, else the first of all.
///
/// Doubao models use the tag format: they follow it well, and an endpoint may strip its own control tokens from the
/// text.
pub(super) static FORMATS: [CallFormat; 11] = [
    format("tag", &[], Syntax::FlatJson),
    format("seed_functions", &["seed-oss"], equals_signs(["<seed:tool_call>", "</seed:tool_call>"])),
    format(
        "qwen_functions",
        &["qwen3-coder", "qwen3.5", "qwen3.6", "nemotron-3", "step-3.5", "step-5", "mimo"],
        equals_signs(["<tool_call>", "</tool_call>"]),
    ),
    // As Hermes and Qwen are trained.
    format("hermes", &["qwen", "qwq", "hermes", "granite-4", "reka", "ernie"], Syntax::Json("tool_call")),
    format("longcat", &["longcat"], Syntax::Json("longcat_tool_call")),
    // GLM 4.5 and later.
    format("glm", &["glm-4", "glm-5", "ling-3", "hy3-", "hy4-", "laguna", "hyperclovax"], Syntax::Pairs),
    format("minicpm", &["minicpm5", "minicpm-5"], MINICPM),
    // Functionary 3.2, whose replies begin with a recipient.
    format("functionary", &["functionary"], Syntax::Recipient),
    format("minimax_invoke", &["minimax"], attributes(["<minimax:tool_call>", "</minimax:tool_call>"])),
    format("invoke", &["claude"], attributes(["<function_calls>", "</function_calls>"])),
    // Only a scanner built with `with_actions` finds its calls, because in other replies `Action:` may begin ordinary lines.
    format("react", &[], Syntax::Action),
];

const MINICPM: Syntax = Syntax::Functions {
    wrapper: ["", ""],
    function: ["<function name=\"", "\">", "</function>"],
    parameter: ["<param name=\"", "\">", "</param>"],
};

const fn format(name: &'static str, models: &'static [&'static str], syntax: Syntax) -> CallFormat {
    CallFormat { name, models, syntax }
}

const fn equals_signs(wrapper: [&'static str; 2]) -> Syntax {
    let function = ["<function=", ">", "</function>"];
    Syntax::Functions { wrapper, function, parameter: ["<parameter=", ">", "</parameter>"] }
}

const fn attributes(wrapper: [&'static str; 2]) -> Syntax {
    let function = ["<invoke name=\"", "\">", "</invoke>"];
    Syntax::Functions { wrapper, function, parameter: ["<parameter name=\"", "\">", "</parameter>"] }
}

impl CallFormat {
    /// A short stable name, such as `tag`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Renders a past call as the model should have written it.
    pub fn render_call(&self, ToolCall { name, arguments, .. }: &ToolCall) -> String {
        match self.syntax {
            Syntax::FlatJson => format!("<tool_call>{}</tool_call>", to_spaced_json(&flat(name, arguments))),
            Syntax::Json(element) => {
                let call = to_spaced_json(&json!({"name": name, "arguments": arguments}));
                format!("<{element}>\n{call}\n</{element}>")
            }
            Syntax::Functions { wrapper: [open, close], function: [function, after_name, end], parameter } => {
                let parameters = render_parameters(arguments, |key, value| {
                    let [parameter, after_key, end] = parameter;
                    format!("{parameter}{key}{after_key}\n{value}\n{end}\n")
                });
                let call = format!("{function}{name}{after_name}\n{parameters}{end}");
                if open.is_empty() { call } else { format!("{open}\n{call}\n{close}") }
            }
            Syntax::Pairs => {
                let pairs = render_parameters(arguments, |key, value| {
                    format!("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
                });
                format!("<tool_call>{name}\n{pairs}</tool_call>")
            }
            Syntax::Action => format!("Action: {name}\nAction Input: {}", to_spaced_json(arguments)),
            Syntax::Recipient => format!(">>>{name}\n{}", to_spaced_json(arguments)),
        }
    }
}

/// A call with its arguments next to its name, unless one can be mistaken for a key of the call itself.
fn flat(name: &str, arguments: &Value) -> Value {
    match arguments {
        Value::Object(members) if !members.keys().any(|key| is_call_key(key)) => {
            let mut flat = Map::from_iter([("tool".to_owned(), json!(name))]);
            flat.extend(members.clone());
            Value::Object(flat)
        }
        arguments => json!({"tool": name, "arguments": arguments}),
    }
}

/// Renders every argument as an element; strings as they are, everything else as JSON.
fn render_parameters(arguments: &Value, element: impl Fn(&str, &str) -> String) -> String {
    let Value::Object(arguments) = arguments else { return format!("{arguments}\n") };
    arguments
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => element(key, text),
            other => element(key, &other.to_string()),
        })
        .collect()
}

/// Renders JSON with a blank after each colon and comma, as people write examples.
fn to_spaced_json(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| format!("{}: {}", json!(key), to_spaced_json(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(to_spaced_json).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
