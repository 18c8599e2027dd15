use std::collections::BTreeMap;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::within;

/// Delimiter between the prelude and the body of a streamed response.
const DELIMITER: [u8; 8] = [0; 8];

/// The function's response to an event.
pub enum FunctionResponse {
    /// A streamed response.
    Streamed(StreamedResponse),
    /// A buffered response: the document for the API in front of the function.
    Whole(Value),
    /// The function reported that the invocation failed.
    Error(Value),
}

impl FunctionResponse {
    /// Returns the streamed response; panics on any other.
    pub fn expect_streamed(self) -> StreamedResponse {
        match self {
            Self::Streamed(streamed) => streamed,
            Self::Whole(document) => panic!("a buffered answer: {document}"),
            Self::Error(error) => panic!("an error of the function: {error}"),
        }
    }

    /// Returns the buffered response; panics on any other.
    pub fn expect_buffered(self) -> Value {
        match self {
            Self::Streamed(_) => panic!("a streamed answer"),
            Self::Whole(document) => document,
            Self::Error(error) => panic!("an error of the function: {error}"),
        }
    }
}

/// The part of a streamed response before its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prelude {
    /// The HTTP status.
    pub status: u16,
    /// Header names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// Complete `set-cookie` values.
    pub cookies: Vec<String>,
}

impl Prelude {
    /// A header's value; empty when it was not sent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Splits the prelude off a streamed response; `None` while it is incomplete. The rest is the body's first part.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let end = bytes.windows(DELIMITER.len()).position(|window| window == DELIMITER)?;
        let prelude: Value = serde_json::from_slice(&bytes[..end]).expect("the prelude is JSON");
        Some((Self::read(&prelude), &bytes[end + DELIMITER.len()..]))
    }

    fn read(prelude: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let headers = prelude["headers"].as_object().expect("the prelude has headers");
        let cookies = prelude["cookies"].as_array().expect("the prelude has cookies");
        Self {
            status: prelude["statusCode"].as_u64().and_then(|code| code.try_into().ok()).expect("a status"),
            headers: headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), text(value))).collect(),
            cookies: cookies.iter().map(text).collect(),
        }
    }
}

/// A streamed response, read chunk by chunk. The function's request completes only when this is dropped.
///
/// Dropping it before its end resets the connection, as if the service had failed.
pub struct StreamedResponse {
    chunks: mpsc::UnboundedReceiver<Option<Vec<u8>>>,
    /// Dropping it signals the server that the test has released the response.
    _guard: oneshot::Sender<()>,
}

/// The server's side of a streamed response.
pub(crate) struct ResponseReceiver {
    chunks: mpsc::UnboundedSender<Option<Vec<u8>>>,
    released: oneshot::Receiver<()>,
}

impl StreamedResponse {
    pub(crate) fn new() -> (Self, ResponseReceiver) {
        let (sender, chunks) = mpsc::unbounded_channel();
        let (guard, released) = oneshot::channel();
        (Self { chunks, _guard: guard }, ResponseReceiver { chunks: sender, released })
    }

    /// Reads the prelude, which the runtime sends before the body.
    pub async fn prelude(&mut self) -> Prelude {
        let mut bytes = Vec::new();
        loop {
            bytes.extend(self.chunk().await.expect("the prelude comes before the end"));
            if let Some((prelude, rest)) = Prelude::split(&bytes) {
                assert!(rest.is_empty(), "the body's first chunk is one of its own");
                return prelude;
            }
        }
    }

    /// Reads the next chunk; `None` at the end of the body.
    pub async fn chunk(&mut self) -> Option<Vec<u8>> {
        let chunk = within("a chunk of a streamed answer", self.chunks.recv()).await;
        chunk.expect("the connection stays until the body has ended")
    }

    /// Reads the next chunk of the body as text; panics at the end.
    pub async fn text(&mut self) -> String {
        String::from_utf8(self.chunk().await.expect("more of the body")).expect("chunks are whole frames in UTF-8")
    }

    /// Reads until the body contains `text`, and returns the text so far.
    pub async fn read_until(&mut self, text: &str) -> String {
        let mut read = String::new();
        while !read.contains(text) {
            read += &self.text().await;
        }
        read
    }

    /// Reads the rest of the body; the function's request stays open.
    pub async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        while let Some(chunk) = self.chunk().await {
            rest.extend(chunk);
        }
        String::from_utf8(rest).expect("the body is UTF-8")
    }
}

impl ResponseReceiver {
    /// Sends a chunk to the test, unless it has released the response.
    pub(crate) fn send_chunk(&self, chunk: Vec<u8>) {
        let _ = self.chunks.send(Some(chunk));
    }

    pub(crate) async fn wait_for_release(&mut self) {
        let _ = (&mut self.released).await;
    }

    /// Signals the end, and waits until the test releases the response.
    pub(crate) async fn finish(mut self) {
        let _ = self.chunks.send(None);
        self.wait_for_release().await;
    }
}
