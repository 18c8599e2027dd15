//! Rate limits per caller: a turn is rejected before anything is stored, a search only towards the model.

use serde_json::{Value, json};
use support::{Completion, TestApp, Transcript};

use crate::search_call;

fn codes(turn: &Transcript) -> Vec<Value> {
    let mut codes: Vec<Value> =
        turn.events_of("tool_result").iter().map(|result| result["error"]["code"].clone()).collect();
    codes.sort_by_key(Value::to_string);
    codes
}

#[tokio::test]
async fn f089_turns_over_limit_are_rejected_before_any_work() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "2/600s")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    app.send_message("一").await;
    app.send_message("二").await;
    for stream in [true, false] {
        let refused = app.post("/api/chat", &json!({ "message": "三", "stream": stream })).await;
        assert_eq!(refused.error(), (429, "rate_limited".to_owned()));
        assert_eq!(refused.json()["error"]["retryable"], true);
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=300).contains(&wait), "{wait}");
    }
    assert_eq!(app.model.requests().len(), 2);
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"].as_array().unwrap().len(), 2);
    assert_eq!(
        app.as_user("alice").send_message("四").await.content(),
        "好。",
        "another caller has an allowance of their own"
    );
}

#[tokio::test]
async fn invalid_request_does_not_count() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/600s")]).await;
    for _ in 0..3 {
        assert_eq!(app.post("/api/chat", &json!({ "message": " " })).await.status, 400);
    }
    app.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
}

#[tokio::test]
async fn turn_limit_does_not_limit_reads() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/600s")]).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let id = app.send_message("你好").await.conversation_id();
    for _ in 0..5 {
        app.conversation(&id).await;
    }
}

#[tokio::test]
async fn searches_over_limit_are_rejected_only_towards_model() {
    let app = TestApp::start_with(&[("SEARCH_RATE_LIMIT", "2/600s")]).await;
    app.model.queue_replies([Completion::of(["一", "二", "三", "四"].map(search_call)), Completion::of(["好。"])]);
    let turn = app.send_message("问").await;
    assert_eq!(codes(&turn), [json!("rate_limited"), json!("rate_limited"), Value::Null, Value::Null]);
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    assert_eq!(app.search.queries().len(), 2);
    let message = app.model.wait_for_request(2).await.last_message();
    assert!(message.matches("搜索结果：").count() == 2 && message.contains("search_error"), "{message}");
}

#[tokio::test]
async fn cache_hits_and_repeats_do_not_count() {
    let app = TestApp::start_with(&[("SEARCH_RATE_LIMIT", "1/600s")]).await;
    app.model.queue_replies([Completion::of(["天气", "天气"].map(search_call)), Completion::of(["好。"])]);
    assert_eq!(codes(&app.send_message("问").await), [Value::Null, Value::Null]);
    for _ in 0..3 {
        app.model.queue_replies([Completion::of([search_call("天气")]), Completion::of(["好。"])]);
        assert_eq!(codes(&app.send_message("问").await), [Value::Null]);
    }
    app.model.queue_replies([Completion::of([search_call("新闻")]), Completion::of(["好。"])]);
    assert_eq!(codes(&app.send_message("问").await), [json!("rate_limited")]);
    app.model.queue_replies([Completion::of([search_call("新闻")]), Completion::of(["好。"])]);
    assert_eq!(
        codes(&app.as_user("alice").send_message("问").await),
        [Value::Null],
        "another caller has an allowance of their own"
    );
    assert_eq!(app.search.queries(), ["天气", "新闻"]);
}

#[tokio::test]
async fn default_search_limit_is_ten_per_minute() {
    let app = TestApp::start_with(&[("SEARCH_RATE_LIMIT", "")]).await;
    let queries: Vec<String> = (0..12).map(|n| search_call(&format!("第{n}问"))).collect();
    app.model.queue_replies([Completion::of(&queries), Completion::of(["好。"])]);
    let turn = app.send_message("问").await;
    let refused = codes(&turn).iter().filter(|code| **code == "rate_limited").count();
    assert_eq!((refused, app.search.queries().len()), (2, 10));
}
