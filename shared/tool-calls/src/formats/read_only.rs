//! Formats that models use without being prompted. They are mainly control tokens, which an endpoint may strip from a
//! prompt or a reply.

use crate::marker_role::Role;

/// What opens and closes a wrapper.
pub(super) const WRAPPERS: &[[&str; 2]] = &[
    // Doubao 1.5 and 1.6.
    ["<|FunctionCallBegin|>", "<|FunctionCallEnd|>"],
    // Kimi K2; some models write the singular of its section.
    ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"],
    ["<|tool_call_section_begin|>", "<|tool_call_section_end|>"],
    ["<|tool_call_begin|>", "<|tool_call_end|>"],
    // Llama 3 and 4.
    ["<|python_start|>", "<|python_end|>"],
    // Mistral, LM Studio.
    ["[TOOL_CALLS]", "[/TOOL_CALLS]"],
    ["[TOOL_REQUEST]", "[END_TOOL_REQUEST]"],
    // Command, InternLM.
    ["<|START_ACTION|>", "<|END_ACTION|>"],
    ["<|action_start|>", "<|action_end|>"],
    // LongCat, dots, OpenPangu, Apertus.
    ["<longcat_tool_call>", "</longcat_tool_call>"],
    ["<dots_function_call>", "</dots_function_call>"],
    ["[unused11]", "[unused12]"],
    ["<|tools_prefix|>", "<|tools_suffix|>"],
    // Gemma 4, FunctionGemma.
    ["<|tool_call>", "<tool_call|>"],
    ["<start_function_call>", "<end_function_call>"],
    // Kimi K3.
    ["<|open|>tools<|sep|>", "<|close|>tools<|sep|>"],
    // MiniMax M3.
    ["]<]minimax[>[<tool_call>", "]<]minimax[>[</tool_call>"],
    // Solar Open.
    ["<|tool_call:begin|>", "<|tool_call:end|>"],
    // PLaMo 3.
    ["<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"],
    ["<|plamo:begin_tool_request:plamo|>", "<|plamo:end_tool_request:plamo|>"],
    // K2 Horizon.
    ["<ifm|tool_calls>", "</ifm|tool_calls>"],
    ["<ifm|tool_call>", "</ifm|tool_call>"],
];

pub(super) const MARKERS: &[(&str, Role)] = &[
    // Kimi K2.
    ("<|tool_call_argument_begin|>", Role::Separator),
    // Llama 3 and 4.
    ("<|python_tag|>", Role::Wrapper),
    // Mistral.
    ("[CALL_ID]", Role::CallId),
    ("[ARGS]", Role::Separator),
    // Harmony.
    ("<|channel|>commentary to=", Role::Wrapper),
    ("<|channel|>analysis to=", Role::Wrapper),
    ("<|start|>assistant to=", Role::Wrapper),
    ("<|start|>assistant<|channel|>commentary to=", Role::Wrapper),
    ("<|start|>assistant<|channel|>analysis to=", Role::Wrapper),
    ("<|message|>", Role::Separator),
    // Granite, LFM2, InternLM.
    ("<|tool_call|>", Role::Wrapper),
    ("<|tool_call_start|>", Role::Wrapper),
    ("<|plugin|>", Role::Wrapper),
    // GigaChat 3; a section without a token is in `scanner/prose.rs`.
    ("<|function_call|>", Role::Wrapper),
    // Hunyuan 3.
    ("<tool_sep>", Role::Separator),
    // Kimi K3.
    ("<|open|>call ", Role::FunctionWithAttributes),
    ("<|open|>argument ", Role::ParameterWithAttributes),
    ("<|close|>argument<|sep|>", Role::ParameterEnd),
    ("<|close|>call<|sep|>", Role::FunctionEnd),
    // MiniMax M3.
    ("]<]minimax[>[<invoke ", Role::FunctionWithAttributes),
    ("]<]minimax[>[</invoke>", Role::FunctionEnd),
    // Inkling.
    ("<|message_model|>", Role::Wrapper),
    ("<|content_invoke_tool_json|>", Role::WrapperOrSeparator),
    // Solar Open.
    ("<|tool_calls|>", Role::Wrapper),
    ("<|begin|>assistant<|tool_calls|>", Role::Wrapper),
    ("<|tool_call:name|>", Role::Separator),
    ("<|tool_call:args|>", Role::Separator),
    // PLaMo 3.
    ("<|plamo:begin_tool_name:plamo|>", Role::Wrapper),
    ("<|plamo:end_tool_name:plamo|>", Role::Separator),
    ("<|plamo:begin_tool_arguments:plamo|>", Role::Separator),
    ("<|plamo:msg|>", Role::Separator),
    ("<|plamo:constrain|>json<|plamo:msg|>", Role::Separator),
    ("<|plamo:end_tool_arguments:plamo|>", Role::Close),
    // K2 Horizon.
    ("<ifm|arg_key>", Role::Key),
    ("</ifm|arg_key>", Role::KeyEnd),
    ("<ifm|arg_value>", Role::Value),
    ("</ifm|arg_value>", Role::ParameterEnd),
    // Ends of a reply or of reasoning that leak after a call.
    ("</s>", Role::Close),
    ("</think>", Role::Close),
    ("</thinking>", Role::Close),
    ("</seed:think>", Role::Close),
];

