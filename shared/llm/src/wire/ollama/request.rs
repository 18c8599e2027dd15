use std::borrow::Cow;

use domain::{Message, ToolCall, ToolChoice, ToolSpec};
use serde::Serialize;
use serde_json::Value;

use crate::Thinking;
use crate::attempt_error::AttemptError;
use crate::resolved_params::ResolvedParams;
use crate::wire::functions::{Tool, object_or_empty, result_content};
use crate::wire::{HttpRequestParts, WireRequest};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Think>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Value>,
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: Options<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Think {
    Enabled(bool),
    Level(&'static str),
}

#[derive(Default, PartialEq, Serialize)]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    /// The context size in tokens; Ollama's default is only several thousand.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
}

impl Options<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
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
        content: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        thinking: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_name: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a Value,
}

/// Encodes the request. Ollama has no `tool_choice`: forbidden tools are omitted, and no call can be forced.
pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks, .. } = request;
    let parameters = quirks.parameters;
    let system = Some(&*prompt.system).filter(|text| !text.is_empty()).map(|content| WireMessage::System { content });
    let tools: &[ToolSpec] = if prompt.tool_choice == ToolChoice::None { &[] } else { &prompt.tools };
    let body = Body {
        model,
        messages: system.into_iter().chain(prompt.messages.iter().filter_map(message)).collect(),
        stream: true,
        tools: tools.iter().map(Tool::from).collect(),
        think: think(&parameters),
        format: prompt.params.ollama_format(),
        options: Options {
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            num_predict: parameters.limit.map(|(_, tokens)| tokens),
            num_ctx: parameters.context_tokens,
            stop: request.stop_sequences(),
            seed: prompt.params.seed,
            presence_penalty: prompt.params.presence_penalty,
            frequency_penalty: prompt.params.frequency_penalty,
        },
    };
    HttpRequestParts::new("/api/chat", &body)
}

fn think(parameters: &ResolvedParams) -> Option<Think> {
    match parameters.thinking {
        Some(Thinking::Off) => Some(Think::Enabled(false)),
        Some(Thinking::On) if parameters.effort.is_none() => Some(Think::Enabled(true)),
        _ => parameters.effort_name().map(Think::Level),
    }
}

fn message(message: &Message) -> Option<WireMessage<'_>> {
    match message {
        Message::User { text } => Some(WireMessage::User { content: text }),
        Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => None,
        Message::Assistant { text, thinking, calls, .. } => Some(WireMessage::Assistant {
            content: text,
            // Only needed to continue after calls.
            thinking: if calls.is_empty() { "" } else { thinking },
            tool_calls: calls.iter().map(call).collect(),
        }),
        Message::Tool(result) => Some(WireMessage::Tool { tool_name: &result.name, content: result_content(result) }),
    }
}

fn call(call: &ToolCall) -> Call<'_> {
    Call { function: Function { name: &call.name, arguments: object_or_empty(&call.arguments) } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::tests::{body, conversation, quirks};

    #[test]
    fn conversation_is_encoded_for_the_wire() {
        let function = json!({"name": "now", "description": "Tells the time.", "parameters": {"type": "object"}});
        let expected = json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "hello"},
                {"role": "user", "content": "time?"},
                {"role": "assistant", "content": "", "thinking": "look", "tool_calls": [
                    {"function": {"name": "now", "arguments": {"zone": "CET"}}},
                    {"function": {"name": "now", "arguments": {}}},
                ]},
                {"role": "tool", "tool_name": "now", "content": "noon"},
                {"role": "tool", "tool_name": "now", "content": "{\"error\":\"no such zone\"}"},
            ],
            "stream": true,
            "tools": [{"type": "function", "function": function}],
        });
        assert_eq!(body(encode, &conversation(ToolChoice::Required), quirks()), ("/api/chat".to_owned(), expected));
    }

    #[test]
    fn forbidden_tools_are_omitted() {
        let (_, body) = body(encode, &conversation(ToolChoice::None), quirks());
        assert_eq!(body.get("tools"), None);
    }
}
