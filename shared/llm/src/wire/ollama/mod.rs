//! Ollama's own protocol: `POST {base}/api/chat`; each line of the response is a JSON object.
//!
//! Calls are complete, with their arguments as an object; an error during the stream is a line with `error`.

mod request;

use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax, arguments, nullable};
use crate::wire::{Decode, DeltaQueue, Phase, Protocol, parse};
use crate::{Finish, ModelError, TokenUsage};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (AUTHORIZATION, "Bearer "),
    default_base: None,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    done: bool,
    done_reason: ContentParts<'a>,
    prompt_eval_count: Lax<u64>,
    eval_count: Lax<u64>,
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: ContentParts<'a>,
    thinking: ContentParts<'a>,
    #[serde(deserialize_with = "nullable")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: ContentParts<'a>,
    function: Function<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: ContentParts<'a>,
    arguments: Option<&'a RawValue>,
}

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    end: Option<(Finish, TokenUsage)>,
}

impl Decode for Decoder {
    fn data(&mut self, line: &str, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        self.line(line, out)?;
        Ok(if self.end.is_some() { Phase::Done } else { Phase::Open })
    }

    fn bare_line(&mut self, line: &str, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        self.data(line, out)
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        self.line(text, out)
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let (finish, usage) = self.end.ok_or_else(|| AttemptError::transient(ModelError::Disconnected))?;
        out.push_finish(Some(usage), finish);
        Ok(())
    }
}

impl Decoder {
    fn line(&mut self, line: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let line: Line<'_> = parse(line)?;
        if let Some(error) = line.error {
            return Err(self.error(error.get()));
        }
        if let Some(message) = &line.message {
            Self::message(message, out)?;
        }
        if line.done {
            let finish = if line.done_reason.text == "length" { Finish::Length } else { Finish::Stop };
            let (input, output) = (line.prompt_eval_count.or_default(), line.eval_count.or_default());
            let usage = TokenUsage { input, output, ..TokenUsage::default() };
            self.end = Some((finish, usage));
        }
        Ok(())
    }

    fn message(message: &Message<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_thinking(&message.thinking.text)?;
        out.push_text(&message.content.text)?;
        message.tool_calls.iter().try_for_each(|Call { id, function }| {
            out.push_whole_call(&id.text, &function.name.text, &arguments(function.arguments), "")
        })
    }
}
