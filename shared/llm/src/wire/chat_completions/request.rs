use std::borrow::Cow;

use domain::{Message, ToolCall, ToolChoice};
use serde::Serialize;
use serde_json::Value;

use super::param_fields::ParamFields;
use crate::Prompt;
use crate::attempt_error::AttemptError;
use crate::wire::functions::{Tool, result_content};
use crate::wire::{HttpRequestParts, Quirks, WireRequest};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    // Some endpoints reject an empty list, or a choice without tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(flatten)]
    params: ParamFields,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<&'a Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        /// `null` when there is nothing but calls.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    /// JSON in a string.
    arguments: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Mode(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        function: FunctionName<'a>,
    },
}

#[derive(Serialize)]
struct FunctionName<'a> {
    name: &'a str,
}

/// Encodes the request; `tool_choice` is omitted if it is the default.
pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks } = request;
    let system = Some(&*prompt.system).filter(|text| !text.is_empty()).map(|content| WireMessage::System { content });
    let echo = quirks.echo_reasoning && uses_tools(prompt);
    let body = Body {
        model,
        messages: system.into_iter().chain(prompt.messages.iter().filter_map(|one| message(one, echo))).collect(),
        stream: true,
        stream_options: quirks.usage_option.then_some(StreamOptions { include_usage: true }),
        tools: prompt.tools.iter().map(Tool::from).collect(),
        tool_choice: choice(&prompt.tool_choice, quirks).filter(|_| !prompt.tools.is_empty()),
        params: quirks.parameters.into(),
        stop: request.stop_sequences(),
        seed: prompt.params.seed,
        presence_penalty: prompt.params.presence_penalty,
        frequency_penalty: prompt.params.frequency_penalty,
        response_format: prompt.params.format.as_ref(),
    };
    HttpRequestParts::new("/chat/completions", &body)
}

/// Whether tools are used; without tools the model does not need the reasoning of earlier turns.
fn uses_tools(prompt: &Prompt) -> bool {
    let calls = |message: &Message| matches!(message, Message::Assistant { calls, .. } if !calls.is_empty());
    !prompt.tools.is_empty() || prompt.messages.iter().any(calls)
}

fn message(message: &Message, echo: bool) -> Option<WireMessage<'_>> {
    match message {
        Message::User { text } => Some(WireMessage::User { content: text }),
        // Several endpoints reject an empty message.
        Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => None,
        Message::Assistant { text, thinking, calls } => Some(WireMessage::Assistant {
            content: Some(&**text).filter(|text| !text.is_empty()),
            reasoning_content: echo.then_some(thinking),
            tool_calls: calls.iter().map(call).collect(),
        }),
        Message::Tool(result) => {
            Some(WireMessage::Tool { tool_call_id: &result.call_id, content: result_content(result) })
        }
    }
}

fn call(call: &ToolCall) -> Call<'_> {
    let function = CalledFunction { name: &call.name, arguments: call.arguments.to_string() };
    Call { id: &call.id, kind: "function", function }
}

fn choice(choice: &ToolChoice, quirks: Quirks) -> Option<Choice<'_>> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Choice::Mode("none")),
        ToolChoice::Required | ToolChoice::Tool(_) if !quirks.forced_choice => None,
        ToolChoice::Required => Some(Choice::Mode("required")),
        ToolChoice::Tool(name) => Some(Choice::Function { kind: "function", function: FunctionName { name } }),
    }
}
