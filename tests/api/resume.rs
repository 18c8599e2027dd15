//! `GET /api/conversations/{id}/stream`: two instances stream a turn that another request started.

use std::thread;

use serde_json::{Value, json};
use support::{Client, Completion, DatabaseProxy, EventStream, FakeModel, Gate, TestApp};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::auth::start_database;
use crate::search_call;

/// Two instances that share one database through a proxy.
pub(crate) struct TwoInstances {
    pub(crate) first: TestApp,
    pub(crate) second: TestApp,
    pub(crate) database: DatabaseProxy,
}

impl TwoInstances {
    pub(crate) async fn start() -> Self {
        let database = DatabaseProxy::start(&start_database().await).await;
        let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.url())];
        let first = TestApp::start_with(&settings).await;
        let second = TestApp::start_with(&settings).await;
        Self { first, second, database }
    }

    /// Starts a turn at the first instance with this answer, which waits at the gate.
    pub(crate) async fn start_turn(&self, stream: Completion, gate: &Gate) -> (EventStream, String) {
        self.first.model.queue_replies([stream.text("，完。").end()]);
        let mut turn = self.first.open(&json!({ "message": "说" })).await;
        let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
        gate.wait_until_reached().await;
        (turn, id)
    }
}

pub(crate) fn gated_answer(gate: &Gate) -> Completion {
    Completion::new().thinking("想").text("一").text("二").text("三").wait(gate)
}

/// All frames of a turn with their ids.
pub(crate) async fn read_frames(mut stream: EventStream) -> Vec<(String, Value)> {
    let mut frames = Vec::new();
    while let Some(event) = stream.next().await {
        frames.push((stream.last_id(), event));
    }
    frames
}

pub(crate) async fn resume_frames(client: &Client, id: &str, last: Option<&str>) -> Vec<(String, Value)> {
    read_frames(client.resume(id, last).await.unwrap()).await
}

#[tokio::test]
async fn other_instance_resumes_after_every_frame() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    let (turn, id) = two.start_turn(gated_answer(&gate), &gate).await;
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
    read.extend(read_frames(reader).await);
    let content: String = read.iter().filter_map(|(_, event)| event["content"].as_str()).collect();
    assert_eq!((content.as_str(), &read.last().unwrap().1["type"]), ("一二三，完。", &json!("done")));
    let frames_after = |last: &str| read.iter().skip_while(|(id, _)| id != last).skip(1).cloned().collect::<Vec<_>>();
    for (last, reader) in readers {
        assert_eq!(read_frames(reader).await, frames_after(&last), "while it runs, behind {last}");
    }
    for (last, _) in &read {
        for app in [&two.first, &two.second] {
            assert_eq!(resume_frames(app, &id, Some(last)).await, frames_after(last), "after the end, behind {last}");
        }
    }
    for app in [&two.first, &two.second] {
        assert!(app.resume(&id, None).await.is_none(), "nothing runs");
    }
}

#[tokio::test]
async fn short_turn_is_not_logged_and_resumes_anywhere() {
    let two = TwoInstances::start().await;
    two.first.model.queue_replies([Completion::new().thinking("想").text("一").text("二").end()]);
    let turn = two.first.open(&json!({ "message": "说" })).await;
    let all = read_frames(turn).await;
    assert_eq!(two.database.event_writes(), 0);
    let id = all[0].1["conversationId"].as_str().unwrap().to_owned();
    for (at, (last, _)) in all.iter().enumerate() {
        assert_eq!(resume_frames(&two.first, &id, Some(last)).await, all[at + 1..], "{last}");
        let rebuilt = resume_frames(&two.second, &id, Some(last)).await;
        assert_eq!(joined(&rebuilt), joined(&all[at + 1..]), "{last}");
    }
    assert!(two.second.resume(&id, None).await.is_none(), "nothing runs");
}

