//! Decodes AWS event stream frames (`application/vnd.amazon.eventstream`), in which Lambda streams a response to the
//! caller of a function.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_eventstream::smithy::parse_response_headers;
use aws_smithy_types::event_stream::Message;
use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use smoke::TransportError;

/// Maximum buffered bytes, more than any frame: otherwise an invalid length would be awaited.
const MAX_BUFFERED_BYTES: usize = 16 * 1024 * 1024;

/// Decodes frames from chunks cut at any position; verifies both checksums of each frame.
#[derive(Debug, Default)]
pub(crate) struct FrameDecoder {
    decoder: MessageFrameDecoder,
    buffer: BytesMut,
    /// Whether Lambda reported the end of the function: a connection also ends when it breaks.
    pub(crate) is_complete: bool,
}

/// The document of the last frame.
#[derive(Deserialize)]
struct InvokeComplete {
    #[serde(rename = "ErrorCode")]
    code: Option<String>,
}

impl FrameDecoder {
    /// Adds received bytes; returns the output of the function that they complete.
    ///
    /// # Errors
    /// Invalid frames, and failures of the function that Lambda reports.
    pub(crate) fn push(&mut self, read: &[u8]) -> Result<Bytes, TransportError> {
        self.buffer.extend_from_slice(read);
        let mut payload = BytesMut::new();
        while let DecodedFrame::Complete(message) =
            self.decoder.decode_frame(&mut self.buffer).map_err(|_| TransportError::Disconnected)?
        {
            self.handle_message(&message, &mut payload)?;
        }
        if self.buffer.len() > MAX_BUFFERED_BYTES { Err(TransportError::Disconnected) } else { Ok(payload.freeze()) }
    }

    fn handle_message(&mut self, message: &Message, payload: &mut BytesMut) -> Result<(), TransportError> {
        let headers = parse_response_headers(message).map_err(|_| TransportError::Disconnected)?;
        match (headers.message_type.as_str(), headers.smithy_type.as_str()) {
            ("event", "PayloadChunk") => payload.extend_from_slice(message.payload()),
            ("event", "InvokeComplete") => {
                let complete: InvokeComplete =
                    serde_json::from_slice(message.payload()).map_err(|_| TransportError::Disconnected)?;
                if let Some(code) = complete.code.filter(|code| !code.is_empty()) {
                    return Err(TransportError::Refused(format!("a function that failed ({})", sanitise_code(&code))));
                }
                self.is_complete = true;
            }
            // Event types added to the protocol later are no fault of the function.
            ("event", _) => {}
            (_, kind) => return Err(TransportError::Refused(format!("a failure of Lambda ({})", sanitise_code(kind)))),
        }
        Ok(())
    }
}

/// Returns a code in the format of AWS, and `unknown` for any other text.
pub(crate) fn sanitise_code(code: &str) -> &str {
    let is_code = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    if is_code { code } else { "unknown" }
}

#[cfg(test)]
mod tests;
