//! Titles of conversations by a model: requested concurrently with the answer, and dropped if they are late.

use std::fmt::Write as _;

use serde_json::{Value, json};
use support::{Completion, EventStream, FakeModel, Gate, ModelRequest, NativeApp, Reply, TestApp, Transcript};

use crate::auth::start_with_api_keys_and;

const SAME: [(&str, &str); 1] = [("TITLE_MODEL", "same")];

fn is_title(request: &ModelRequest) -> bool {
    ["You name conversations", "你负责给对话起标题"].iter().any(|begin| request.system_prompt().starts_with(begin))
}

fn title_requests(model: &FakeModel) -> Vec<ModelRequest> {
    model.requests().into_iter().filter(is_title).collect()
}

/// Answers titles with `title`, and messages with a text that waits at the gate in the middle.
fn respond(model: &FakeModel, gate: &Gate, title: impl Fn() -> Reply + Send + 'static) {
    let gate = gate.clone();
    model.respond_with(move |request| {
        if is_title(request) { title() } else { Completion::new().text("一").wait(&gate).text("二").end() }
    });
}

async fn start(app: &TestApp, message: &str) -> (EventStream, String) {
    let mut turn = app.open(&json!({ "message": message })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    (turn, id)
}

/// A title whose response does not end: the product disconnects from it once it has read the title.
fn title(pieces: &[&str]) -> Reply {
    Completion::of(pieces).stall()
}

/// Lets an answer end after the product has read as many titles.
async fn end_after_titles(model: &FakeModel, count: usize, gate: &Gate, turn: EventStream) -> Transcript {
    gate.wait_until_reached().await;
    model.wait_for_hang_ups(count).await;
    gate.open();
    turn.read_to_end().await
}

async fn conversation(app: &TestApp, id: &str) -> (String, String) {
    let found = app.conversation(id).await["conversation"].take();
    let text = |name: &str| found[name].as_str().unwrap().to_owned();
    (text("title"), text("titleFrom"))
}

#[tokio::test]
async fn title_of_the_model_is_announced_and_stored() {
    let (app, gate) = (TestApp::start_with(&SAME).await, Gate::new());
    respond(&app.model, &gate, || title(&["<think>短一些</think>", "**标题：《北京天气》**\n", "解释"]));
    let (turn, id) = start(&app, "今天北京天气怎么样？请简单说明。").await;
    let turn = end_after_titles(&app.model, 1, &gate, turn).await;
    assert_eq!(turn.content(), "一二");
    assert_eq!(turn.events_of("title"), [&json!({ "type": "title", "title": "北京天气" })]);
    let kinds: Vec<&Value> = turn.0.iter().rev().take(3).map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["done", "usage", "title"]);
    assert_eq!(conversation(&app, &id).await, ("北京天气".to_owned(), "model".to_owned()));
    let requests = title_requests(&app.model);
    assert!(requests[0].last_message().contains("今天北京天气怎么样？请简单说明。"));
    assert_eq!(turn.events_of("usage")[0]["inputTokens"], 20, "both calls count");
    let usage = app.get("/api/usage").await.ok();
    assert_eq!((&usage["today"]["inputTokens"], &usage["today"]["turns"]), (&json!(20), &json!(1)));
    gate.open_permanently();
    assert_eq!(app.follow_up(&id, "上海呢？").await.events_of("title").len(), 0);
    assert_eq!(title_requests(&app.model).len(), 1, "it has a title");
}

#[tokio::test]
async fn title_is_requested_in_the_conversations_language() {
    let app = TestApp::start_with(&SAME).await;
    for (message, beginning) in [("What is tea?", "You name conversations"), ("茶是什么？", "你负责给对话起标题")]
    {
        let gate = Gate::new();
        respond(&app.model, &gate, || title(&["Tea"]));
        let before = app.model.hang_up_count();
        let (turn, _) = start(&app, message).await;
        end_after_titles(&app.model, before + 1, &gate, turn).await;
        let request = title_requests(&app.model).pop().unwrap();
        assert!(request.system_prompt().starts_with(beginning), "{message}");
        assert!(request.body.get("tools").is_none() && request.dialogue().len() == 1);
    }
}

#[tokio::test]
async fn late_title_is_dropped_and_requested_once_more() {
    let (app, late) = (TestApp::start_with(&SAME).await, Gate::new());
    let mut body = json!({});
    for (number, message) in ["茶是什么？", "绿茶呢？", "红茶呢？"].into_iter().enumerate() {
        let (gate, waiting) = (Gate::new(), late.clone());
        respond(&app.model, &gate, move || Completion::new().wait(&waiting).text("茶").end());
        body["message"] = message.into();
        let mut turn = app.open(&body).await;
        body["conversationId"] = turn.next().await.unwrap()["conversationId"].clone();
        gate.wait_until_reached().await;
        if number < 2 {
            late.wait_until_reached().await;
        }
        gate.open();
        let turn = turn.read_to_end().await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("一二", "stop"));
        assert!(turn.events_of("title").iter().all(|event| event["title"] == "茶是什么？"));
    }
    assert_eq!(title_requests(&app.model).len(), 2);
    let id = body["conversationId"].as_str().unwrap();
    assert_eq!(conversation(&app, id).await, ("茶是什么？".to_owned(), "message".to_owned()));
    app.model.wait_for_hang_ups(2).await;
}