/// Frames with adjacent deltas of one kind as one frame, which has the last one's id.
fn joined(frames: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut joined: Vec<(String, Value)> = Vec::new();
    for (id, event) in frames {
        let kind = event["type"].as_str().unwrap();
        match joined.last_mut().filter(|(_, last)| last["type"] == kind && event[kind].is_string()) {
            Some((last_id, last)) => {
                let delta = format!("{}{}", last[kind].as_str().unwrap(), event[kind].as_str().unwrap());
                (*last_id, last[kind]) = (id.clone(), delta.into());
            }
            None => joined.push((id.clone(), event.clone())),
        }
    }
    joined
}

#[tokio::test]
async fn short_turn_with_search_resumes_after_restart() {
    let mut app = TestApp::start_on_disk().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["一", "二"])]);
    let all = read_frames(app.open(&json!({ "message": "说" })).await).await;
    let id = all[0].1["conversationId"].as_str().unwrap().to_owned();
    app.restart().await;
    for (at, (last, _)) in all.iter().enumerate() {
        let mut expected = all[at + 1..].to_vec();
        // How long a call took is not stored.
        for (_, event) in expected.iter_mut().filter(|(_, event)| event["type"] == "tool_result") {
            (event["cached"], event["durationMs"]) = (true.into(), 0.into());
        }
        assert_eq!(joined(&resume_frames(&app, &id, Some(last)).await), joined(&expected), "{last}");
    }
}

#[tokio::test]
async fn short_turn_that_cites_earlier_page_is_logged() {
    let two = TwoInstances::start().await;
    let replies = [Completion::of([search_call("茶")]), Completion::of(["一"]), Completion::of(["二", " [1]", "。"])];
    two.first.model.queue_replies(replies);
    let id = two.first.send_message("查").await.conversation_id();
    assert_eq!(two.database.event_writes(), 0, "the answer is enough");
    let all = read_frames(two.first.open(&json!({ "message": "再", "conversationId": id })).await).await;
    assert_eq!(two.database.event_writes(), 1, "with the answer");
    assert_eq!(resume_frames(&two.second, &id, Some(&all[1].0)).await, all[2..]);
}

#[tokio::test]
async fn failed_log_write_resumes_from_stored_answer() {
    for allowed_writes in [0, 1] {
        let (two, gate) = (TwoInstances::start().await, Gate::new());
        two.database.limit_event_writes(allowed_writes);
        let (turn, id) = two.start_turn(gated_answer(&gate).text("四").wait(&gate), &gate).await;
        let mut reader = two.second.resume(&id, None).await.unwrap();
        assert_eq!(reader.next().await.unwrap()["type"], "start");
        two.database.wait_for_event_writes(1).await;
        gate.open();
        gate.wait_until_reached().await;
        two.database.wait_for_event_writes(allowed_writes + 1).await;
        gate.open();
        let all = turn.read_to_end().await;
        assert_eq!(all.content(), "一二三四，完。");
        let transcript = reader.read_to_end().await;
        assert_eq!(
            transcript.normalise(),
            Value::Array(vec![
                json!({ "type": "start", "conversationId": "CONVERSATION", "messageId": "MESSAGE", "model": "openai" }),
                json!({ "type": "thinking", "thinking": "想" }),
                json!({ "type": "content", "content": "一二三四，完。" }),
                json!({ "type": "usage", "inputTokens": 10, "outputTokens": 5, "searchCredits": 0, "estimated": false }),
                json!({ "type": "done", "finishReason": "stop" }),
            ]),
            "{allowed_writes}"
        );
        assert_eq!(two.database.event_writes(), allowed_writes + 1, "after a failure nothing more is written");
    }
}

