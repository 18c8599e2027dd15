//! A server that answers each request with the next part of a script, and records the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use llm::{CallOptions, Delta, ModelClient, ModelError, Models, Prompt};
use platform::settings::Settings;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// One action of the server.
#[derive(Clone)]
pub(crate) enum Step {
    /// Writes raw bytes.
    Raw(Vec<u8>),
    /// Pauses until the test notifies.
    Wait(Arc<Notify>),
    /// Sleeps; only for tests with a paused clock.
    Sleep(Duration),
    /// Writes nothing more until the client disconnects.
    Stall,
    /// Closes the connection.
    Close,
    /// Resets the connection.
    Reset,
}

/// The answer to one request.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    steps: Vec<Step>,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Counts connections from 0.
    pub connection: usize,
    /// Method and path.
    pub line: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// JSON, or a text of another type.
    pub body: Value,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Answer {
    /// A response with a length.
    pub(crate) fn new(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head = head + name + ": " + value + "\r\n";
        }
        Self::default().raw(format!("{head}\r\n{body}"))
    }

    /// A JSON response.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::new(status, &[("content-type", "application/json")], body)
    }

    /// The head of a stream of events in chunked coding.
    pub(crate) fn stream() -> Self {
        Self::streaming("text/event-stream")
    }

    /// The head of a response of some type in chunked coding.
    pub(crate) fn streaming(kind: &str) -> Self {
        Self::default().raw(format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n"))
    }

    pub(crate) fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.step(Step::Raw(bytes.into()))
    }

    pub(crate) fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// A chunk.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.raw(chunk)
    }

    /// An event with data.
    pub(crate) fn data(self, data: &str) -> Self {
        self.bytes(format!("data: {data}\n\n").as_bytes())
    }

    /// A text delta of OpenAI's wire.
    pub(crate) fn text(self, text: &str) -> Self {
        let text = serde_json::to_string(text).unwrap();
        self.data(&format!(r#"{{"choices":[{{"index":0,"delta":{{"content":{text}}},"finish_reason":null}}]}}"#))
    }

    /// The finish of OpenAI's wire.
    pub(crate) fn finish(self, reason: &str) -> Self {
        self.data(&format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
    }

    /// `[DONE]` and the end of the body.
    pub(crate) fn done(self) -> Self {
        self.data("[DONE]").end()
    }

    /// The end of a chunked body.
    pub(crate) fn end(self) -> Self {
        self.raw("0\r\n\r\n")
    }

    /// A complete short answer.
    pub(crate) fn hello() -> Self {
        Self::stream().text("hello").finish("stop").done()
    }

    async fn play(&self, socket: &mut TcpStream) -> bool {
        for step in &self.steps {
            match step {
                Step::Raw(bytes) => {
                    if socket.write_all(bytes).await.is_err() {
                        return false;
                    }
                }
                Step::Wait(gate) => gate.notified().await,
                Step::Sleep(time) => tokio::time::sleep(*time).await,
                Step::Stall => {
                    let _ = socket.read(&mut [0; 1]).await;
                    return false;
                }
                Step::Close => return false,
                Step::Reset => {
                    let _ = socket.set_zero_linger();
                    return false;
                }
            }
        }
        true
    }
}

/// A running server.
pub(crate) struct Server {
    pub root: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    closed: Arc<Notify>,
}

impl Server {
    /// Starts a server that answers the requests in order and repeats the last answer.
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { root, requests: Arc::default(), closed: Arc::default() };
        let script = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let (requests, closed) = (Arc::clone(&server.requests), Arc::clone(&server.closed));
        tokio::spawn(async move {
            for connection in 0.. {
                let Ok((socket, _)) = listener.accept().await else { return };
                // Waiting for an acknowledgement takes real time, while virtual time advances.
                socket.set_nodelay(true).unwrap();
                let (script, requests, closed) = (Arc::clone(&script), Arc::clone(&requests), Arc::clone(&closed));
                tokio::spawn(async move {
                    serve(socket, connection, &script, &requests).await;
                    closed.notify_one();
                });
            }
        });
        server
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until a connection is closed.
    pub(crate) async fn disconnected(&self) {
        self.closed.notified().await;
    }

    /// Returns the model `openai` at this server, with additional settings.
    pub(crate) fn client(&self, more: &[(&str, &str)]) -> ModelClient {
        let mut settings = Settings::from_pairs([("OPENAI_BASE_URL", &*self.root), ("OPENAI_MODEL", "m")]);
        for (name, value) in more {
            settings.set(*name, *value);
        }
        Models::from_settings(&settings, platform::transport::build_client().unwrap())
            .unwrap()
            .default_model()
            .unwrap()
            .clone()
    }
}

async fn serve(
    mut socket: TcpStream,
    connection: usize,
    script: &Mutex<VecDeque<Answer>>,
    requests: &Mutex<Vec<ReceivedRequest>>,
) {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut socket, &mut buffer, connection).await {
        requests.lock().unwrap().push(request);
        let answer = {
            let mut script = script.lock().unwrap();
            if script.len() > 1 { script.pop_front().unwrap() } else { script.front().unwrap().clone() }
        };
        if !answer.play(&mut socket).await {
            return;
        }
    }
}

async fn read_request(socket: &mut TcpStream, buffer: &mut Vec<u8>, connection: usize) -> Option<ReceivedRequest> {
    let end = loop {
        match buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            Some(at) => break at,
            None => read_more(socket, buffer).await?,
        }
    };
    let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, length)| length.parse().unwrap());
    while buffer.len() < end + 4 + length {
        read_more(socket, buffer).await?;
    }
    let body = &buffer[end + 4..end + 4 + length];
    let text = || Value::String(String::from_utf8(body.to_vec()).unwrap());
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(body).unwrap_or_else(|_| text()) };
    buffer.drain(..end + 4 + length);
    Some(ReceivedRequest { connection, line, headers, body })
}

async fn read_more(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    socket.read_buf(buffer).await.ok().filter(|count| *count > 0).map(drop)
}

/// A prompt with one user message.
pub(crate) fn hello_prompt() -> Prompt {
    Prompt { messages: vec![domain::Message::user("hi")], ..Prompt::default() }
}

/// A deadline that is far away.
pub(crate) fn far_deadline() -> Instant {
    Instant::now() + Duration::from_mins(5)
}

/// Reads all deltas of a reply, and the final error.
pub(crate) async fn read_reply(
    client: &ModelClient,
    prompt: &Prompt,
    deadline: Instant,
) -> (Vec<Delta>, Option<ModelError>) {
    let mut reply = match client.reply(prompt, CallOptions::with_deadline(deadline)).await {
        Ok(reply) => reply,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut deltas = Vec::new();
    while let Some(next) = reply.next().await {
        match next {
            Ok(delta) => deltas.push(delta),
            Err(error) => return (deltas, Some(error)),
        }
    }
    (deltas, None)
}
