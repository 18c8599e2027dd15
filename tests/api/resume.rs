//! `GET /api/conversations/{id}/stream`: two instances stream a turn that another request started.

use std::thread;

use serde_json::{Value, json};
use support::{Client, Completion, DatabaseProxy, EventStream, FakeModel, Gate, TestApp};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::auth::database;

/// Two instances that share one database through a proxy.
pub(crate) struct Two {
    pub(crate) first: TestApp,
    pub(crate) second: TestApp,
    pub(crate) database: DatabaseProxy,
}

impl Two {
    pub(crate) async fn start() -> Self {
        let database = DatabaseProxy::start(&database().await).await;
        let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.url())];
        let first = TestApp::with(&settings).await;
        let second = TestApp::with(&settings).await;
        Self { first, second, database }
    }

    /// Starts a turn at the first instance with this answer, which waits at the gate.
    pub(crate) async fn turn(&self, stream: Completion, gate: &Gate) -> (EventStream, String) {
        self.first.model.replies([stream.text("，完。").end()]);
        let mut turn = self.first.open(&json!({ "message": "说" })).await;
        let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
        gate.reached().await;
        (turn, id)
    }
}

pub(crate) fn in_pieces(gate: &Gate) -> Completion {
    Completion::new().thinking("想").text("一").text("二").text("三").wait(gate)
}

/// All frames of a turn with their ids.
pub(crate) async fn frames(mut stream: EventStream) -> Vec<(String, Value)> {
    let mut frames = Vec::new();
    while let Some(event) = stream.next().await {
        frames.push((stream.last_id(), event));
    }
    frames
}

pub(crate) async fn rest(client: &Client, id: &str, last: Option<&str>) -> Vec<(String, Value)> {
    frames(client.resume(id, last).await.unwrap()).await
}

#[tokio::test]
async fn other_instance_resumes_after_every_frame() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate), &gate).await;
    drop(turn);
    // The first client has disconnected. Its answer is in the log once another instance can stream it.
    let mut reader = two.second.resume(&id, None).await.unwrap();
    let mut read = Vec::new();
    while read.len() < 5 {
        let event = reader.next().await.unwrap();
        read.push((reader.last_id(), event));
    }
    let mut readers = Vec::new();
    for (last, _) in &read {
        for app in [&two.first, &two.second, &two.second] {
            readers.push((last.clone(), app.resume(&id, Some(last)).await.unwrap()));
        }
    }
    gate.open();
    read.extend(frames(reader).await);
    let said: String = read.iter().filter_map(|(_, event)| event["content"].as_str()).collect();
    assert_eq!((said.as_str(), &read.last().unwrap().1["type"]), ("一二三，完。", &json!("done")));
    let behind = |last: &str| read.iter().skip_while(|(id, _)| id != last).skip(1).cloned().collect::<Vec<_>>();
    for (last, reader) in readers {
        assert_eq!(frames(reader).await, behind(&last), "while it runs, behind {last}");
    }
    for (last, _) in &read {
        for app in [&two.first, &two.second] {
            assert_eq!(rest(app, &id, Some(last)).await, behind(last), "after the end, behind {last}");
        }
    }
    for app in [&two.first, &two.second] {
        assert!(app.resume(&id, None).await.is_none(), "nothing runs");
    }
}

#[tokio::test]
async fn short_turn_is_not_logged_and_resumes_locally() {
    let two = Two::start().await;
    two.first.model.replies([Completion::of(["一", "二"])]);
    let turn = two.first.open(&json!({ "message": "说" })).await;
    let all = frames(turn).await;
    assert_eq!(two.database.event_writes(), 0);
    let id = all[0].1["conversationId"].as_str().unwrap().to_owned();
    for (at, (last, _)) in all.iter().enumerate() {
        assert_eq!(rest(&two.first, &id, Some(last)).await, all[at + 1..], "{last}");
        assert!(two.second.resume(&id, Some(last)).await.is_none(), "elsewhere it is not kept");
    }
}

#[tokio::test]
async fn failed_log_write_resumes_from_stored_answer() {
    for good in [0, 1] {
        let (two, gate) = (Two::start().await, Gate::new());
        two.database.limit_event_writes(good);
        let (turn, id) = two.turn(in_pieces(&gate).text("四").wait(&gate), &gate).await;
        let mut reader = two.second.resume(&id, None).await.unwrap();
        assert_eq!(reader.next().await.unwrap()["type"], "start");
        two.database.wait_for_event_writes(1).await;
        gate.open();
        gate.reached().await;
        two.database.wait_for_event_writes(good + 1).await;
        gate.open();
        let all = turn.rest().await;
        assert_eq!(all.content(), "一二三四，完。");
        let told = reader.rest().await;
        assert_eq!(
            told.normalised(),
            Value::Array(vec![
                json!({ "type": "start", "conversationId": "CONVERSATION", "messageId": "MESSAGE", "model": "openai" }),
                json!({ "type": "thinking", "thinking": "想" }),
                json!({ "type": "content", "content": "一二三四，完。" }),
                json!({ "type": "usage", "inputTokens": 10, "outputTokens": 5, "searchCredits": 0, "estimated": false }),
                json!({ "type": "done", "finishReason": "stop" }),
            ]),
            "{good}"
        );
        assert_eq!(two.database.event_writes(), good + 1, "after a failure nothing more is written");
    }
}

