//! The markers of the formats that prompts teach, with the variants that models write.

use crate::marker_role::Role;

/// Elements around JSON, also with attributes.
const ELEMENTS: [&str; 3] = ["tool_call", "tool_use", "function_call"];

pub(super) const WRAPPERS: &[[&str; 2]] = &[
    ["<toolcall>", "</toolcall>"],
    ["<seed:tool_call>", "</seed:tool_call>"],
    ["<minimax:tool_call>", "</minimax:tool_call>"],
];

/// Markers without a prefix.
pub(super) const MARKERS: &[(&str, Role)] = &[
    ("<tool ", Role::WrapperWithAttributes),
    ("</tool>", Role::Close),
    // GLM's pairs.
    ("<arg_key>", Role::Key),
    ("</arg_key>", Role::KeyEnd),
    ("<arg_value>", Role::Value),
    ("</arg_value>", Role::ParameterEnd),
    // Functions.
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

pub(super) fn built_markers() -> impl Iterator<Item = (String, Role)> {
    let elements = ELEMENTS.iter().flat_map(|name| {
        let open = (format!("<{name}>"), Role::Wrapper);
        [open, (format!("<{name} "), Role::WrapperWithAttributes), (format!("</{name}>"), Role::Close)]
    });
    let prefixed = PREFIXES.iter().flat_map(|prefix| {
        let more = if prefix.contains("DSML") { PREFIXED_DSML } else { &[] };
        PREFIXED.iter().chain(more).map(move |(open, element, role)| (format!("{open}{prefix}{element}"), *role))
    });
    elements.chain(prefixed)
}
