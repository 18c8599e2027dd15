use crate::attempt_error::AttemptError;
use crate::wire::{Decode, DeltaQueue, Frame, Phase, WireDecoder};
use crate::{Delta, ModelError, Wire};

/// The maximum size of one response, in bytes, including frames and comments.
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// The maximum size of a response that is one JSON document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

/// Decodes the bytes of one response into deltas, independent of chunk boundaries.
pub(crate) struct ResponseDecoder {
    framing: Framing,
    decoder: WireDecoder,
    out: DeltaQueue,
    phase: Phase,
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
        let framing = Framing::Unknown { json };
        Self { framing, decoder: WireDecoder::new(wire), out: DeltaQueue::default(), phase: Phase::Open, bytes: 0 }
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
            Framing::Events(events) => {
                let mut handler =
                    FrameHandler { decoder: self.decoder.as_mut(), out: &mut self.out, phase: &mut self.phase };
                events.push(bytes, &mut |frame: sse::Frame<'_>| handler.handle(frame))
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

    /// Handles the end of the body.
    pub(crate) fn end(&mut self) -> Result<(), AttemptError> {
        match std::mem::replace(&mut self.framing, Framing::Unknown { json: false }) {
            Framing::Unknown { .. } if self.phase == Phase::Open => {
                return Err(AttemptError::transient(ModelError::BadResponse));
            }
            Framing::Unknown { .. } => {}
            Framing::Events(events) => {
                let mut handler =
                    FrameHandler { decoder: self.decoder.as_mut(), out: &mut self.out, phase: &mut self.phase };
                events.finish(&mut |frame: sse::Frame<'_>| handler.handle(frame))?;
            }
            Framing::Document(document) => {
                self.decoder.as_mut().document(&String::from_utf8_lossy(&document), &mut self.out)?;
            }
        }
        self.decoder.as_mut().end(&mut self.out)
    }

    /// Returns the phase of the response.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the queued deltas.
    pub(crate) fn deltas(&mut self) -> &mut DeltaQueue {
        &mut self.out
    }

    /// Removes the oldest queued delta.
    pub(crate) fn pop(&mut self) -> Option<Delta> {
        self.out.pop()
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

struct FrameHandler<'a> {
    decoder: &'a mut dyn Decode,
    out: &'a mut DeltaQueue,
    phase: &'a mut Phase,
}

impl FrameHandler<'_> {
    fn handle(&mut self, frame: sse::Frame<'_>) -> Result<(), AttemptError> {
        let Some(frame) = Frame::from_sse(frame)? else { return Ok(()) };
        if *self.phase < Phase::Done {
            *self.phase = match self.decoder.frame(frame, self.out) {
                Ok(phase) => phase.max(*self.phase),
                // The answer is complete: a later error does not invalidate it.
                Err(_) if *self.phase == Phase::Finished => Phase::Done,
                Err(fault) => return Err(fault),
            };
        }
        Ok(())
    }
}
