//! `GET /api/conversations/{id}/stream`: a turn that somebody else began, told by any of two instances.

use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use support::{Client, Completion, EventStream, FakeModel, Gate, TestApp};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A database that the test looks at and that fails when it is told to.
#[derive(Clone)]
pub(crate) struct Database {
    address: String,
    pub(crate) behind: String,
    http: transport::Client,
    operations: Arc<Mutex<Vec<String>>>,
    /// The writes of events so far, by themselves or with an answer.
    writes: Arc<Mutex<usize>>,
    /// How many of them succeed.
    good: Arc<Mutex<usize>>,
    /// How many of the next reads of events fail.
    unread: Arc<Mutex<usize>>,
    /// Where events are not taken with an answer, and wait by themselves after that.
    pub(crate) apart: Arc<Mutex<Option<Gate>>>,
    refused: Arc<Mutex<bool>>,
}

impl Database {
    async fn start() -> Self {
        let (behind, front) = (listener().await, listener().await);
        let address = |at: &TcpListener| format!("http://{}", at.local_addr().unwrap());
        let http = transport::client().unwrap();
        let (writes, good) = (Arc::default(), Arc::new(Mutex::new(usize::MAX)));
        let (address, behind_it) = (address(&front), address(&behind));
        let database = Self {
            address,
            behind: behind_it,
            http,
            operations: Arc::default(),
            writes,
            good,
            unread: Arc::default(),
            apart: Arc::default(),
            refused: Arc::default(),
        };
        tokio::spawn(dynoxide::server::serve_on(behind, dynoxide::Database::memory().unwrap()));
        let router = Router::new().fallback(pass).with_state(database.clone());
        tokio::spawn(async move { axum::serve(front, router).await });
        database
    }

    pub(crate) fn writes(&self) -> usize {
        *self.writes.lock().unwrap()
    }

    /// Waits until events were written so often.
    pub(crate) async fn written(&self, times: usize) {
        while self.writes() < times {
            tokio::task::yield_now().await;
        }
    }

    /// What was asked since the last time.
    pub(crate) fn operations(&self) -> Vec<String> {
        std::mem::take(&mut *self.operations.lock().unwrap())
    }

    /// Whether this call is let through.
    async fn lets(&self, operation: &str, body: &[u8]) -> bool {
        let apart = self.apart.lock().unwrap().clone();
        if let Some(gate) = apart.filter(|_| is_of_events(operation, body)) {
            let is_alone = operation.ends_with(".BatchWriteItem");
            let refused = std::mem::replace(&mut *self.refused.lock().unwrap(), !is_alone);
            if !is_alone {
                return false;
            }
            if refused {
                gate.pass().await;
            }
        }
        self.takes(operation, body)
    }

    fn takes(&self, operation: &str, body: &[u8]) -> bool {
        let name = operation.rsplit('.').next().unwrap_or_default().to_owned();
        self.operations.lock().unwrap().push(name);
        let mut unread = self.unread.lock().unwrap();
        if *unread > 0 && operation.ends_with(".Query") && holds(body, b"#S#") {
            *unread -= 1;
            return false;
        }
        if !is_of_events(operation, body) {
            return true;
        }
        let mut writes = self.writes.lock().unwrap();
        *writes += 1;
        *writes <= *self.good.lock().unwrap()
    }
}

fn holds(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).any(|part| part == word)
}

