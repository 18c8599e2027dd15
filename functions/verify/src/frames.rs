//! Decodes AWS event stream frames (`application/vnd.amazon.eventstream`), in which Lambda streams a response to the
//! caller of a function.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_eventstream::smithy::parse_response_headers;
use aws_smithy_types::event_stream::Message;
use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use smoke::Lost;

/// Maximum buffered bytes, more than any frame: otherwise an invalid length would be awaited.
const LONGEST: usize = 16 * 1024 * 1024;

/// Decodes frames from chunks cut at any position; verifies both checksums of each frame.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    decoder: MessageFrameDecoder,
    rest: BytesMut,
    ended: bool,
}

/// The document of the last frame.
#[derive(Deserialize)]
struct Complete {
    #[serde(rename = "ErrorCode")]
    code: Option<String>,
}

impl Frames {
    /// Adds received bytes; returns the output of the function that they complete.
    ///
    /// # Errors
    /// Invalid frames, and failures of the function that Lambda reports.
    pub(crate) fn push(&mut self, read: &[u8]) -> Result<Bytes, Lost> {
        self.rest.extend_from_slice(read);
        let mut payload = BytesMut::new();
        while let DecodedFrame::Complete(message) =
            self.decoder.decode_frame(&mut self.rest).map_err(|_| Lost::Broken)?
        {
            self.message(&message, &mut payload)?;
        }
        if self.rest.len() > LONGEST { Err(Lost::Broken) } else { Ok(payload.freeze()) }
    }

    /// Whether Lambda reported the end of the function: a connection also ends when it breaks.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    fn message(&mut self, message: &Message, payload: &mut BytesMut) -> Result<(), Lost> {
        let headers = parse_response_headers(message).map_err(|_| Lost::Broken)?;
        match (headers.message_type.as_str(), headers.smithy_type.as_str()) {
            ("event", "PayloadChunk") => payload.extend_from_slice(message.payload()),
            ("event", "InvokeComplete") => {
                let complete: Complete = serde_json::from_slice(message.payload()).map_err(|_| Lost::Broken)?;
                if let Some(code) = complete.code.filter(|code| !code.is_empty()) {
                    return Err(Lost::Refused(format!("a function that failed ({})", plain(&code))));
                }
                self.ended = true;
            }
            // Event types added to the protocol later are no fault of the function.
            ("event", _) => {}
            (_, kind) => return Err(Lost::Refused(format!("a failure of Lambda ({})", plain(kind)))),
        }
        Ok(())
    }
}

/// Returns a code in the format of AWS, and `unknown` for any other text.
pub(crate) fn plain(code: &str) -> &str {
    let word = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    if word { code } else { "unknown" }
}

#[cfg(test)]
mod tests;
