//! The data of the server-sent events of tool servers.

use std::convert::Infallible;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use sse::{Decoder, Frame};

/// The media type of a response in small letters, without its parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Decodes the data of events from chunks of bytes; an event over [`sse::MAX_EVENT_BYTES`] is dropped.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    decoder: Decoder,
}

impl EventStream {
    /// Decodes more bytes and returns the data of each event that they complete; invalid UTF-8 is replaced.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        let Ok(()) = self.decoder.push(bytes, &mut collect_into(&mut events));
        events
    }

    /// Returns the unterminated event at the end, if there is one.
    pub(crate) fn finish(self) -> Option<String> {
        let mut events = Vec::new();
        let Ok(()) = self.decoder.finish(&mut collect_into(&mut events));
        events.pop()
    }
}

fn collect_into(events: &mut Vec<String>) -> impl FnMut(Frame<'_>) -> Result<(), Infallible> {
    |frame| {
        if let Frame::Event(event) = frame {
            events.push(event.data.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_do_not_depend_on_chunk_boundaries() {
        let text = "\u{feff}: hi\r\nid: 1\ndata: 汉字\r\ndata:b\r\n\r\nevent: x\rdata\r\rretry: 5\n\ndata: end";
        for at in 0..=text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            let mut stream = EventStream::default();
            let mut all = stream.push(one);
            all.extend(stream.push(other));
            all.extend(stream.finish());
            assert_eq!(all, ["汉字\nb", "", "end"], "{at}");
        }
    }
    #[test]
    fn event_over_limit_is_dropped() {
        let too_long = "x".repeat(sse::MAX_EVENT_BYTES + 1);
        let mut stream = EventStream::default();
        assert_eq!(stream.push(format!("data: a\n\ndata: {too_long}\n\ndata: b\n\n").as_bytes()), ["a", "b"]);
    }
}
