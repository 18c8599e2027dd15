//! The markers of the formats that prompts teach, with the variants that models write.

use crate::marker_role::Role;

/// Markers without a prefix.
pub(super) const MARKERS: &[(&str, Role)] = &[
    // Tags around JSON.
    ("<tool_call>", Role::Wrapper),
    ("<tool_call ", Role::WrapperWithAttributes),
    ("</tool_call>", Role::Close),
    ("<toolcall>", Role::Wrapper),
    ("</toolcall>", Role::Close),
    ("<tool ", Role::WrapperWithAttributes),
    ("</tool>", Role::Close),
    ("<tool_use>", Role::Wrapper),
    ("<tool_use ", Role::WrapperWithAttributes),
    ("</tool_use>", Role::Close),
    ("<function_call>", Role::Wrapper),
    ("<function_call ", Role::WrapperWithAttributes),
    ("</function_call>", Role::Close),
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

pub(super) fn prefixed_markers() -> impl Iterator<Item = (String, Role)> {
    PREFIXES.iter().flat_map(|prefix| {
        let more = if prefix.contains("DSML") { PREFIXED_DSML } else { &[] };
        PREFIXED.iter().chain(more).map(move |(open, element, role)| (format!("{open}{prefix}{element}"), *role))
    })
}