#[tokio::test]
async fn second_turn_announces_its_title() {
    let (app, gate) = (TestApp::start_with(&SAME).await, Gate::new());
    respond(&app.model, &gate, || title(&["```"]));
    let (turn, id) = start(&app, "茶是什么？").await;
    let first = end_after_titles(&app.model, 1, &gate, turn).await;
    assert_eq!(first.events_of("title"), [&json!({ "type": "title", "title": "茶是什么？" })]);
    respond(&app.model, &gate, || title(&["绿茶"]));
    let turn = app.open(&json!({ "message": "绿茶呢？", "conversationId": id })).await;
    let second = end_after_titles(&app.model, 2, &gate, turn).await;
    assert_eq!(second.events_of("title"), [&json!({ "type": "title", "title": "绿茶" })]);
    assert_eq!(conversation(&app, &id).await, ("绿茶".to_owned(), "model".to_owned()));
    assert_eq!(title_requests(&app.model).len(), 2, "one for each turn");
    let text = title_requests(&app.model).pop().unwrap().last_message();
    assert!(text.contains("茶是什么？") && text.contains("绿茶呢？"), "{text}");
}

#[tokio::test]
async fn failed_title_has_no_other_effect() {
    for failure in [Reply::status(500), Reply::status(401), Reply::no_response(), Reply::json(200, &json!({}))] {
        let (app, gate) = (TestApp::start_with(&SAME).await, Gate::new());
        respond(&app.model, &gate, move || failure.clone());
        let (turn, _) = start(&app, "茶是什么？").await;
        gate.wait_until_reached().await;
        app.model.wait_for_request(2).await;
        gate.open();
        let turn = turn.read_to_end().await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("一二", "stop"));
        assert_eq!(turn.events_of("title")[0]["title"], "茶是什么？");
        assert_ne!(app.get("/api/models").await.ok()["models"][0]["failing"], true);
        assert_eq!(title_requests(&app.model).len(), 1, "it is not repeated");
    }
}

#[tokio::test]
async fn title_of_a_user_is_never_replaced() {
    let (app, gate) = (TestApp::start_with(&SAME).await, Gate::new());
    respond(&app.model, &gate, || title(&["茶"]));
    for (number, title) in ["我的", "茶是什么？"].into_iter().enumerate() {
        let (turn, id) = start(&app, "茶是什么？").await;
        gate.wait_until_reached().await;
        app.patch(&format!("/api/conversations/{id}"), &json!({ "title": title })).await.ok();
        app.model.wait_for_hang_ups(number + 1).await;
        gate.open();
        let turn = turn.read_to_end().await;
        assert_eq!((turn.content().as_str(), turn.events_of("title").len()), ("一二", 0));
        assert_eq!(conversation(&app, &id).await, (title.to_owned(), "user".to_owned()));
        let before = title_requests(&app.model).len();
        let turn = app.open(&json!({ "message": "又", "conversationId": id })).await;
        gate.wait_until_reached().await;
        gate.open();
        turn.read_to_end().await;
        assert_eq!(title_requests(&app.model).len(), before);
    }
}

#[tokio::test]
async fn no_title_is_requested_where_none_is_kept() {
    let app = TestApp::start_with(&SAME).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let chat = json!({ "model": "openai", "messages": [{ "role": "user", "content": "茶是什么？" }] });
    assert_eq!(app.post("/v1/chat/completions", &chat).await.status, 200);
    let turn = app.chat(&json!({ "message": "茶是什么？", "temporary": true })).await;
    app.follow_up(&turn.conversation_id(), "绿茶呢？").await;
    assert_eq!(app.model.requests().len(), 3);
    let app = TestApp::start_with(&[("TITLE_MODEL", "none")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let turn = app.send_message("茶是什么？").await;
    assert_eq!(app.model.requests().len(), 1);
    assert_eq!(turn.events_of("title")[0]["title"], "茶是什么？");
}

#[tokio::test]
async fn another_model_may_write_titles() {
    let (native, gate) = (NativeApp::start_with(&[("TITLE_MODEL", "native")]).await, Gate::new());
    respond(&native.app.model, &gate, || unreachable!("this model writes no titles"));
    native.model.respond_with(|_| title(&["Tea"]));
    let mut turn = native.open(&json!({ "message": "What is tea?", "modelType": "openai" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    native.model.wait_for_hang_ups(1).await;
    gate.open();
    assert_eq!(turn.read_to_end().await.events_of("title")[0]["title"], "Tea");
    assert_eq!(conversation(&native, &id).await, ("Tea".to_owned(), "model".to_owned()));
}

#[tokio::test]
async fn model_for_others_writes_no_titles() {
    let model = FakeModel::start().await;
    let row = json!([{ "name": "own", "baseUrl": model.url(), "model": support::MODEL, "apiKeyVar": "OPENAI_API_KEY",
        "onlyFor": "ann" }]);
    let settings = [("MODELS", row.to_string()), ("TITLE_MODEL", "own".to_owned())];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let started = start_with_api_keys_and(&settings).await;
    started.app.model.respond_with(|_| Completion::of(["好。"]));
    let bob = started.app.with_key(&started.create_key_text("bob").await);
    assert_eq!(bob.send_message("茶是什么？").await.events_of("title")[0]["title"], "茶是什么？");
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn long_message_is_cut_for_its_title() {
    let (app, gate) = (TestApp::start_with(&SAME).await, Gate::new());
    let mut message = String::from("茶");
    for number in 0..6_000 {
        let _ = write!(message, "，{number}");
    }
    respond(&app.model, &gate, || title(&[&"长".repeat(900)]));
    let (turn, id) = start(&app, &message).await;
    end_after_titles(&app.model, 1, &gate, turn).await;
    let request = title_requests(&app.model).pop().unwrap();
    assert!(request.last_message().chars().count() < 2_100);
    let (title, source) = conversation(&app, &id).await;
    assert_eq!((title.chars().count(), source.as_str()), (60, "model"));
}
