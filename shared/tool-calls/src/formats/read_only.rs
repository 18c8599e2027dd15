//! Formats that models use without being prompted. They are mainly control tokens, which an endpoint may strip from a
//! prompt or a reply.

use crate::marker_role::Role;

/// Markers by model family.
pub(super) const MARKERS: &[(&str, Role)] = &[
    // Doubao 1.5 and 1.6.
    ("<|FunctionCallBegin|>", Role::Wrapper),
    ("<|FunctionCallEnd|>", Role::Close),
    // Kimi K2.
    ("<|tool_calls_section_begin|>", Role::Wrapper),
    ("<|tool_call_begin|>", Role::Wrapper),
    ("<|tool_call_argument_begin|>", Role::Separator),
    ("<|tool_call_end|>", Role::Close),
    ("<|tool_calls_section_end|>", Role::Close),
    // Llama 3 and 4.
    ("<|python_tag|>", Role::Wrapper),
    ("<|python_start|>", Role::Wrapper),
    ("<|python_end|>", Role::Close),
    ("<|eom_id|>", Role::Close),
    ("<|eot_id|>", Role::Close),
    // Mistral.
    ("[TOOL_CALLS]", Role::Wrapper),
    ("[/TOOL_CALLS]", Role::Close),
    ("[CALL_ID]", Role::CallId),
    ("[ARGS]", Role::Separator),
    // LM Studio.
    ("[TOOL_REQUEST]", Role::Wrapper),
    ("[END_TOOL_REQUEST]", Role::Close),
    // Harmony.
    ("<|channel|>commentary to=", Role::Wrapper),
    ("<|channel|>analysis to=", Role::Wrapper),
    ("<|start|>assistant to=", Role::Wrapper),
    ("<|start|>assistant<|channel|>commentary to=", Role::Wrapper),
    ("<|start|>assistant<|channel|>analysis to=", Role::Wrapper),
    ("<|message|>", Role::Separator),
    ("<|constrain|>json<|message|>", Role::Separator),
    ("<|channel|>commentary<|message|>", Role::Separator),
    ("<|channel|>commentary json<|message|>", Role::Separator),
    ("<|channel|>commentary <|constrain|>json<|message|>", Role::Separator),
    ("<|channel|>analysis<|message|>", Role::Separator),
    ("<|channel|>analysis <|constrain|>json<|message|>", Role::Separator),
    ("json<|message|>", Role::Separator),
    ("code<|message|>", Role::Separator),
    ("<|call|>", Role::Close),
    ("<|end|>", Role::Close),
    ("<|return|>", Role::Close),
    // Granite, LFM2, Command, InternLM.
    ("<|tool_call|>", Role::Wrapper),
    ("<|tool_call_start|>", Role::Wrapper),
    ("<|START_ACTION|>", Role::Wrapper),
    ("<|END_ACTION|>", Role::Close),
    ("<|action_start|>", Role::Wrapper),
    ("<|plugin|>", Role::Wrapper),
    ("<|action_end|>", Role::Close),
    // Tokens that leak after a call: the end of a turn, of reasoning.
    ("<|im_end|>", Role::Close),
    ("<|endoftext|>", Role::Close),
    ("</think>", Role::Close),
    ("</thinking>", Role::Close),
    ("</seed:think>", Role::Close),
];

/// DeepSeek's control tokens, with `~` for the bar and `_` for the gap.
const DEEPSEEK: &[(&str, Role)] = &[
    ("<~tool_calls_begin~>", Role::Wrapper),
    ("<~tool_call_begin~>", Role::Wrapper),
    ("<~tool_sep~>", Role::Separator),
    ("<~tool_call_end~>", Role::Close),
    ("<~tool_calls_end~>", Role::Close),
    ("<~end_of_sentence~>", Role::Close),
];

/// DeepSeek's control tokens with either bar: some gateways write the ASCII one.
pub(super) fn deepseek_markers() -> impl Iterator<Item = (String, Role)> {
    DEEPSEEK.iter().flat_map(|(text, role)| {
        let gapped = text.replace('_', "▁");
        ["｜", "|"].map(|bar| (gapped.replace('~', bar), *role))
    })
}
