//! Ollama's own protocol: `POST {base}/api/chat`; each line of the response is a JSON object.
//!
//! Calls are complete, with their arguments as an object; an error during the stream is a line with `error`.

mod request;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::attempt_error::AttemptError;
use crate::endpoint_error::EndpointError;
use crate::lax::{ContentParts, arguments, nullable, ok_or_none};
use crate::wire::frame::Frame;
use crate::wire::{Decode, DeltaQueue, Phase};
use crate::{Finish, ModelError, NativeCall, TokenUsage};

pub(crate) use request::encode;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(default)]
    done: bool,
    #[serde(borrow, default)]
    done_reason: ContentParts<'a>,
    #[serde(borrow, default)]
    prompt_eval_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    eval_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: ContentParts<'a>,
    #[serde(borrow, default)]
    thinking: ContentParts<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: ContentParts<'a>,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: ContentParts<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    has_calls: bool,
    end: Option<(Finish, TokenUsage)>,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        let (Frame::Bare(line) | Frame::Event { data: line, .. }) = frame;
        self.line(line, out)?;
        Ok(if self.end.is_some() { Phase::Done } else { Phase::Open })
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        self.line(text, out)
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let (finish, usage) = self.end.ok_or_else(|| AttemptError::transient(ModelError::Disconnected))?;
        let finish = if self.has_calls && finish == Finish::Stop { Finish::ToolCalls } else { finish };
        out.push_finish(Some(usage), finish);
        Ok(())
    }
}

impl Decoder {
    fn line(&mut self, line: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let line: Line<'_> = serde_json::from_str(line).map_err(|_| AttemptError::fatal(ModelError::BadResponse))?;
        if let Some(error) = line.error {
            return Err(EndpointError::parse(error.get()).to_stream_error());
        }
        if let Some(message) = &line.message {
            self.message(message, out)?;
        }
        if line.done {
            let finish = if line.done_reason.text == "length" { Finish::Length } else { Finish::Stop };
            let count = |raw| ok_or_none(raw).unwrap_or_default();
            let usage = TokenUsage {
                input: count(line.prompt_eval_count),
                cached: 0,
                cache_writes: 0,
                output: count(line.eval_count),
            };
            self.end = Some((finish, usage));
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_thinking(&message.thinking.text)?;
        out.push_text(&message.content.text)?;
        for call in &message.tool_calls {
            let name = call.function.name.text.trim();
            if name.is_empty() {
                continue;
            }
            let arguments = arguments(call.function.arguments);
            out.count_bytes(name.len() + arguments.len())?;
            self.has_calls = true;
            out.push_call(NativeCall::new(&call.id.text, name, &arguments));
        }
        Ok(())
    }
}
