//! Search prefetch: a search for the user's message, concurrent with the first model request.

use serde_json::{Value, json};
use support::{
    Client, Completion, FakeTavily, Gate, NativeApp, Reply, TestApp, Transcript, list_recordings, search_reply,
};
use tempfile::TempDir;

use crate::recordings::assert_replays_unchanged;
use crate::search_call;

async fn create_prefetch_agent(app: &Client, more: &Value) -> String {
    let mut agent = json!({ "name": "先搜", "preSearch": true });
    agent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let created = app.post("/api/admin/agents", &agent).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    assert_eq!(created.json()["preSearch"], true);
    created.json()["id"].as_str().unwrap().to_owned()
}

async fn start() -> (TestApp, String) {
    start_with(&[]).await
}

async fn start_with(settings: &[(&str, &str)]) -> (TestApp, String) {
    let app = TestApp::start_with(settings).await;
    let agent = create_prefetch_agent(&app, &json!({})).await;
    (app, agent)
}

fn request_body(agent: &str, message: &str) -> Value {
    json!({ "message": message, "agentId": agent })
}

fn credits(turn: &Transcript) -> &Value {
    &turn.events_of("usage")[0]["searchCredits"]
}

/// Success, cache use and summary of each tool result of a turn.
fn results(turn: &Transcript) -> Vec<Value> {
    turn.events_of("tool_result")
        .iter()
        .map(|result| json!([result["ok"], result["cached"], result["summary"]]))
        .collect()
}

#[tokio::test]
async fn prefetch_precedes_and_serves_the_models_call() {
    for (message, query) in [("北京天气？", "北京天气"), (" weather in  Berlin", "Weather in Berlin.")] {
        let ((app, agent), gate) = (start().await, Gate::new());
        let reply = Completion::new().text("好的。").wait(&gate).text(&search_call(query)).end();
        app.model.queue_replies([reply, Completion::of(["晴。"])]);
        let turn = app.open(&request_body(&agent, message)).await;
        gate.wait_until_reached().await;
        app.search.wait_for_requests(1).await;
        gate.open();
        let turn = turn.read_to_end().await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好的。\n\n晴。", "stop"));
        assert_eq!(app.search.queries(), [message.split_whitespace().collect::<Vec<_>>().join(" ")]);
        assert_eq!((results(&turn), credits(&turn)), (vec![json!([true, false, "2 results"])], &json!(2)));
        let model_message = app.model.wait_for_request(2).await.last_message();
        assert!(model_message.contains("第1页") && !model_message.contains("本轮已经"), "{model_message}");
    }
}

#[tokio::test]
async fn native_call_waits_for_the_running_prefetch() {
    let (app, gate) = (NativeApp::start().await, Gate::new());
    let agent = create_prefetch_agent(&app, &json!({})).await;
    let held = gate.clone();
    app.search.respond_with(move |body| FakeTavily::search_reply(body).wait_before_head(&held));
    app.model.queue_replies([search_reply("a", "天气"), search_reply("b", "天气"), Completion::of(["晴。"])]);
    let mut turn = app.open(&request_body(&agent, "天气！")).await;
    turn.read_until("tool_call").await;
    gate.open();
    let turn = turn.read_to_end().await;
    assert_eq!((turn.content().as_str(), app.search.queries().len()), ("晴。", 1));
    let expected = [json!([true, false, "2 results"]), json!([true, true, "2 results"])];
    assert_eq!((results(&turn), credits(&turn)), (expected.into(), &json!(2)));
}

#[tokio::test]
async fn unused_prefetch_is_hidden_but_counted() {
    let (app, agent) = start().await;
    app.search.respond_with(|_| Reply::no_response());
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().text("你").wait(&gate).text("好。").end()]);
    let turn = app.open(&request_body(&agent, "你好")).await;
    app.search.wait_for_requests(1).await;
    gate.open();
    let turn = turn.read_to_end().await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("你好。", "stop"));
    assert_eq!((results(&turn), turn.events_of("tool_call").len(), credits(&turn)), (vec![], 0, &json!(2)));
    let day = &app.get("/api/usage").await.ok()["days"][0];
    assert_eq!(day["searchCredits"], 2, "{day}");
}

