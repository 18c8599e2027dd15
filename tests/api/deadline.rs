//! A turn that runs out of time still ends with an answer if there is any content or source.

use serde_json::{Value, json};
use support::{Completion, FakeTavily, ModelRequest, Reply, TestApp, Transcript};

use crate::call;
use crate::native::{Native, search};

/// A turn of 6 s; its last quarter is reserved for the answer.
const SHORT: [(&str, &str); 1] = [("TURN_SECONDS", "6")];

const FOUND: &str = "时间已到，模型没有来得及写出回答。以下是搜索到的相关网页：\n\n\
    1. [天气：第1页](https://example.com/1)\n2. [天气：第2页](https://example.com/2)";

fn told(turn: &Transcript) -> (String, &str) {
    (turn.content(), turn.finish_reason())
}

fn is_hurried(request: &ModelRequest) -> bool {
    request.system().contains("时间快用完了")
}

/// A model that thinks and never answers.
fn lost_in_thought() -> Reply {
    Completion::new().thinking("想").reply().stall()
}

/// Runs a turn on the text path in which the model sends these replies.
async fn asked(replies: impl IntoIterator<Item = Reply>) -> (TestApp, Transcript) {
    let app = TestApp::with(&SHORT).await;
    app.model.replies(replies);
    let turn = app.ask("天气？").await;
    (app, turn)
}

#[tokio::test]
async fn f060_closing_deadline_requests_an_answer_without_tools() {
    let by_text = async |lost: Reply| {
        let (app, turn) = asked([Completion::of([call("天气")]), lost, Completion::of(["晴。"])]).await;
        assert_eq!(told(&turn), ("晴。".to_owned(), "deadline"));
        app.model.hung_up(1).await;
        let requests = app.model.requests();
        assert_eq!(requests.iter().map(is_hurried).collect::<Vec<_>>(), [false, false, true]);
        assert!(requests[1].system().contains("search_web") && !requests[2].system().contains("search_web"));
        assert!(requests[2].last().contains("天气：第1页"));
    };
    let natively = async {
        let app = Native::with(&SHORT).await;
        app.model.replies([search("a", "天气"), lost_in_thought(), Completion::of(["晴。"])]);
        let turn = app.ask("天气？").await;
        assert_eq!(told(&turn), ("晴。".to_owned(), "deadline"));
        let requests = app.model.requests();
        assert_eq!(requests.iter().map(is_hurried).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(requests[2].body["tool_choice"], "none");
    };
    tokio::join!(by_text(Reply::silence()), by_text(lost_in_thought()), natively);
}

#[tokio::test]
async fn f060_started_answer_is_not_replaced() {
    let begun = Completion::new().text("晴").reply().stall();
    let (app, turn) = asked([Completion::of([call("天气")]), begun]).await;
    assert_eq!(told(&turn), ("晴".to_owned(), "deadline"));
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn f060_closing_deadline_stops_a_running_tool() {
    let app = TestApp::with(&SHORT).await;
    app.search.answer(|_| Reply::silence());
    app.model.replies([Completion::of([call("天气")]), Completion::of(["没有查到。"])]);
    let turn = app.ask("天气？").await;
    assert_eq!(told(&turn), ("没有查到。".to_owned(), "deadline"));
    let result = turn.of("tool_result")[0];
    assert_eq!(json!([result["ok"], result["error"]["code"]]), json!([false, "timeout"]));
    assert!(is_hurried(&app.model.asked(2).await));
}

#[tokio::test]
async fn f060_stalled_reply_with_call_gets_final_request() {
    let silent = Completion::new().text("好的。").text(&call("天气")).reply().stall();
    let (app, turn) = asked([silent, Completion::of(["晴。"])]).await;
    assert_eq!(told(&turn), ("好的。晴。".to_owned(), "deadline"));
    let request = app.model.asked(2).await;
    assert!(is_hurried(&request) && request.last().contains("天气：第1页"), "{request:?}");
}

#[tokio::test]
async fn f091_failed_final_request_answers_with_sources() {
    let failing = || Reply::json(500, &json!({ "error": { "message": "upstream words" } }));
    let last_tries = [Reply::silence(), lost_in_thought(), failing()];
    let turns = last_tries.map(async |last| {
        let app = TestApp::with(&SHORT).await;
        app.model.replies([Completion::of(["好的。", &call("天气")]), Reply::silence()]);
        app.model.answer(move |_| last.clone());
        let turn = app.ask("天气？").await;
        let expected = format!("好的。\n\n{FOUND}");
        assert_eq!(told(&turn), (expected.clone(), "deadline"));
        let stored = app.settled(&turn.conversation_id()).await["messages"][1].clone();
        assert_eq!(json!([stored["content"], stored["status"]]), json!([expected, "complete"]));
        app.model.replies([Completion::of(["好。"])]);
        app.go_on(&turn.conversation_id(), "再问").await;
        let talk = app.model.requests().pop().unwrap().talk();
        assert_eq!(talk[3], ("assistant".to_owned(), FOUND.to_owned()), "later turns read it as the answer");
    });
    futures_util::future::join_all(turns).await;
}

#[tokio::test]
async fn f091_failure_before_closing_deadline_is_an_error() {
    let app = TestApp::start().await;
    let refused = Reply::json(401, &json!({ "error": { "message": "upstream words" } }));
    app.model.replies([Completion::of([call("天气")]), refused]);
    let turn = app.ask("天气？").await;
    let sources: &Value = &turn.of("tool_result")[0]["sources"];
    assert_eq!((turn.error_code(), sources.as_array().map(Vec::len)), ("upstream_auth", Some(2)));
}

#[tokio::test]
async fn f091_failed_final_request_without_sources_is_an_error() {
    let app = TestApp::with(&SHORT).await;
    app.search.answer(|body| FakeTavily::result(body["query"].as_str().unwrap(), &json!([]), &Value::Null));
    app.model.replies([Completion::of([call("天气")]), Reply::silence(), Reply::silence()]);
    assert_eq!(app.ask("天气？").await.error_code(), "deadline");
}
