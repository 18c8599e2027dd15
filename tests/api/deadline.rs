//! A turn that runs out of time still ends with an answer if there is any content or source.

use serde_json::{Value, json};
use support::{Completion, FakeTavily, ModelRequest, NativeApp, Reply, TestApp, Transcript, search_reply};

use crate::search_call;

/// A turn of 6 s; its last quarter is reserved for the answer.
const SHORT_TURN: [(&str, &str); 1] = [("TURN_SECONDS", "6")];

const SOURCES_ANSWER: &str = "时间已到，模型没有来得及写出回答。以下是搜索到的相关网页：\n\n\
    1. [天气：第1页](https://example.com/1)\n2. [天气：第2页](https://example.com/2)";

fn outcome(turn: &Transcript) -> (String, &str) {
    (turn.content(), turn.finish_reason())
}

fn is_final_request(request: &ModelRequest) -> bool {
    request.last_message().contains("时间快用完了")
}

/// A model that thinks and never answers.
fn endless_thinking() -> Reply {
    Completion::new().thinking("想").reply().stall()
}

/// Runs a turn on the text path in which the model sends these replies.
async fn run_short_turn(replies: impl IntoIterator<Item = Reply>) -> (TestApp, Transcript) {
    let app = TestApp::start_with(&SHORT_TURN).await;
    app.model.queue_replies(replies);
    let turn = app.send_message("天气？").await;
    (app, turn)
}

#[tokio::test]
async fn f060_closing_deadline_requests_an_answer_without_tools() {
    let by_text = async |lost: Reply| {
        let (app, turn) = run_short_turn([Completion::of([search_call("天气")]), lost, Completion::of(["晴。"])]).await;
        assert_eq!(outcome(&turn), ("晴。".to_owned(), "deadline"));
        app.model.wait_for_hang_ups(1).await;
        let requests = app.model.requests();
        assert_eq!(requests.iter().map(is_final_request).collect::<Vec<_>>(), [false, false, true]);
        assert!(requests[2].system_prompt().contains("search_web"));
        assert_eq!(requests[1].system_prompt(), requests[2].system_prompt(), "providers cache it");
        assert!(requests[2].last_message().contains("天气：第1页"));
    };
    let natively = async {
        let app = NativeApp::start_with(&SHORT_TURN).await;
        app.model.queue_replies([search_reply("a", "天气"), endless_thinking(), Completion::of(["晴。"])]);
        let turn = app.send_message("天气？").await;
        assert_eq!(outcome(&turn), ("晴。".to_owned(), "deadline"));
        let requests = app.model.requests();
        assert_eq!(requests.iter().map(is_final_request).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(requests[2].body["tool_choice"], "none");
    };
    tokio::join!(by_text(Reply::no_response()), by_text(endless_thinking()), natively);
}

#[tokio::test]
async fn f060_started_answer_is_not_replaced() {
    let partial = Completion::new().text("晴").reply().stall();
    let (app, turn) = run_short_turn([Completion::of([search_call("天气")]), partial]).await;
    assert_eq!(outcome(&turn), ("晴".to_owned(), "deadline"));
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn f060_closing_deadline_stops_a_running_tool() {
    let app = TestApp::start_with(&SHORT_TURN).await;
    app.search.respond_with(|_| Reply::no_response());
    app.model.queue_replies([Completion::of([search_call("天气")]), Completion::of(["没有查到。"])]);
    let turn = app.send_message("天气？").await;
    assert_eq!(outcome(&turn), ("没有查到。".to_owned(), "deadline"));
    let result = turn.events_of("tool_result")[0];
    assert_eq!(json!([result["ok"], result["error"]["code"]]), json!([false, "timeout"]));
    assert!(is_final_request(&app.model.wait_for_request(2).await));
}

#[tokio::test]
async fn f060_stalled_reply_with_call_gets_final_request() {
    let stalled = Completion::new().text("好的。").text(&search_call("天气")).reply().stall();
    let (app, turn) = run_short_turn([stalled, Completion::of(["晴。"])]).await;
    assert_eq!(outcome(&turn), ("好的。\n\n晴。".to_owned(), "deadline"));
    let request = app.model.wait_for_request(2).await;
    assert!(is_final_request(&request) && request.last_message().contains("天气：第1页"), "{request:?}");
}

#[tokio::test]
async fn f091_failed_final_request_answers_with_sources() {
    let failing = || Reply::json(500, &json!({ "error": { "message": "upstream words" } }));
    let final_replies = [Reply::no_response(), endless_thinking(), failing()];
    let turns = final_replies.map(async |last| {
        let app = TestApp::start_with(&SHORT_TURN).await;
        app.model.queue_replies([Completion::of(["好的。", &search_call("天气")]), Reply::no_response()]);
        app.model.respond_with(move |_| last.clone());
        let turn = app.send_message("天气？").await;
        let expected = format!("好的。\n\n{SOURCES_ANSWER}");
        assert_eq!(outcome(&turn), (expected.clone(), "deadline"));
        let stored = app.read_finished_conversation(&turn.conversation_id()).await["messages"][1].clone();
        assert_eq!(json!([stored["content"], stored["status"]]), json!([expected, "complete"]));
        app.model.queue_replies([Completion::of(["好。"])]);
        app.follow_up(&turn.conversation_id(), "再问").await;
        let talk = app.model.requests().pop().unwrap().dialogue();
        assert_eq!(talk[3], ("assistant".to_owned(), SOURCES_ANSWER.to_owned()), "later turns read it as the answer");
    });
    futures_util::future::join_all(turns).await;
}

#[tokio::test]
async fn f091_failure_before_closing_deadline_is_an_error() {
    let app = TestApp::start().await;
    let refused = Reply::json(401, &json!({ "error": { "message": "upstream words" } }));
    app.model.queue_replies([Completion::of([search_call("天气")]), refused]);
    let turn = app.send_message("天气？").await;
    let sources: &Value = &turn.events_of("tool_result")[0]["sources"];
    assert_eq!((turn.error_code(), sources.as_array().map(Vec::len)), ("upstream_auth", Some(2)));
}

#[tokio::test]
async fn f091_failed_final_request_without_sources_is_an_error() {
    let app = TestApp::start_with(&SHORT_TURN).await;
    app.search
        .respond_with(|body| FakeTavily::search_reply_with(body["query"].as_str().unwrap(), &json!([]), &Value::Null));
    app.model.queue_replies([Completion::of([search_call("天气")]), Reply::no_response(), Reply::no_response()]);
    assert_eq!(app.send_message("天气？").await.error_code(), "deadline");
}
