//! Concurrent clients; each reads one answer and measures every token on arrival.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use transport::Client;

use crate::wish::{self, Wish};

/// Request and response format of a server.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) path: &'static str,
    /// Builds the request body from the message and the model.
    pub(crate) request: fn(message: &str, model: &str) -> Value,
    /// Text before the tokens in a frame.
    pub(crate) before: &'static str,
    /// Whether every frame repeats all earlier tokens.
    pub(crate) repeats: bool,
}

/// OpenAI's format, which the model and the relay use.
pub(crate) const COMPLETIONS: Way = Way {
    path: "/v1/chat/completions",
    request: |message, model| json!({ "model": model, "stream": true, "messages": [{ "role": "user", "content": message }] }),
    before: r#""delta":{"content":""#,
    repeats: false,
};

pub(crate) const NATIVE: Way = Way {
    path: "/api/chat",
    request: |message, model| json!({ "message": message, "modelType": model }),
    before: r#"{"type":"content","content":""#,
    repeats: false,
};

pub(crate) const ACCUMULATED: Way = Way { path: "/api/chat?sse=accumulated", repeats: true, ..NATIVE };

/// Measurements of all clients.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) words: u64,
    /// Time of each token from the model to the client, in microseconds.
    pub(crate) ages: Vec<u64>,
    /// Time to the first token of each client.
    pub(crate) firsts: Vec<Duration>,
}

impl Seen {
    /// Adds other measurements.
    pub(crate) fn add(&mut self, other: Self) {
        self.words += other.words;
        self.ages.extend(other.ages);
        self.firsts.extend(other.firsts);
    }
}

/// Runs this many concurrent answers.
pub(crate) async fn run(
    client: &Client,
    address: &str,
    way: Way,
    model: &'static str,
    wish: Wish,
    streams: u64,
) -> Seen {
    let readers = (0..streams).map(|number| {
        let (client, url) = (client.clone(), format!("{address}{}", way.path));
        spread(number, streams, wish, async move { Reader::new(way).read(&client, &url, model, wish).await })
    });
    let mut seen = Seen::default();
    for reader in join_all(readers).await {
        seen.add(reader.expect("every answer is read"));
    }
    assert_eq!(seen.words, streams * wish.words, "every word comes, and comes once");
    seen
}

/// Spreads the starts of the answers over one pause, so that their tokens do not coincide.
fn spread(
    number: u64,
    streams: u64,
    wish: Wish,
    read: impl Future<Output = Seen> + Send + 'static,
) -> JoinHandle<Seen> {
    let wait = wish.pause.as_micros() as u64 * number / streams;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_micros(wait)).await;
        read.await
    })
}

struct Reader {
    way: Way,
    seen: Seen,
    /// An incomplete line.
    line: Vec<u8>,
}

impl Reader {
    fn new(way: Way) -> Self {
        Self { way, seen: Seen::default(), line: Vec::new() }
    }

    async fn read(mut self, client: &Client, url: &str, model: &str, wish: Wish) -> Seen {
        let body = (self.way.request)(&wish.message(), model);
        let begun = Instant::now();
        let mut answer = client.post(url).json(&body).send().await.expect("the server answers");
        assert_eq!(answer.status(), 200);
        while let Some(piece) = answer.chunk().await.expect("the answer comes to its end") {
            let now = wish::now();
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                self.line.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.line);
                    self.look(&String::from_utf8_lossy(&line), now);
                }
            }
            if self.seen.words > 0 && self.seen.firsts.is_empty() {
                self.seen.firsts.push(begun.elapsed());
            }
        }
        self.seen
    }

    fn look(&mut self, line: &str, now: u64) {
        let Some((_, words)) = line.split_once(self.way.before) else { return };
        let words = words.split_once('"').map_or("", |(words, _)| words).split_terminator(' ');
        let known = if self.way.repeats { self.seen.words as usize } else { 0 };
        let ages = self.seen.ages.len();
        self.seen.ages.extend(words.skip(known).map(|word| wish::age(word, now).expect("a word of the model")));
        self.seen.words += (self.seen.ages.len() - ages) as u64;
    }
}
