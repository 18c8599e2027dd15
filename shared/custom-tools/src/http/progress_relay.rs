//! Forwards a streamed response as progress.

use std::ops::ControlFlow;
use std::str;

use egress::BodyChunk;
use tools::Progress;

use super::secret_mask::SecretMask;
use crate::event_stream::{EventStream, media_type};

/// Forwards the text of a response as it arrives: whole characters, and never a part of a secret.
pub(crate) struct ProgressRelay<'a> {
    progress: &'a Progress,
    mask: &'a SecretMask,
    events: Option<EventStream>,
    /// An incomplete character.
    bytes: Vec<u8>,
    /// Text that may be the beginning of a secret.
    held: String,
}

impl<'a> ProgressRelay<'a> {
    pub(crate) fn new(progress: &'a Progress, mask: &'a SecretMask) -> Self {
        Self { progress, mask, events: None, bytes: Vec::new(), held: String::new() }
    }

    /// Forwards the next chunk of the response; a JSON document has no progress before it is complete.
    pub(crate) fn push(&mut self, part: BodyChunk<'_>) -> ControlFlow<()> {
        let kind = media_type(part.headers);
        let document = kind.is_empty() || kind == "application/json" || kind.ends_with("+json");
        if part.status.is_success() && !document {
            if kind == "text/event-stream" {
                let data = self.events.get_or_insert_default().push(part.bytes);
                data.iter().filter(|data| *data != "[DONE]").for_each(|data| self.text(&format!("{data}\n")));
            } else {
                self.bytes(part.bytes);
            }
        }
        ControlFlow::Continue(())
    }

    /// Forwards the held text at the end of the response.
    pub(crate) fn finish(mut self) {
        if let Some(data) = self.events.take().and_then(EventStream::finish) {
            self.text(&data);
        }
        let rest = String::from_utf8_lossy(&self.bytes);
        self.progress.send(&self.mask.mask_text(&format!("{}{rest}", self.held)));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let cut = match self.bytes.utf8_chunks().last() {
            // An incomplete character may be completed by the next chunk.
            Some(last) if str::from_utf8(last.invalid()).is_err_and(|error| error.error_len().is_none()) => {
                last.invalid().len()
            }
            _ => 0,
        };
        let rest = self.bytes.split_off(self.bytes.len() - cut);
        let whole = std::mem::replace(&mut self.bytes, rest);
        self.text(&String::from_utf8_lossy(&whole));
    }

    fn text(&mut self, text: &str) {
        self.held.push_str(text);
        self.progress.send(&self.mask.take_safe(&mut self.held));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use reqwest::StatusCode;
    use reqwest::header::{CONTENT_TYPE, HeaderMap};

    use super::*;

    /// Returns the progress of a body that arrives in these chunks.
    async fn relayed(kind: &str, parts: &[&[u8]]) -> String {
        let (progress, mut receiver) = Progress::channel();
        let mask = SecretMask::new(&"canary&1".into(), &"Bearer canary&1".into());
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]);
        let all = Mutex::new(String::new());
        let on_progress = |text: String| all.lock().unwrap().push_str(&text);
        let call = async {
            let mut relay = ProgressRelay::new(&progress, &mask);
            for bytes in parts {
                let _ = relay.push(BodyChunk { status: StatusCode::OK, headers: &headers, bytes });
            }
            relay.finish();
        };
        receiver.forward_during(call, &on_progress).await;
        all.into_inner().unwrap()
    }

    #[tokio::test]
    async fn f132_progress_never_splits_a_secret_or_character() {
        let text = "汉 canary&1 and canary&amp;1 canarycanary&1.".as_bytes();
        for one in 0..=text.len() {
            for other in [one, text.len().min(one + 3)] {
                let parts = [&text[..one], &text[one..other], &text[other..]];
                let expected = "汉 [hidden] and [hidden] canary[hidden].";
                assert_eq!(relayed("text/plain; charset=utf-8", &parts).await, expected, "{one} {other}");
            }
        }
    }

    #[tokio::test]
    async fn event_progress_is_data_and_json_has_none() {
        let events = b"id: 1\ndata: a\n\ndata: cana".as_slice();
        let parts = [events, b"ry&1\n\ndata: [DONE]\n\n"];
        assert_eq!(relayed("text/event-stream", &parts).await, "a\n[hidden]\n");
        assert_eq!(relayed("application/json", &[b"{\"a\": 1}"]).await, "");
    }
}