#[tokio::test]
async fn f092_killed_producer_is_interrupted_within_its_lease() {
    let (two, model, gate) = (TwoInstances::start().await, FakeModel::start().await, Gate::new());
    model.queue_replies([gated_answer(&gate).end()]);
    let process = Runtime::new().unwrap();
    let (url_sender, url_receiver) = oneshot::channel();
    let (url, address) = (model.url(), two.database.url().to_owned());
    process.spawn(async move {
        let app = TestApp::start_with(&[("OPENAI_BASE_URL", &url), ("AWS_ENDPOINT_URL_DYNAMODB", &address)]).await;
        url_sender.send(app.base().to_owned()).unwrap();
        std::future::pending::<()>().await;
        drop(app);
    });
    let mut turn = Client::new(&url_receiver.await.unwrap()).open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    let last = reader.last_id();
    thread::spawn(move || process.shutdown_background()).join().unwrap();
    let resumed = two.first.resume(&id, Some(&last)).await.unwrap();
    let turn_id = last.rsplit_once('-').unwrap().0;
    let ahead = two.first.resume(&id, Some(&format!("{turn_id}-99.13"))).await.unwrap();
    let counting_ahead = two.first.resume(&id, Some(&format!("{turn_id}-9"))).await.unwrap();
    for reader in [reader, resumed, ahead, counting_ahead] {
        let transcript = reader.read_to_end().await;
        assert_eq!(transcript.error_code(), "interrupted");
        assert_eq!(transcript.end()["retryable"], true);
    }
    two.second.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(two.second.follow_up(&id, "再说").await.content(), "好。");
}

#[tokio::test]
async fn repeat_at_other_instance_streams_running_turn() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    two.first.model.queue_replies([gated_answer(&gate).text("，完。").end()]);
    let send = async |client: &Client| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
        client.send("POST", "/api/chat", &headers, json!({ "message": "说" }).to_string()).await
    };
    let client = two.first.client();
    let first = tokio::spawn(async move { send(&client).await.text() });
    gate.wait_until_reached().await;
    let client = two.second.client();
    let second = tokio::spawn(async move { send(&client).await.text() });
    two.database.wait_for_event_writes(1).await;
    gate.open();
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first, second, "frame by frame");
}

#[tokio::test]
async fn malformed_event_id_and_foreign_caller_are_rejected() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([gated_answer(&gate).end()]);
    let mut turn = app.open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    let path = format!("/api/conversations/{id}/stream");
    let refused = app.send("GET", &path, &[("last-event-id", "x")], "").await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.as_user("bob").get(&path).await.error(), (404, "not_found".to_owned()));
    let other = app.resume(&id, Some("01ARZ3NDEKTSV4RRFFQ69G5FAV-7")).await;
    assert!(other.is_some(), "a turn runs, and it is told from its start");
    gate.open();
    turn.read_to_end().await;
    assert!(app.resume(&id, Some("01ARZ3NDEKTSV4RRFFQ69G5FAV-7")).await.is_none());
}

#[tokio::test]
async fn f150_deletion_ends_streams_and_removes_events() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    let (turn, id) = two.start_turn(gated_answer(&gate), &gate).await;
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    let last = reader.last_id();
    assert_eq!(two.first.delete(&format!("/api/conversations/{id}")).await.status, 204);
    assert_eq!(turn.read_to_end().await.finish_reason(), "stopped");
    assert_eq!(reader.read_to_end().await.finish_reason(), "stopped");
    for app in [&two.first, &two.second] {
        let path = format!("/api/conversations/{id}/stream");
        assert_eq!(app.send("GET", &path, &[("last-event-id", &last)], "").await.error().0, 404);
    }
}

#[tokio::test]
async fn f150_reader_past_the_log_receives_deletion_end() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    two.database.limit_event_writes(0);
    let (mut turn, id) = two.start_turn(gated_answer(&gate), &gate).await;
    while turn.next().await.unwrap()["content"] != "三" {}
    let reader = two.second.resume(&id, Some(&turn.last_id())).await.unwrap();
    assert_eq!(two.first.delete(&format!("/api/conversations/{id}")).await.status, 204);
    let types: Vec<Value> = read_frames(reader).await.into_iter().map(|(_, event)| event["type"].clone()).collect();
    assert_eq!(types, ["usage", "done"]);
    assert_eq!(turn.read_to_end().await.finish_reason(), "stopped");
}

#[tokio::test]
async fn failed_log_read_is_retried() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    let (turn, id) = two.start_turn(gated_answer(&gate), &gate).await;
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    two.database.fail_event_reads(2);
    gate.open();
    assert_eq!(turn.read_to_end().await.finish_reason(), "stop");
    assert_eq!(reader.read_to_end().await.content(), "一二三，完。");
    assert_eq!(two.database.failing_event_reads(), 0);
}
