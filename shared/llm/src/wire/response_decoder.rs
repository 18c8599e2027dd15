use crate::errors::AttemptError;
use crate::wire::{Decode, DeltaQueue, Phase, protocol_of};
use crate::{Delta, ModelError, Wire};

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

/// The framing of a response.
enum Framing {
    /// Unknown before the first byte that is not white space.
    Unknown {
        json: bool,
    },
    Events(sse::Decoder),
    Document(Vec<u8>),
}

impl ResponseDecoder {
    /// Creates a decoder for a response over `wire`. `json`: the response may be one JSON document.
    pub(crate) fn new(wire: Wire, json: bool) -> Self {
        let (decoder, out, phase) = ((protocol_of(wire).decoder)(), DeltaQueue::default(), Phase::Open);
        Self { framing: Framing::Unknown { json }, handler: FrameHandler { decoder, out, phase }, bytes: 0 }
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
            Framing::Document(document) if document.len() + bytes.len() > MAX_DOCUMENT_BYTES => {
                Err(AttemptError::fatal(ModelError::BadResponse))
            }
            Framing::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Handles the end of the body.
    pub(crate) fn end(&mut self) -> Result<(), AttemptError> {
        match std::mem::replace(&mut self.framing, Framing::Unknown { json: false }) {
            Framing::Unknown { .. } if self.handler.phase == Phase::Open => {
                return Err(AttemptError::transient(ModelError::BadResponse));
            }
            Framing::Unknown { .. } => {}
            Framing::Events(events) => {
                events.finish(&mut |frame: sse::Frame<'_>| self.handler.handle(frame))?;
            }
            Framing::Document(document) => {
                self.handler.decoder.document(&String::from_utf8_lossy(&document), &mut self.handler.out)?;
            }
        }
        self.handler.decoder.end(&mut self.handler.out)
    }

    /// Returns the phase of the response.
    pub(crate) fn phase(&self) -> Phase {
        self.handler.phase
    }

    /// Returns the queued deltas.
    pub(crate) fn deltas(&mut self) -> &mut DeltaQueue {
        &mut self.handler.out
    }

    /// Removes the oldest queued delta.
    pub(crate) fn pop(&mut self) -> Option<Delta> {
        self.handler.out.pop()
    }

    /// Decides by the first byte after white space: HTML is rejected, JSON is buffered as a document, the rest is events.
    fn detect_framing(&mut self, bytes: &[u8]) -> Result<(), AttemptError> {
        let Framing::Unknown { json } = self.framing else { return Ok(()) };
        match bytes.first() {
            None => {}
            Some(b'<') => return Err(AttemptError::fatal(ModelError::BadResponse)),
            Some(b'{' | b'[') if json => self.framing = Framing::Document(Vec::new()),
            Some(_) => self.framing = Framing::Events(sse::Decoder::default()),
        }
        Ok(())
    }
}

struct FrameHandler {
    decoder: Box<dyn Decode>,
    out: DeltaQueue,
    phase: Phase,
}

impl FrameHandler {
    /// Decodes a frame; a line outside the format is ignored unless it looks like JSON.
    fn handle(&mut self, frame: sse::Frame<'_>) -> Result<(), AttemptError> {
        if self.phase == Phase::Done && frame != sse::Frame::TooLong {
            return Ok(());
        }
        let phase = match frame {
            sse::Frame::TooLong => return Err(AttemptError::fatal(ModelError::BadResponse)),
            sse::Frame::Event(sse::Event { kind: "error", data, .. }) => Err(self.decoder.error(data)),
            sse::Frame::Event(sse::Event { data, .. }) if data.trim_ascii().is_empty() => return Ok(()),
            sse::Frame::Event(sse::Event { data, .. }) => self.decoder.data(data, &mut self.out),
            sse::Frame::Unknown(line) if line.starts_with('{') => self.decoder.bare_line(line, &mut self.out),
            sse::Frame::Unknown(line) => match error_field(line) {
                Some(data) => Err(self.decoder.error(data)),
                None => return Ok(()),
            },
        };
        self.phase = match phase {
            Ok(phase) => phase.max(self.phase),
            // The answer is complete: a later error does not invalidate it.
            Err(_) if self.phase == Phase::Finished => Phase::Done,
            Err(fault) => return Err(fault),
        };
        Ok(())
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
