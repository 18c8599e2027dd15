//! A required call, for models that write their calls as text.

use serde_json::json;
use support::{Completion, Gate, TestApp};

use crate::search_call;

#[tokio::test]
async fn reply_without_required_call_is_not_shown() {
    for choice in [json!("required"), json!({ "name": "search_web" })] {
        let app = TestApp::start().await;
        app.model.queue_replies([
            Completion::of(["我知道，", "不用查。"]),
            Completion::of(["好。", &*search_call("天气")]),
            Completion::of(["晴。"]),
        ]);
        let turn = app.chat(&json!({ "message": "天气", "toolChoice": choice })).await;
        assert_eq!((turn.content().replace('\n', ""), turn.finish_reason()), ("好。晴。".to_owned(), "stop"));
        let request = app.model.wait_for_request(2).await;
        assert_eq!(request.dialogue()[1].1, "我知道，不用查。");
        assert!(request.last_message().contains("必须先调用"), "{}", request.last_message());
        assert!(!app.model.wait_for_request(3).await.last_message().contains("必须先调用"));
    }
}

#[tokio::test]
async fn second_reply_without_required_call_is_the_answer() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["甲。"]), Completion::of(["乙。"])]);
    let turn = app.chat(&json!({ "message": "天气", "toolChoice": "required" })).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("乙。", "stop"));
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn text_before_required_call_is_shown_with_it() {
    let app = TestApp::start().await;
    let gate = Gate::new();
    app.model.queue_replies([
        Completion::new().text("好。").wait(&gate).text(&search_call("天气")).end(),
        Completion::of(["晴。"]),
    ]);
    let mut turn = app.open(&json!({ "message": "天气", "toolChoice": "required" })).await;
    turn.read_until("start").await;
    gate.wait_until_reached().await;
    gate.open();
    assert_eq!(turn.read_until("content").await["content"], "好。");
    let turn = turn.read_to_end().await;
    assert_eq!((turn.events_of("tool_result").len(), turn.finish_reason()), (1, "stop"));
}

#[tokio::test]
async fn filtered_reply_without_required_call_is_shown() {
    let app = TestApp::start().await;
    let filtered = Completion::new().text("甲。").finish("content_filter").usage(10, 5).done().reply();
    app.model.queue_replies([filtered]);
    let turn = app.chat(&json!({ "message": "天气", "toolChoice": "required" })).await;
    assert_eq!((turn.content().as_str(), app.model.requests().len()), ("甲。", 1));
}
