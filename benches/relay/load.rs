//! Concurrent clients; each reads one answer and measures every token on arrival.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use platform::transport::Client;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::answer_spec::{self, AnswerSpec};

/// Request and response format of a server.
#[derive(Clone, Copy)]
pub(crate) struct RequestFormat {
    pub(crate) path: &'static str,
    /// Builds the request body from the message and the model.
    pub(crate) request: fn(message: &str, model: &str) -> Value,
    /// Text before the tokens in a frame.
    pub(crate) text_before_tokens: &'static str,
    /// Whether every frame repeats all earlier tokens.
    pub(crate) repeats_tokens: bool,
}

/// OpenAI's format, which the model and the relay use.
pub(crate) const COMPLETIONS: RequestFormat = RequestFormat {
    path: "/v1/chat/completions",
    request: |message, model| json!({ "model": model, "stream": true, "messages": [{ "role": "user", "content": message }] }),
    text_before_tokens: r#""delta":{"content":""#,
    repeats_tokens: false,
};

pub(crate) const NATIVE: RequestFormat = RequestFormat {
    path: "/api/chat",
    request: |message, model| json!({ "message": message, "modelType": model }),
    text_before_tokens: r#"{"type":"content","content":""#,
    repeats_tokens: false,
};

pub(crate) const ACCUMULATED: RequestFormat =
    RequestFormat { path: "/api/chat?sse=accumulated", repeats_tokens: true, ..NATIVE };

/// Measurements of all clients.
#[derive(Default)]
pub(crate) struct Measurements {
    pub(crate) tokens: u64,
    /// Time of each token from the model to the client, in microseconds.
    pub(crate) ages: Vec<u64>,
    /// Time to the first token of each client.
    pub(crate) first_token_times: Vec<Duration>,
}

impl Measurements {
    /// Adds other measurements.
    pub(crate) fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.ages.extend(other.ages);
        self.first_token_times.extend(other.first_token_times);
    }
}

/// Runs this many concurrent answers.
pub(crate) async fn run(
    client: &Client,
    address: &str,
    way: RequestFormat,
    model: &'static str,
    spec: AnswerSpec,
    streams: u64,
) -> Measurements {
    let readers = (0..streams).map(|number| {
        let (client, url) = (client.clone(), format!("{address}{}", way.path));
        spread(number, streams, spec, async move { Reader::new(way).read(&client, &url, model, spec).await })
    });
    let mut seen = Measurements::default();
    for reader in join_all(readers).await {
        seen.add(reader.expect("every answer is read"));
    }
    assert_eq!(seen.tokens, streams * spec.tokens, "every word comes, and comes once");
    seen
}

/// Spreads the starts of the answers over one pause, so that their tokens do not coincide.
fn spread(
    number: u64,
    streams: u64,
    spec: AnswerSpec,
    read: impl Future<Output = Measurements> + Send + 'static,
) -> JoinHandle<Measurements> {
    let wait = spec.pause.as_micros() as u64 * number / streams;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_micros(wait)).await;
        read.await
    })
}

struct Reader {
    way: RequestFormat,
    seen: Measurements,
    /// An incomplete line.
    line: Vec<u8>,
}

impl Reader {
    fn new(way: RequestFormat) -> Self {
        Self { way, seen: Measurements::default(), line: Vec::new() }
    }

    async fn read(mut self, client: &Client, url: &str, model: &str, spec: AnswerSpec) -> Measurements {
        let body = (self.way.request)(&spec.message(), model);
        let begun = Instant::now();
        let mut answer = client.post(url).json(&body).send().await.expect("the server answers");
        assert_eq!(answer.status(), 200);
        while let Some(piece) = answer.chunk().await.expect("the answer comes to its end") {
            let now = answer_spec::now_micros();
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                self.line.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.line);
                    self.read_line(&String::from_utf8_lossy(&line), now);
                }
            }
            if self.seen.tokens > 0 && self.seen.first_token_times.is_empty() {
                self.seen.first_token_times.push(begun.elapsed());
            }
        }
        self.seen
    }

    fn read_line(&mut self, line: &str, now: u64) {
        let Some((_, tokens)) = line.split_once(self.way.text_before_tokens) else { return };
        let tokens = tokens.split_once('"').map_or("", |(tokens, _)| tokens).split_terminator(' ');
        let repeated = if self.way.repeats_tokens { self.seen.tokens as usize } else { 0 };
        let ages = self.seen.ages.len();
        self.seen.ages.extend(
            tokens.skip(repeated).map(|token| answer_spec::token_age(token, now).expect("a word of the model")),
        );
        self.seen.tokens += (self.seen.ages.len() - ages) as u64;
    }
}
