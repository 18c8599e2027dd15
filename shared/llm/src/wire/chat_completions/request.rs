use std::borrow::Cow;

use domain::{Attachment, Message, ProviderData, ReasoningDetail, ReasoningItem, ToolCall, ToolChoice};
use serde::Serialize;
use serde_json::{Value, json};

use super::param_fields::param_fields;
use crate::Prompt;
use crate::errors::AttemptError;
use crate::params::ReasoningEcho;
use crate::wire::call_numbers::CallNumbers;
use crate::wire::functions::{CacheControl, Tool, mode_name, result_content, signed_calls};
use crate::wire::pictures::{DataUrl, pictures};
use crate::wire::{Fields, HttpRequestParts, WireRequest};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    // Some endpoints reject an empty list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<&'a Value>,
    #[serde(flatten)]
    fields: Fields,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: Content<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` when there is nothing but calls.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<&'a ReasoningDetail>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Content<'a>,
    },
}

/// Text, as a part of its own where it ends a cached beginning of the prompt.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Cached([Value; 1]),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Picture(PicturePart<'a>),
    Text(Value),
}

// Recorded request in charmbracelet/fantasy, openai-gpt-5-stream.yaml, 2026-11-27.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PicturePart<'a> {
    ImageUrl { image_url: Address<'a> },
}

#[derive(Serialize)]
struct Address<'a> {
    url: DataUrl<'a>,
}

impl<'a> Content<'a> {
    fn new(text: impl Into<Cow<'a, str>>, cached: bool) -> Self {
        let text = text.into();
        if cached { Self::Cached([text_part(&text, cached)]) } else { Self::Text(text) }
    }

    /// The content of a user message. A text part that is empty is rejected by several endpoints.
    fn of_user(text: &'a str, attachments: &'a [Attachment], cached: bool) -> Self {
        let picture = |picture| Part::Picture(PicturePart::ImageUrl { image_url: Address { url: DataUrl(picture) } });
        let mut parts: Vec<_> = pictures(attachments).map(picture).collect();
        if parts.is_empty() {
            return Self::new(text, cached);
        }
        parts.extend((!text.trim().is_empty()).then(|| Part::Text(text_part(text, cached))));
        Self::Parts(parts)
    }
}

fn text_part(text: &str, cached: bool) -> Value {
    let mut part = json!({ "type": "text", "text": text });
    if cached {
        part["cache_control"] = json!(CacheControl::Ephemeral);
    }
    part
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Value,
    /// The signature at Google.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Value>,
}

/// Encodes the request; `tool_choice` is omitted if it is the default.
pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks, .. } = request;
    let system = Some(&*prompt.system).filter(|text| !text.is_empty());
    let system = system.map(|text| WireMessage::System { content: Content::new(text, quirks.cache_control) });
    let mut encoder = MessageEncoder {
        request,
        echo: if uses_tools(prompt) { quirks.echo_reasoning } else { ReasoningEcho::Never },
        turn_start: prompt.messages.iter().rposition(|one| matches!(one, Message::User { .. })).unwrap_or_default(),
        short_ids: quirks.short_ids.then(|| CallNumbers::new(true)),
    };
    let counts_usage = quirks.usage_option && quirks.stream;
    let body = Body {
        model,
        messages: system
            .into_iter()
            .chain(prompt.messages.iter().enumerate().filter_map(|(at, one)| encoder.message(at, one)))
            .collect(),
        stream: quirks.stream,
        tools: prompt.tools.iter().map(Tool::from).collect(),
        response_format: prompt.params.format.as_ref(),
        fields: param_fields(request)
            .with("stream_options", counts_usage.then(|| json!({ "include_usage": true })))
            .with("tool_choice", request.tool_choice().map(choice)),
    };
    HttpRequestParts::new("/chat/completions", &body)
}

/// Whether tools are used; without tools the model does not need the reasoning of earlier turns.
fn uses_tools(prompt: &Prompt) -> bool {
    let calls = |message: &Message| matches!(message, Message::Assistant { calls, .. } if !calls.is_empty());
    !prompt.tools.is_empty() || prompt.messages.iter().any(calls)
}

struct MessageEncoder<'a> {
    request: WireRequest<'a>,
    echo: ReasoningEcho,
    /// The position of the last user message.
    turn_start: usize,
    /// The ids for endpoints that accept none of another form.
    short_ids: Option<CallNumbers<'a>>,
}

impl<'a> MessageEncoder<'a> {
    fn message(&mut self, at: usize, message: &'a Message) -> Option<WireMessage<'a>> {
        match message {
            Message::User { text, attachments } => {
                Some(WireMessage::User { content: Content::of_user(text, attachments, self.ends_cache(at)) })
            }
            // Several endpoints reject an empty message.
            Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => None,
            Message::Assistant { text, thinking, calls, provider_data } => {
                let data = self.request.own_data(provider_data.as_deref());
                Some(WireMessage::Assistant {
                    content: Some(&**text).filter(|text| !text.is_empty()),
                    reasoning_content: Some(&**thinking).filter(|thinking| self.echoes(at, thinking, data)),
                    reasoning_details: data.into_iter().flat_map(details).collect(),
                    tool_calls: self.calls(calls, data),
                })
            }
            Message::Tool(result) => {
                let content = Content::new(result_content(result), self.ends_cache(at));
                let short = self.short_ids.as_ref().map(|ids| ids.of_result(&result.call_id));
                Some(WireMessage::Tool { tool_call_id: short.map_or((&*result.call_id).into(), Cow::Owned), content })
            }
        }
    }

    /// Whether the message at this position ends the cached beginning: the next prompt of the turn begins with all of them.
    fn ends_cache(&self, at: usize) -> bool {
        self.request.quirks.cache_control && at + 1 == self.request.prompt.messages.len()
    }

    fn echoes(&self, at: usize, thinking: &str, data: Option<&ProviderData>) -> bool {
        match self.echo {
            ReasoningEcho::Never => false,
            ReasoningEcho::Turn => at > self.turn_start && !thinking.is_empty() && data.is_some(),
            ReasoningEcho::Always => true,
        }
    }

    fn calls(&mut self, calls: &'a [ToolCall], data: Option<&'a ProviderData>) -> Vec<Call<'a>> {
        let signed = signed_calls(calls, data, self.request.quirks.signatures);
        let encode = |(call, signature): (&'a ToolCall, Option<&'a str>)| Call {
            id: self.short_ids.as_mut().map_or((&*call.id).into(), |ids| Cow::Owned(ids.assign(&call.id))),
            kind: "function",
            // The arguments are JSON in a string.
            function: json!({ "name": call.name, "arguments": call.arguments.to_string() }),
            extra_content: signature.map(|signature| json!({ "google": { "thought_signature": signature } })),
        };
        signed.map(encode).collect()
    }
}

fn details(data: &ProviderData) -> impl Iterator<Item = &ReasoningDetail> {
    data.reasoning.iter().filter_map(|item| if let ReasoningItem::Detail(detail) = item { Some(detail) } else { None })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
        other => mode_name(other).into(),
    }
}
