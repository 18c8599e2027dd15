//! The calls that a response recorder receives.

use std::sync::{Arc, Mutex};

use llm::{AttemptEnd, CallOptions, ModelClient, ResponseRecorder};
use tokio::net::TcpListener;
use tokio::time::Duration;

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt};

/// A recorder that keeps one line per call.
#[derive(Default)]
struct RecordedLines(Mutex<Vec<String>>);

impl RecordedLines {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl ResponseRecorder for RecordedLines {
    fn record_head(&self, status: u16, content_type: &str, retry_after: Option<Duration>) {
        self.add(format!("{status} {content_type} {retry_after:?}"));
    }

    fn record_chunk(&self, bytes: &[u8]) {
        self.add(format!("body {}", String::from_utf8_lossy(bytes)));
    }

    fn record_end(&self, end: AttemptEnd) {
        self.add(format!("{end:?}"));
    }
}

/// Returns the recorded lines of one call that is read to its end.
async fn record_call(client: &ModelClient) -> Vec<String> {
    let recorder = Arc::new(RecordedLines::default());
    let options = CallOptions { recorder: Some(recorder.clone()), ..CallOptions::with_deadline(far_deadline()) };
    if let Ok(mut reply) = client.reply(&hello_prompt(), options).await {
        while reply.next().await.is_some() {}
    }
    recorder.lines()
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_each_attempt() {
    let busy = Answer::new(429, &[("retry-after", "2"), ("content-type", "text/plain")], "slow down");
    let silent = Answer::default().step(Step::Stall);
    let server = Server::start([busy, silent, Answer::stream().data("{}").data("[DONE]").end()]).await;
    let expected = [
        "429 text/plain Some(2s)",
        "body slow down",
        "Complete",
        "TimedOut",
        "200 text/event-stream None",
        "body data: {}\n\n",
        "body data: [DONE]\n\n",
        "Complete",
    ];
    let lines = record_call(&server.client(&[])).await;
    // The chunk boundaries depend on the network.
    let (head, body) = lines.split_at(5);
    assert_eq!(head, &expected[..5]);
    assert_eq!(body.concat().replace("body ", ""), expected[5..].concat().replace("body ", ""));
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_reason_of_interruption() {
    for (step, end) in [(Step::Reset, "Disconnected"), (Step::Close, "Disconnected"), (Step::Stall, "TimedOut")] {
        let server = Server::start([Answer::stream().bytes(b"data: {\"choices\":[]}\n\n").step(step.clone())]).await;
        let lines = record_call(&server.client(&[])).await;
        assert_eq!(lines.iter().filter(|line| *line == end).count(), 3, "{lines:?}");
        let server = Server::start([Answer::stream().text("hello").step(step)]).await;
        assert_eq!(record_call(&server.client(&[])).await.last().map(String::as_str), Some(end));
    }
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_failed_connections() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut server = Server::start([Answer::hello()]).await;
    server.root = format!("http://127.0.0.1:{port}");
    assert_eq!(record_call(&server.client(&[])).await, ["Unreachable"; 3]);
}

#[tokio::test(start_paused = true)]
async fn recorder_receives_end_of_abandoned_and_invalid_replies() {
    let server = Server::start([Answer::stream().text("hello").step(Step::Stall)]).await;
    let recorder = Arc::new(RecordedLines::default());
    let options = CallOptions { recorder: Some(recorder.clone()), ..CallOptions::with_deadline(far_deadline()) };
    let reply = server.client(&[]).reply(&hello_prompt(), options).await.unwrap();
    assert_eq!(recorder.lines().len(), 2);
    drop(reply);
    assert_eq!(recorder.lines().last().map(String::as_str), Some("Complete"));

    for (answer, head) in [
        (Answer::new(200, &[("content-type", "text/html; charset=utf-8")], "<p>"), "200 text/html; charset=utf-8 None"),
        (Answer::new(302, &[("location", "http://x.example")], ""), "302  None"),
    ] {
        assert_eq!(record_call(&Server::start([answer]).await.client(&[])).await, [head, "Complete"]);
    }
}

#[tokio::test(start_paused = true)]
async fn timeout_after_finish_is_recorded_as_complete() {
    let answer = Answer::stream().text("hello").finish("stop").step(Step::Stall);
    let lines = record_call(&Server::start([answer]).await.client(&[])).await;
    assert_eq!(lines.last().map(String::as_str), Some("Complete"));
}