fn is_of_events(operation: &str, body: &[u8]) -> bool {
    operation.contains("Write") && holds(body, b"\"events\":")
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

async fn pass(State(database): State<Database>, headers: HeaderMap, body: Bytes) -> Response {
    let operation = headers["x-amz-target"].to_str().unwrap().to_owned();
    if !database.lets(&operation, &body).await {
        let error = json!({ "__type": "com.amazonaws.dynamodb.v20120810#ValidationException" }).to_string();
        return Response::builder().status(StatusCode::BAD_REQUEST).body(Body::from(error)).unwrap();
    }
    let kept = ["x-amz-target", "content-type", "authorization", "x-amz-date"];
    let request = kept.iter().fold(database.http.post(&database.behind).body(body), |request, name| {
        headers.get(*name).into_iter().fold(request, |request, value| request.header(*name, value))
    });
    let answer = request.send().await.unwrap();
    let status = answer.status();
    Response::builder().status(status).body(Body::from(answer.bytes().await.unwrap())).unwrap()
}

/// Two instances over one database.
pub(crate) struct Two {
    pub(crate) first: TestApp,
    pub(crate) second: TestApp,
    pub(crate) database: Database,
}

impl Two {
    pub(crate) async fn start() -> Self {
        let database = Database::start().await;
        let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.address.as_str())];
        let first = TestApp::with(&settings).await;
        let second = TestApp::with(&settings).await;
        Self { first, second, database }
    }

    /// A turn at the first instance that has said so much and waits at the gate.
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
async fn a_long_turn_is_told_by_another_instance_behind_every_frame_while_it_runs_and_after_its_end() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate), &gate).await;
    drop(turn);
    // The first client is gone. Its answer is in the log once another instance can tell it.
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
async fn a_short_turn_is_written_nowhere_and_told_by_its_own_instance() {
    let two = Two::start().await;
    two.first.model.replies([Completion::of(["一", "二"])]);
    let turn = two.first.open(&json!({ "message": "说" })).await;
    let all = frames(turn).await;
    assert_eq!(two.database.writes(), 0);
    let id = all[0].1["conversationId"].as_str().unwrap().to_owned();
    for (at, (last, _)) in all.iter().enumerate() {
        assert_eq!(rest(&two.first, &id, Some(last)).await, all[at + 1..], "{last}");
        assert!(two.second.resume(&id, Some(last)).await.is_none(), "elsewhere it is not kept");
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_written_holds_nobody_up_and_the_rest_comes_from_the_stored_answer() {
    for good in [0, 1] {
        let (two, gate) = (Two::start().await, Gate::new());
        *two.database.good.lock().unwrap() = good;
        let (turn, id) = two.turn(in_pieces(&gate).text("四").wait(&gate), &gate).await;
        let mut reader = two.second.resume(&id, None).await.unwrap();
        assert_eq!(reader.next().await.unwrap()["type"], "start");
        two.database.written(1).await;
        gate.open();
        gate.reached().await;
        two.database.written(good + 1).await;
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
        assert_eq!(two.database.writes(), good + 1, "after a failure nothing more is written");
    }
}

#[tokio::test]
async fn f092_a_producer_that_is_killed_is_interrupted_within_its_lease_and_the_next_message_works() {
    let (two, model, gate) = (Two::start().await, FakeModel::start().await, Gate::new());
    model.replies([in_pieces(&gate).end()]);
    let process = Runtime::new().unwrap();
    let (tell, told) = oneshot::channel();
    let (url, address) = (model.url(), two.database.address.clone());
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
async fn a_repeat_at_another_instance_is_told_the_running_turn_as_it_goes() {
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
    two.database.written(1).await;
    gate.open();
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first, second, "frame by frame");
}

#[tokio::test]
async fn what_is_no_frames_id_is_refused_and_others_see_nothing() {
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
async fn f150_a_deleted_conversation_is_told_to_nobody_and_leaves_no_events() {
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
async fn f150_who_has_more_than_the_log_is_told_the_deletion_as_the_end() {
    let (two, gate) = (Two::start().await, Gate::new());
    *two.database.good.lock().unwrap() = 0;
    let (mut turn, id) = two.turn(in_pieces(&gate), &gate).await;
    while turn.next().await.unwrap()["content"] != "三" {}
    let reader = two.second.resume(&id, Some(&turn.last_id())).await.unwrap();
    assert_eq!(two.first.delete(&format!("/api/conversations/{id}")).await.status, 204);
    let types: Vec<Value> = frames(reader).await.into_iter().map(|(_, event)| event["type"].clone()).collect();
    assert_eq!(types, ["usage", "done"]);
    assert_eq!(turn.rest().await.finish_reason(), "stopped");
}

#[tokio::test]
async fn a_read_that_fails_is_repeated_and_the_stream_goes_on() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate), &gate).await;
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    *two.database.unread.lock().unwrap() = 2;
    gate.open();
    assert_eq!(turn.rest().await.finish_reason(), "stop");
    assert_eq!(reader.rest().await.content(), "一二三，完。");
    assert_eq!(*two.database.unread.lock().unwrap(), 0);
}
