//! Ollama's own protocol: `POST {base}/api/chat`; each line of the response is a JSON object.
//!
//! Calls are complete, with their arguments as an object; an error during the stream is a line with `error`.

mod request;

use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax, arguments, nullable};
use crate::wire::chat_completions::CallDelta;
use crate::wire::{Decode, DeltaQueue, Protocol, parse, stream_error};
use crate::{Finish, TokenUsage};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder),
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
    tool_calls: Vec<CallDelta<'a>>,
}

pub(crate) struct Decoder;

impl Decode for Decoder {
    fn data(&mut self, line: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let line: Line<'_> = parse(line)?;
        if let Some(error) = line.error {
            return Err(stream_error(error.get()));
        }
        let message = line.message.unwrap_or_default();
        out.push_thinking(&message.thinking.text)?;
        out.push_text(&message.content.text)?;
        for CallDelta { id, function, .. } in &message.tool_calls {
            out.push_whole_call(&id.text, &function.name.text, &arguments(function.arguments), "")?;
        }
        if line.done {
            out.finish = Some(if line.done_reason.text == "length" { Finish::Length } else { Finish::Stop });
            out.is_done = true;
            let (input, output) = (line.prompt_eval_count.or_default(), line.eval_count.or_default());
            out.usage = Some(TokenUsage { input, output, ..TokenUsage::default() });
        }
        Ok(())
    }

    fn bare_line(&mut self, line: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        self.data(line, out)
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        self.data(text, out)
    }
}