#[tokio::test]
async fn different_search_runs_and_both_are_counted() {
    let ((app, agent), gate) = (start().await, Gate::new());
    app.model
        .queue_replies([Completion::new().wait(&gate).text(&search_call("北京 气温")).end(), Completion::of(["晴。"])]);
    let turn = app.open(&request_body(&agent, "今天北京热不热？")).await;
    app.search.wait_for_requests(1).await;
    gate.open();
    let turn = turn.read_to_end().await;
    assert_eq!(app.search.queries(), ["今天北京热不热？", "北京 气温"]);
    assert_eq!((results(&turn), credits(&turn)), (vec![json!([true, false, "2 results"])], &json!(4)));
    assert!(!app.model.wait_for_request(2).await.last_message().contains("今天北京热不热？：第1页"));
}

#[tokio::test]
async fn failed_prefetch_is_retried_for_the_model() {
    let (app, agent) = start().await;
    app.search.queue_replies([FakeTavily::error_reply(400, "no")]);
    // The first call may share the prefetch that fails; the second one must start a new search.
    app.model.queue_replies([
        Completion::of([search_call("天气")]),
        Completion::of([search_call("天气")]),
        Completion::of(["晴。"]),
    ]);
    let turn = app.chat(&request_body(&agent, "天气")).await;
    assert_eq!((turn.content().as_str(), app.search.queries().len()), ("晴。", 2));
    assert_eq!((results(&turn)[1][0].clone(), credits(&turn)), (json!(true), &json!(2)));
}

#[tokio::test]
async fn prefetch_counts_against_the_search_limit() {
    let ((app, agent), gate) = (start_with(&[("SEARCH_RATE_LIMIT", "1/60s")]).await, Gate::new());
    app.model.queue_replies([
        Completion::new().wait(&gate).text(&search_call("天气")).text(&search_call("新闻")).end(),
        Completion::of(["晴。"]),
    ]);
    let turn = app.open(&request_body(&agent, "天气")).await;
    app.search.wait_for_requests(1).await;
    gate.open();
    let turn = turn.read_to_end().await;
    let ok: Vec<Value> = turn.events_of("tool_call").iter().map(|call| result_of(&turn, call)["ok"].clone()).collect();
    assert_eq!(ok, [json!(true), json!(false)]);
    assert_eq!(app.search.queries(), ["天气"]);
}

fn result_of<'a>(turn: &'a Transcript, call: &Value) -> &'a Value {
    turn.events_of("tool_result").into_iter().find(|result| result["id"] == call["id"]).unwrap()
}

#[tokio::test]
async fn no_prefetch_when_search_is_not_allowed() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let other = create_prefetch_agent(&app, &json!({ "name": "算", "tools": [{ "tool": "calculator" }] })).await;
    let agent = create_prefetch_agent(&app, &json!({ "name": "搜" })).await;
    let none = create_prefetch_agent(&app, &json!({ "name": "无", "maxRounds": 0 })).await;
    let choice = |choice: Value| json!({ "message": "天气", "agentId": agent, "toolChoice": choice });
    for body in [
        request_body(&other, "天气"),
        request_body(&none, "天气"),
        choice(json!("none")),
        choice(json!({ "name": "calculator" })),
        json!({ "message": "天气" }),
    ] {
        assert_eq!(app.chat(&body).await.content(), "好。", "{body}");
    }
    assert_eq!(app.search.queries(), Vec::<String>::new());
}

#[tokio::test]
async fn prefetch_uses_bound_arguments_and_replays() {
    let folder = TempDir::new().unwrap();
    let app = TestApp::start_with(&[("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
    let tools = json!([{ "tool": "search_web", "config": { "topic": "news" } }]);
    let agent = create_prefetch_agent(&app, &json!({ "tools": tools })).await;
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().wait(&gate).text(&search_call("天气")).end(), Completion::of(["晴。"])]);
    app.model.respond_with(|_| Completion::of(["好。"]));
    let turn = app.open(&request_body(&agent, "天气？")).await;
    app.search.wait_for_requests(1).await;
    gate.open();
    turn.read_to_end().await;
    assert_eq!((app.search.queries().len(), &app.search.requests()[0]["topic"]), (1, &json!("news")));
    app.chat(&request_body(&agent, "别的")).await;
    for file in list_recordings(folder.path()) {
        assert_replays_unchanged(&file).await;
    }
}
