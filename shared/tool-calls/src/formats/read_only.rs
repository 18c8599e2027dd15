//! Formats that models use without being prompted. They are mainly control tokens, which an endpoint may strip from a
//! prompt or a reply.

use crate::marker_role::Role;

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
    ("<|eom_id|>", Role::TurnEnd),
    ("<|eot_id|>", Role::TurnEnd),
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
    ("<|call|>", Role::TurnEnd),
    ("<|end|>", Role::TurnEnd),
    ("<|return|>", Role::TurnEnd),
    // The singular of Kimi K2's section, which some models write.
    ("<|tool_call_section_begin|>", Role::Wrapper),
    ("<|tool_call_section_end|>", Role::Close),
    // Granite, LFM2, Command, InternLM.
    ("<|tool_call|>", Role::Wrapper),
    ("<|tool_call_start|>", Role::Wrapper),
    ("<|START_ACTION|>", Role::Wrapper),
    ("<|END_ACTION|>", Role::Close),
    ("<|action_start|>", Role::Wrapper),
    ("<|plugin|>", Role::Wrapper),
    ("<|action_end|>", Role::Close),
    // LongCat, dots, OpenPangu, Apertus.
    ("<longcat_tool_call>", Role::Wrapper),
    ("</longcat_tool_call>", Role::Close),
    ("<dots_function_call>", Role::Wrapper),
    ("</dots_function_call>", Role::Close),
    ("[unused11]", Role::Wrapper),
    ("[unused12]", Role::Close),
    ("<|tools_prefix|>", Role::Wrapper),
    ("<|tools_suffix|>", Role::Close),
    // GigaChat 3; a section without a token is in `scanner/prose.rs`.
    ("<|function_call|>", Role::Wrapper),
    // Gemma 4, FunctionGemma.
    ("<|tool_call>", Role::Wrapper),
    ("<tool_call|>", Role::Close),
    ("<start_function_call>", Role::Wrapper),
    ("<end_function_call>", Role::Close),
    // Hunyuan 3.
    ("<tool_sep>", Role::Separator),
    // Kimi K3.
    ("<|open|>tools<|sep|>", Role::Wrapper),
    ("<|open|>call ", Role::FunctionWithAttributes),
    ("<|open|>argument ", Role::ParameterWithAttributes),
    ("<|close|>argument<|sep|>", Role::ParameterEnd),
    ("<|close|>call<|sep|>", Role::FunctionEnd),
    ("<|close|>tools<|sep|>", Role::Close),
    ("<|close|>response<|sep|>", Role::TurnEnd),
    ("<|close|>message<|sep|>", Role::TurnEnd),
    // MiniMax M3.
    ("]<]minimax[>[<tool_call>", Role::Wrapper),
    ("]<]minimax[>[</tool_call>", Role::Close),
    ("]<]minimax[>[<invoke ", Role::FunctionWithAttributes),
    ("]<]minimax[>[</invoke>", Role::FunctionEnd),
    // Inkling.
    ("<|message_model|>", Role::Wrapper),
    ("<|content_invoke_tool_json|>", Role::WrapperOrSeparator),
    // Solar Open.
    ("<|tool_calls|>", Role::Wrapper),
    ("<|begin|>assistant<|tool_calls|>", Role::Wrapper),
    ("<|tool_call:begin|>", Role::Wrapper),
    ("<|tool_call:name|>", Role::Separator),
    ("<|tool_call:args|>", Role::Separator),
    ("<|tool_call:end|>", Role::Close),
    ("<|calls|>", Role::TurnEnd),
    // PLaMo 3.
    ("<|plamo:begin_tool_requests:plamo|>", Role::Wrapper),
    ("<|plamo:begin_tool_request:plamo|>", Role::Wrapper),
    ("<|plamo:begin_tool_name:plamo|>", Role::Wrapper),
    ("<|plamo:end_tool_name:plamo|>", Role::Separator),
    ("<|plamo:begin_tool_arguments:plamo|>", Role::Separator),
    ("<|plamo:msg|>", Role::Separator),
    ("<|plamo:constrain|>json<|plamo:msg|>", Role::Separator),
    ("<|plamo:tag|>", Role::TurnEnd),
    ("<|plamo:end_tool_arguments:plamo|>", Role::Close),
    ("<|plamo:end_tool_request:plamo|>", Role::Close),
    ("<|plamo:end_tool_requests:plamo|>", Role::Close),
    // K2 Horizon.
    ("<ifm|tool_calls>", Role::Wrapper),
    ("<ifm|tool_call>", Role::Wrapper),
    ("<ifm|arg_key>", Role::Key),
    ("</ifm|arg_key>", Role::KeyEnd),
    ("<ifm|arg_value>", Role::Value),
    ("</ifm|arg_value>", Role::ParameterEnd),
    ("</ifm|tool_call>", Role::Close),
    ("</ifm|tool_calls>", Role::Close),
    // Tokens that leak after a call or an answer: the end of a turn, of reasoning.
    ("<|im_end|>", Role::TurnEnd),
    ("<|endoftext|>", Role::TurnEnd),
    ("<end_of_turn>", Role::TurnEnd),
    ("<turn|>", Role::TurnEnd),
    ("<|eom|>", Role::TurnEnd),
    ("<|eot|>", Role::TurnEnd),
    ("<|end_of_msg|>", Role::TurnEnd),
    ("<|message_sep|>", Role::TurnEnd),
    ("<|end_message|>", Role::TurnEnd),
    ("<|content_model_end_sampling|>", Role::TurnEnd),
    ("<|END_RESPONSE|>", Role::TurnEnd),
    ("<|END_TEXT|>", Role::TurnEnd),
    ("<|END_OF_TURN_TOKEN|>", Role::TurnEnd),
    ("<|assistant_end|>", Role::TurnEnd),
    ("<|role_end|>", Role::TurnEnd),
    ("<|tool_response>", Role::TurnEnd),
    ("<start_function_response>", Role::TurnEnd),
    ("</s>", Role::Close),
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