/// Tokens that end a turn or a message, and leak after a call or an answer. These also end reasoning or an answer in a frame.
pub(crate) const MESSAGE_ENDS: &[&str] = &[
    // Harmony.
    "<|end|>",
    "<|return|>",
    // Muse.
    "<|eom|>",
    "<|eot|>",
    // Command.
    "<|END_TEXT|>",
    "<|END_RESPONSE|>",
    "<|END_OF_TURN_TOKEN|>",
    // Kimi K3.
    "<|close|>response<|sep|>",
    "<|close|>message<|sep|>",
    "<|end_of_msg|>",
    // Inkling.
    "<|end_message|>",
    "<|content_model_end_sampling|>",
    // Gemma 4, Ling 3.
    "<turn|>",
    "<|role_end|>",
];

/// The same that end no frame.
pub(super) const TURN_ENDS: &[&str] = &[
    "<|eom_id|>",
    "<|eot_id|>",
    "<|call|>",
    "<|calls|>",
    "<|plamo:tag|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<|message_sep|>",
    "<|assistant_end|>",
    "<|tool_response>",
    "<start_function_response>",
];

/// DeepSeek's control tokens, with `~` for the bar and `_` for the gap.
const DEEPSEEK: &[(&str, Role)] = &[
    ("<~tool_calls_begin~>", Role::Wrapper),
    ("<~tool_call_begin~>", Role::Wrapper),
    ("<~tool_sep~>", Role::Separator),
    ("<~tool_call_end~>", Role::Close),
    ("<~tool_calls_end~>", Role::Close),
    ("<~end_of_sentence~>", Role::TurnEnd),
];

/// DeepSeek's control tokens with either bar: some gateways write the ASCII one. Step 3 writes them with `_`.
pub(super) fn deepseek_markers() -> impl Iterator<Item = (String, Role)> {
    DEEPSEEK.iter().flat_map(|(text, role)| {
        [("▁", "｜"), ("▁", "|"), ("_", "｜")].map(|(gap, bar)| (text.replace('_', gap).replace('~', bar), *role))
    })
}

/// What may follow the channel of one of Harmony's calls: the form of its arguments.
const HARMONY_FORMS: [&str; 9] = [
    "",
    " json",
    " code",
    "<|constrain|>json",
    " <|constrain|>json",
    "<|constrain|>code",
    " <|constrain|>code",
    "<|constrain|>xml",
    " <|constrain|>xml",
];

/// The rest of the header of one of Harmony's calls, from its recipient on: its channel, if that follows, and its form.
pub(super) fn harmony_separators() -> impl Iterator<Item = (String, Role)> {
    let channels = ["<|channel|>commentary", "<|channel|>analysis"];
    let with_channel =
        channels.into_iter().flat_map(|channel| HARMONY_FORMS.map(|form| format!("{channel}{form}<|message|>")));
    // A form shows a call, even one without its recipient.
    let role = |text: &str| if text.contains("<|constrain|>") { Role::WrapperOrSeparator } else { Role::Separator };
    let headers = HARMONY_FORMS.into_iter().filter(|form| form.contains('|')).flat_map(|form| {
        ["commentary", "analysis"].map(|channel| format!("<|start|>assistant<|channel|>{channel}{form}<|message|>"))
    });
    // White space after a name is skipped.
    let forms = HARMONY_FORMS.into_iter().filter(|form| !form.is_empty() && !form.starts_with(' '));
    let without_channel = forms.chain(["json", "code"]).map(|form| format!("{form}<|message|>"));
    let with_channel = with_channel.map(move |text| (text.clone(), role(&text)));
    let without_channel = without_channel.map(|text| (text, Role::Separator));
    with_channel.chain(without_channel).chain(headers.map(|text| (text, Role::Wrapper)))
}
