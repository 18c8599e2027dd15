//! Amazon Bedrock's Converse: `POST {base}/model/{model}/converse-stream`; the response is a binary event stream.
// Source of the shapes: service model `bedrock-runtime` of botocore 1.44.8, 2026-11-26.

mod param_fields;
mod request;

use domain::ReasoningItem;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::errors::{AttemptError, EndpointError};
use crate::lax::{ContentParts, Lax, arguments};
use crate::wire::event_stream::Message;
use crate::wire::tool_calls::CallFragment;
use crate::wire::{Decode, DeltaQueue, Protocol, counts, parse, stream_error};
use crate::{Finish, ModelError, TokenUsage};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (AUTHORIZATION, "Bearer "),
    default_base: None,
};

/// Any event of a stream; its type determines which fields are present. Padding in a field `p` is ignored.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event<'a> {
    content_block_index: u64,
    #[serde(borrow)]
    start: Block<'a>,
    delta: Block<'a>,
    stop_reason: ContentParts<'a>,
    usage: Lax<Value>,
}

/// The start of a block, a delta of one, or a whole one.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow)]
    text: ContentParts<'a>,
    tool_use: Option<ToolUse<'a>>,
    reasoning_content: Option<Reasoning<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolUse<'a> {
    #[serde(borrow, rename = "type")]
    kind: ContentParts<'a>,
    #[serde(rename = "toolUseId")]
    id: ContentParts<'a>,
    name: ContentParts<'a>,
    /// Pieces of JSON in a stream, an object in a document.
    input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reasoning<'a> {
    #[serde(borrow)]
    text: ContentParts<'a>,
    signature: ContentParts<'a>,
    /// Base64.
    redacted_content: ContentParts<'a>,
    /// Text and signature of a whole block.
    #[serde(rename = "reasoningText")]
    whole: Option<Box<Reasoning<'a>>>,
}

#[derive(Default)]
pub(crate) struct Decoder {
    /// The index and the unique id of each call.
    call_ids: Vec<(u64, String)>,
    /// The index of the latest block, if it is a call of a tool that the provider runs itself.
    provider_call: Option<u64>,
}

impl Decode for Decoder {
    fn message(&mut self, message: &Message<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let payload = str::from_utf8(message.payload).map_err(|_| AttemptError::fatal(ModelError::BadResponse))?;
        match message.header(":message-type") {
            "exception" => {
                return Err(EndpointError::parse_aws(message.header(":exception-type"), payload).to_stream_error());
            }
            "error" => {
                let text = message.header(":error-message");
                return Err(EndpointError::parse_aws(message.header(":error-code"), text).to_stream_error());
            }
            _ => {}
        }
        match message.header(":event-type") {
            "contentBlockStart" | "contentBlockDelta" | "messageStop" | "metadata" => self.data(payload, out)?,
            "contentBlockStop" => out.end_thinking(),
            _ => {}
        }
        Ok(())
    }

    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let event: Event<'_> = parse(data)?;
        self.block(event.content_block_index, &event.start, out)?;
        self.block(event.content_block_index, &event.delta, out)?;
        if !event.stop_reason.text.is_empty() {
            out.finish = Some(finish(&event.stop_reason.text)?);
        }
        out.usage = event.usage.0.as_ref().map(usage).or(out.usage);
        out.is_done = out.usage.is_some() && out.finish.is_some();
        Ok(())
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let document: Value = parse(text)?;
        let output = document.get("output").filter(|output| output.is_object()).ok_or_else(|| stream_error(text))?;
        let content = output.pointer("/message/content").and_then(Value::as_array);
        for (index, block) in (0..).zip(content.into_iter().flatten()) {
            self.block(index, &parse(&block.to_string())?, out)?;
            out.end_thinking();
        }
        out.usage = document.get("usage").map(usage);
        out.finish = Some(finish(document["stopReason"].as_str().unwrap_or_default())?);
        Ok(())
    }
}

impl Decoder {
    fn block(&mut self, index: u64, block: &Block<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_text(&block.text.text)?;
        if let Some(reasoning) = &block.reasoning_content {
            Self::reasoning(reasoning.whole.as_deref().unwrap_or(reasoning), out)?;
        }
        block.tool_use.as_ref().map_or(Ok(()), |call| self.call(index, call, out))
    }

    fn call(&mut self, index: u64, call: &ToolUse<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if call.kind.text == "server_tool_use" {
            self.provider_call = Some(index);
        }
        if self.provider_call == Some(index) {
            return Ok(());
        }
        let id = self.unique_id(index, &call.id.text);
        let (name, arguments) = (&*call.name.text, &*arguments(call.input));
        out.add_call(&CallFragment { index: Some(index), id: &id, name, arguments, signature: "" })
    }

    /// Returns an id that no other call of the reply has: some models number the calls of each block from zero.
    fn unique_id(&mut self, index: u64, id: &str) -> String {
        if let Some((_, known)) = self.call_ids.iter().find(|(other, _)| *other == index) {
            return known.clone();
        }
        let is_used = self.call_ids.iter().any(|(_, other)| other == id);
        let id = if is_used { format!("{id}-{index}") } else { id.to_owned() };
        self.call_ids.push((index, id.clone()));
        id
    }

    fn reasoning(part: &Reasoning<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_signed_thinking(&part.text.text, &part.signature.text)?;
        if !part.redacted_content.text.is_empty() {
            out.end_thinking();
            out.push_reasoning(ReasoningItem::RedactedThinking { data: part.redacted_content.text.to_string() });
        }
        out.count_bytes(part.redacted_content.text.len())
    }
}

fn usage(usage: &Value) -> TokenUsage {
    let names = ["/inputTokens", "/cacheReadInputTokens", "/cacheWriteInputTokens", "/outputTokens"];
    TokenUsage::without_cache(counts(usage, names))
}

// Source: service model `bedrock-runtime` of botocore 1.44.8, seen in recorded answers, 2026-11-26.
/// Returns the finish; an error if the model failed.
fn finish(reason: &str) -> Result<Finish, AttemptError> {
    match reason {
        "tool_use" => Ok(Finish::ToolCalls),
        "max_tokens" | "model_context_window_exceeded" => Ok(Finish::Length),
        "guardrail_intervened" | "content_filtered" => Ok(Finish::ContentFilter),
        "malformed_model_output" | "malformed_tool_use" => Err(AttemptError::slip()),
        _ => Ok(Finish::Stop),
    }
}

#[cfg(test)]
pub(super) use tests::frame;
#[cfg(test)]
mod tests;
