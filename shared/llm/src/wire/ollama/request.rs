use std::borrow::Cow;

use domain::{Message, ToolCall, ToolChoice, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Thinking;
use crate::errors::AttemptError;
use crate::params::ResolvedParams;
use crate::wire::functions::{Tool, object_or_empty, result_content};
use crate::wire::pictures::pictures;
use crate::wire::{Fields, HttpRequestParts, WireRequest};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(flatten)]
    fields: Fields,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
        // https://docs.ollama.com/capabilities/vision, 2026-11-27.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<&'a str>,
    },
    Assistant {
        content: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        thinking: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Value>,
    },
    Tool {
        tool_name: &'a str,
        content: Cow<'a, str>,
    },
}

/// Encodes the request. Ollama has no `tool_choice`: forbidden tools are omitted, and no call can be forced.
pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks, .. } = request;
    let parameters = quirks.parameters;
    let system = Some(&*prompt.system).filter(|text| !text.is_empty()).map(|content| WireMessage::System { content });
    let tools: &[ToolSpec] = if prompt.tool_choice == ToolChoice::None { &[] } else { &prompt.tools };
    // Ollama's default context is only several thousand tokens.
    let options = request.sampling_fields("num_predict").with("num_ctx", parameters.context_tokens);
    let body = Body {
        model,
        messages: system.into_iter().chain(prompt.messages.iter().filter_map(message)).collect(),
        stream: true,
        tools: tools.iter().map(Tool::from).collect(),
        fields: Fields::default()
            .with("think", think(&parameters))
            .with("format", prompt.params.ollama_format())
            .with("options", Some(options).filter(|options| !options.is_empty())),
    };
    HttpRequestParts::new("/api/chat", &body)
}

fn think(parameters: &ResolvedParams) -> Option<Value> {
    match parameters.thinking {
        Some(Thinking::Off) => Some(false.into()),
        Some(Thinking::On) if parameters.effort.is_none() => Some(true.into()),
        _ => parameters.effort_name().map(Value::from),
    }
}

fn message(message: &Message) -> Option<WireMessage<'_>> {
    match message {
        Message::User { text, attachments } => {
            let images = pictures(attachments).map(|picture| picture.base64).collect();
            Some(WireMessage::User { content: text, images })
        }
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

fn call(call: &ToolCall) -> Value {
    json!({ "function": { "name": call.name, "arguments": object_or_empty(&call.arguments) } })
}

#[cfg(test)]
mod tests {
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