#[tokio::test]
async fn f092_killed_producer_is_interrupted_within_its_lease() {
    let (two, model, gate) = (Two::start().await, FakeModel::start().await, Gate::new());
    model.replies([in_pieces(&gate).end()]);
    let process = Runtime::new().unwrap();
    let (tell, told) = oneshot::channel();
    let (url, address) = (model.url(), two.database.url().to_owned());
    process.spawn(async move {
        let app = TestApp::with(&[("OPENAI_BASE_URL", &url), ("AWS_ENDPOINT_URL_DYNAMODB", &address)]).await;
        tell.send(app.base().to_owned()).unwrap();
        std::future::pending::<()>().await;
        drop(app);
    });
    let mut turn = Client::new(&told.await.unwrap()).open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    let last = reader.last_id();
    thread::spawn(move || process.shutdown_background()).join().unwrap();
    let resumed = two.first.resume(&id, Some(&last)).await.unwrap();
    let ahead = format!("{}-9", last.rsplit_once('-').unwrap().0);
    let ahead = two.first.resume(&id, Some(&ahead)).await.unwrap();
    for reader in [reader, resumed, ahead] {
        let told = reader.rest().await;
        assert_eq!(told.error_code(), "interrupted");
        assert_eq!(told.end()["retryable"], true);
    }
    two.second.model.replies([Completion::of(["好。"])]);
    assert_eq!(two.second.go_on(&id, "再说").await.content(), "好。");
}

#[tokio::test]
async fn repeat_at_other_instance_streams_running_turn() {
    let (two, gate) = (Two::start().await, Gate::new());
    two.first.model.replies([in_pieces(&gate).text("，完。").end()]);
    let ask = async |client: &Client| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
        client.send("POST", "/api/chat", &headers, json!({ "message": "说" }).to_string()).await
    };
    let client = two.first.client();
    let first = tokio::spawn(async move { ask(&client).await.text() });
    gate.reached().await;
    let client = two.second.client();
    let second = tokio::spawn(async move { ask(&client).await.text() });
    two.database.wait_for_event_writes(1).await;
    gate.open();
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first, second, "frame by frame");
}

#[tokio::test]
async fn malformed_event_id_and_foreign_caller_are_rejected() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.replies([in_pieces(&gate).end()]);
    let mut turn = app.open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    let path = format!("/api/conversations/{id}/stream");
    let refused = app.send("GET", &path, &[("last-event-id", "x")], "").await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.user("bob").get(&path).await.error(), (404, "not_found".to_owned()));
    let other = app.resume(&id, Some("01ARZ3NDEKTSV4RRFFQ69G5FAV-7")).await;
    assert!(other.is_some(), "a turn runs, and it is told from its start");
    gate.open();
    turn.rest().await;
    assert!(app.resume(&id, Some("01ARZ3NDEKTSV4RRFFQ69G5FAV-7")).await.is_none());
}

#[tokio::test]
async fn f150_deletion_ends_streams_and_removes_events() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate), &gate).await;
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    let last = reader.last_id();
    assert_eq!(two.first.delete(&format!("/api/conversations/{id}")).await.status, 204);
    assert_eq!(turn.rest().await.finish_reason(), "stopped");
    assert_eq!(reader.rest().await.finish_reason(), "stopped");
    for app in [&two.first, &two.second] {
        let path = format!("/api/conversations/{id}/stream");
        assert_eq!(app.send("GET", &path, &[("last-event-id", &last)], "").await.error().0, 404);
    }
}

#[tokio::test]
async fn f150_reader_past_the_log_receives_deletion_end() {
    let (two, gate) = (Two::start().await, Gate::new());
    two.database.limit_event_writes(0);
    let (mut turn, id) = two.turn(in_pieces(&gate), &gate).await;
    while turn.next().await.unwrap()["content"] != "三" {}
    let reader = two.second.resume(&id, Some(&turn.last_id())).await.unwrap();
    assert_eq!(two.first.delete(&format!("/api/conversations/{id}")).await.status, 204);
    let types: Vec<Value> = frames(reader).await.into_iter().map(|(_, event)| event["type"].clone()).collect();
    assert_eq!(types, ["usage", "done"]);
    assert_eq!(turn.rest().await.finish_reason(), "stopped");
}

#[tokio::test]
async fn failed_log_read_is_retried() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate), &gate).await;
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    two.database.fail_event_reads(2);
    gate.open();
    assert_eq!(turn.rest().await.finish_reason(), "stop");
    assert_eq!(reader.rest().await.content(), "一二三，完。");
    assert_eq!(two.database.failing_event_reads(), 0);
}
