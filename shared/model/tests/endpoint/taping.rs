//! The calls that a response recorder receives.

use std::sync::{Arc, Mutex};

use model::{AttemptEnd, Limits, ModelClient, Tape};
use tokio::net::TcpListener;
use tokio::time::Duration;

use crate::server::{Answer, Server, Step, later, question};

/// A recorder that keeps one line per call.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Tape for Heard {
    fn response(&self, status: u16, content_type: &str, retry_after: Option<Duration>) {
        self.add(format!("{status} {content_type} {retry_after:?}"));
    }

    fn body(&self, bytes: &[u8]) {
        self.add(format!("body {}", String::from_utf8_lossy(bytes)));
    }

    fn end(&self, end: AttemptEnd) {
        self.add(format!("{end:?}"));
    }
}

/// Returns the recorded lines of one call that is read to its end.
async fn heard(client: &ModelClient) -> Vec<String> {
    let tape = Arc::new(Heard::default());
    let limits = Limits { tape: Some(tape.clone()), ..Limits::until(later()) };
    if let Ok(mut reply) = client.reply(&question(), limits).await {
        while reply.next().await.is_some() {}
    }
    tape.lines()
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_each_attempt() {
    let busy = Answer::new(429, &[("retry-after", "2"), ("content-type", "text/plain")], "slow down");
    let silent = Answer::default().step(Step::Stall);
    let server = Server::start([busy, silent, Answer::stream().data("{}").data("[DONE]").end()]).await;
    let expected = [
        "429 text/plain Some(2s)",
        "body slow down",
        "Whole",
        "Silent",
        "200 text/event-stream None",
        "body data: {}\n\n",
        "body data: [DONE]\n\n",
        "Whole",
    ];
    let told = heard(&server.client(&[])).await;
    // The chunk boundaries depend on the network.
    let (head, body) = told.split_at(5);
    assert_eq!(head, &expected[..5]);
    assert_eq!(body.concat().replace("body ", ""), expected[5..].concat().replace("body ", ""));
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_reason_of_interruption() {
    for (step, end) in [(Step::Reset, "Cut"), (Step::Close, "Cut"), (Step::Stall, "Silent")] {
        let server = Server::start([Answer::stream().bytes(b"data: {\"choices\":[]}\n\n").step(step.clone())]).await;
        let told = heard(&server.client(&[])).await;
        assert_eq!(told.iter().filter(|line| *line == end).count(), 3, "{told:?}");
        let server = Server::start([Answer::stream().text("hello").step(step)]).await;
        assert_eq!(heard(&server.client(&[])).await.last().map(String::as_str), Some(end));
    }
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_failed_connections() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut server = Server::start([Answer::hello()]).await;
    server.root = format!("http://127.0.0.1:{port}");
    assert_eq!(heard(&server.client(&[])).await, ["Unreachable"; 3]);
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_end_of_abandoned_and_invalid_replies() {
    let server = Server::start([Answer::stream().text("hello").step(Step::Stall)]).await;
    let tape = Arc::new(Heard::default());
    let limits = Limits { tape: Some(tape.clone()), ..Limits::until(later()) };
    let reply = server.client(&[]).reply(&question(), limits).await.unwrap();
    assert_eq!(tape.lines().len(), 2);
    drop(reply);
    assert_eq!(tape.lines().last().map(String::as_str), Some("Whole"));

    for (answer, told) in [
        (Answer::new(200, &[("content-type", "text/html; charset=utf-8")], "<p>"), "200 text/html; charset=utf-8 None"),
        (Answer::new(302, &[("location", "http://x.example")], ""), "302  None"),
    ] {
        assert_eq!(heard(&Server::start([answer]).await.client(&[])).await, [told, "Whole"]);
    }
}

#[tokio::test(start_paused = true)]
async fn timeout_after_finish_is_recorded_as_complete() {
    let answer = Answer::stream().text("hello").finish("stop").step(Step::Stall);
    let told = heard(&Server::start([answer]).await.client(&[])).await;
    assert_eq!(told.last().map(String::as_str), Some("Whole"));
}
