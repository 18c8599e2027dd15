use crate::errors::AttemptError;
use crate::wire::{Decode, DeltaQueue, Phase, event_stream, protocol_of};
use crate::{ModelError, Wire};

/// The maximum size of one response, in bytes, including frames and comments.
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// The maximum size of a response that is one JSON document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

/// Decodes the bytes of one response into deltas, independent of chunk boundaries.
pub(crate) struct ResponseDecoder {
    framing: Framing,
    handler: FrameHandler,
    bytes: usize,
}

enum Framing {
    /// Unknown before the first byte that is not white space.
    Unknown {
        json: bool,
        binary: bool,
    },
    Events(sse::Decoder),
    Binary(event_stream::Decoder),
    Document(Vec<u8>),
}

impl ResponseDecoder {
    /// Creates a decoder for a response over `wire`. `json`: the response may be one JSON document.
    pub(crate) fn new(wire: Wire, json: bool) -> Self {
        let (decoder, out) = ((protocol_of(wire).decoder)(), DeltaQueue::default());
        let framing = Framing::Unknown { json, binary: wire == Wire::Converse };
        Self { framing, handler: FrameHandler { decoder, out }, bytes: 0 }
    }

    /// Decodes more bytes; bytes after the end are ignored.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), AttemptError> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_RESPONSE_BYTES {
            return Err(AttemptError::fatal(ModelError::BadResponse));
        }
        // Leading white space is ignored in every framing, independent of chunk boundaries.
        let begun = !matches!(self.framing, Framing::Unknown { .. });
        let bytes = if begun { bytes } else { bytes.trim_ascii_start() };
        self.detect_framing(bytes)?;
        match &mut self.framing {
            Framing::Unknown { .. } => Ok(()),
            Framing::Events(events) => events.push(bytes, &mut |frame: sse::Frame<'_>| self.handler.handle(frame)),
            Framing::Binary(events) => {
                let result = events.push(bytes, |message| self.handler.handle_message(message));
                result.or_else(|damage| self.handler.advance(Err(damage)))
            }
            Framing::Document(document) if document.len() + bytes.len() > MAX_DOCUMENT_BYTES => {
                Err(AttemptError::fatal(ModelError::BadResponse))
            }
            Framing::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    pub(crate) fn end(&mut self) -> Result<(), AttemptError> {
        match std::mem::replace(&mut self.framing, Framing::Unknown { json: false, binary: false }) {
            Framing::Unknown { .. } if self.phase() == Phase::Open => {
                return Err(AttemptError::transient(ModelError::BadResponse));
            }
            // A binary frame that is cut off is not used; whether the response is complete depends on its finish.
            Framing::Unknown { .. } | Framing::Binary(_) => {}
            Framing::Events(events) => {
                events.finish(&mut |frame: sse::Frame<'_>| self.handler.handle(frame))?;
            }
            Framing::Document(document) => {
                self.handler.decoder.document(&String::from_utf8_lossy(&document), &mut self.handler.out)?;
            }
        }
        self.handler.decoder.end(&mut self.handler.out)
    }

    pub(crate) fn phase(&self) -> Phase {
        self.handler.out.phase()
    }

    pub(crate) fn deltas(&mut self) -> &mut DeltaQueue {
        &mut self.handler.out
    }

    /// Decides by the first byte after white space: HTML is rejected, JSON is buffered as a document, the rest is events.
    fn detect_framing(&mut self, bytes: &[u8]) -> Result<(), AttemptError> {
        let Framing::Unknown { json, binary } = self.framing else { return Ok(()) };
        match bytes.first() {
            None => {}
            Some(b'<') => return Err(AttemptError::fatal(ModelError::BadResponse)),
            Some(b'{' | b'[') if json => self.framing = Framing::Document(Vec::new()),
            Some(_) if binary => self.framing = Framing::Binary(event_stream::Decoder::default()),
            Some(_) => self.framing = Framing::Events(sse::Decoder::default()),
        }
        Ok(())
    }
}

struct FrameHandler {
    decoder: Box<dyn Decode>,
    out: DeltaQueue,
}

impl FrameHandler {
    /// Decodes a frame; a line outside the format is ignored unless it looks like JSON.
    fn handle(&mut self, frame: sse::Frame<'_>) -> Result<(), AttemptError> {
        if self.out.is_done && frame != sse::Frame::TooLong {
            return Ok(());
        }
        let result = match frame {
            sse::Frame::TooLong => return Err(AttemptError::fatal(ModelError::BadResponse)),
            sse::Frame::Event(sse::Event { kind: "error", data, .. }) => Err(self.decoder.error(data, &mut self.out)),
            sse::Frame::Event(sse::Event { data, .. }) if data.trim_ascii().is_empty() => return Ok(()),
            sse::Frame::Event(sse::Event { data, .. }) => self.decoder.data(data, &mut self.out),
            sse::Frame::Unknown(line) if line.starts_with('{') => self.decoder.bare_line(line, &mut self.out),
            sse::Frame::Unknown(line) => match error_field(line) {
                Some(data) => Err(self.decoder.error(data, &mut self.out)),
                None => return Ok(()),
            },
        };
        self.advance(result)
    }

    fn handle_message(&mut self, message: &event_stream::Message<'_>) -> Result<(), AttemptError> {
        if self.out.is_done {
            return Ok(());
        }
        let result = self.decoder.message(message, &mut self.out);
        self.advance(result)
    }

    fn advance(&mut self, result: Result<(), AttemptError>) -> Result<(), AttemptError> {
        // The answer is complete: a later error does not invalidate it.
        if result.is_err() && self.out.finish.is_some() {
            self.out.is_done = true;
            return Ok(());
        }
        result
    }
}

/// Returns the object in a field `error`.
// llama-box and older versions of llama.cpp: https://github.com/ggml-org/llama.cpp/pull/16109, 2026-11-25.
fn error_field(line: &str) -> Option<&str> {
    Some(line.strip_prefix("error:")?.trim_ascii()).filter(|data| data.starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(line: &str) -> Result<(), AttemptError> {
        ResponseDecoder::new(Wire::Openai, false).push(format!("data: {{}}\n{line}\n").as_bytes())
    }

    #[test]
    fn only_lines_starting_with_brace_are_bare() {
        for line in ["{\"error\":{}}", r#"error: {"error":{}}"#] {
            assert!(decode(&line.replace("{}}", "{\"code\":1}}")).is_err(), "{line}");
        }
        for line in [" {\"error\":1}", "error", "error: no", "errors: {\"error\":1}", "Data: {\"error\":1}"] {
            assert_eq!(decode(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn f041_event_over_limit_fails_the_response() {
        let expected = Err(AttemptError::fatal(ModelError::BadResponse));
        let mut decoder = ResponseDecoder::new(Wire::Openai, false);
        assert_eq!(decoder.handler.handle(sse::Frame::TooLong), expected);
    }
}
