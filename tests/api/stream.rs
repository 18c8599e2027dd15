//! `POST /api/chat`, streamed: the events, their order and their timing.

use serde_json::{Value, json};
use support::{Completion, Gate, TestApp};

use crate::search_call;

#[tokio::test]
async fn search_turn_streams_the_contract_transcript() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::of(["好的，", "马上查询。", &search_call("今天北京天气预报")]),
        Completion::of(["根据搜索结果，", "晴。"]),
    ]);
    let turn = app.send_message("北京天气如何？").await;
    let sources = json!([
        { "index": 1, "title": "今天北京天气预报：第1页", "url": "https://example.com/1", "excerpt": "关于“今天北京天气预报”的内容 1。" },
        { "index": 2, "title": "今天北京天气预报：第2页", "url": "https://example.com/2", "excerpt": "关于“今天北京天气预报”的内容 2。" },
    ]);
    let expected = json!([
        { "type": "start", "conversationId": "CONVERSATION", "messageId": "MESSAGE", "model": "openai" },
        { "type": "content", "content": "好的，马上查询。" },
        { "type": "tool_call", "id": "CALL-1", "name": "search_web", "arguments": { "query": "今天北京天气预报" } },
        {
            "type": "tool_result", "id": "CALL-1", "name": "search_web", "ok": true, "cached": false, "durationMs": 0,
            "summary": "2 results", "sources": sources,
        },
        { "type": "content", "content": "\n\n根据搜索结果，晴。" },
        { "type": "usage", "inputTokens": 20, "outputTokens": 10, "searchCredits": 2, "estimated": false },
        { "type": "done", "finishReason": "stop" },
    ]);
    assert_eq!(turn.normalise(), expected);
}

#[tokio::test]
async fn first_frame_precedes_the_model_response() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::of(["好"]).wait_before_head(&gate)]);
    let mut turn = app.open(&json!({ "message": "你好" })).await;
    assert_eq!(turn.next().await.unwrap()["type"], "start");
    gate.wait_until_reached().await;
    gate.open();
    assert_eq!(turn.read_to_end().await.content(), "好");
}

#[tokio::test]
async fn each_model_delta_is_sent_immediately() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let deltas = ["你好", "，", "世界", " and", " all", "。"];
    let stream = deltas.iter().fold(Completion::new(), |stream, delta| stream.wait(&gate).text(delta));
    app.model.queue_replies([stream.wait(&gate).end()]);
    let mut turn = app.open(&json!({ "message": "你好" })).await;
    turn.next().await;
    for delta in deltas {
        gate.open();
        assert_eq!(turn.next().await.unwrap(), json!({ "type": "content", "content": delta }));
    }
    gate.open();
    assert_eq!(turn.read_to_end().await.finish_reason(), "stop");
}

#[tokio::test]
async fn text_before_call_is_sent_before_call_completes() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let opening = Completion::new().text("好的。").text("<tool_call>{\"tool\": \"sea").wait(&gate);
    app.model
        .queue_replies([opening.text("rch_web\", \"query\": \"天气\"}</tool_call>").end(), Completion::of(["晴。"])]);
    let mut turn = app.open(&json!({ "message": "天气" })).await;
    assert_eq!(turn.read_until("content").await["content"], "好的。");
    gate.wait_until_reached().await;
    gate.open();
    assert_eq!(turn.read_until("tool_call").await["arguments"], json!({ "query": "天气" }));
    assert_eq!(turn.read_to_end().await.content(), "好的。\n\n晴。");
}

#[tokio::test]
async fn call_event_precedes_its_result() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::of([search_call("天气")]), Completion::of(["晴。"])]);
    let held = gate.clone();
    app.search.respond_with(move |body| support::FakeTavily::search_reply(body).wait_before_head(&held));
    let mut turn = app.open(&json!({ "message": "天气" })).await;
    turn.read_until("tool_call").await;
    gate.wait_until_reached().await;
    gate.open();
    assert_eq!(turn.read_until("tool_result").await["ok"], true);
    turn.read_to_end().await;
}

#[tokio::test]
async fn f097_idle_stream_sends_keep_alive() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::of(["好。"]).wait_before_head(&gate)]);
    let mut turn = app.open(&json!({ "message": "你好" })).await;
    turn.next().await;
    turn.expect_keep_alive().await;
    gate.open();
    assert_eq!(turn.read_to_end().await.content(), "好。");
}

#[tokio::test]
async fn accumulated_frames_hold_all_content_and_thinking() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let stream = Completion::new().thinking("想").wait(&gate).text("你").wait(&gate).text("好").wait(&gate);
    app.model.queue_replies([stream.end()]);
    let mut turn = app.open_accumulated(&json!({ "message": "你好" })).await;
    turn.next().await;
    for (content, thinking) in [("", "想"), ("你", "想"), ("你好", "想")] {
        let frame = json!({ "type": "content", "content": content, "thinking": thinking });
        assert_eq!(turn.next().await.unwrap(), frame);
        gate.open();
    }
    assert_eq!(turn.read_to_end().await.finish_reason(), "stop");
}

#[tokio::test]
async fn without_streaming_the_answer_is_one_document() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::new().thinking("想一想。").text("好的。").text(&search_call("天气")).end(),
        Completion::of(["晴。"]),
    ]);
    let mut document = app.chat_once(&json!({ "message": "天气" })).await.ok();
    let stored = app.conversation(document["conversationId"].as_str().unwrap()).await;
    assert_eq!(stored["messages"][1]["id"], document["messageId"]);
    let id = document["toolCalls"][0]["id"].clone();
    assert!(id.as_str().is_some_and(|id| !id.is_empty()));
    for key in ["conversationId", "messageId"] {
        document[key] = Value::Null;
    }
    let expected = json!({
        "conversationId": null, "messageId": null, "model": "openai", "content": "好的。\n\n晴。", "thinking": "想一想。",
        "toolCalls": [
            { "id": id, "name": "search_web", "arguments": { "query": "天气" }, "ok": true, "summary": "2 results" },
        ],
        "sources": [
            { "index": 1, "title": "天气：第1页", "url": "https://example.com/1", "excerpt": "关于“天气”的内容 1。" },
            { "index": 2, "title": "天气：第2页", "url": "https://example.com/2", "excerpt": "关于“天气”的内容 2。" },
        ],
        "usage": { "inputTokens": 20, "outputTokens": 10, "searchCredits": 2, "estimated": false },
        "finishReason": "stop",
    });
    assert_eq!(document, expected);
}

#[tokio::test]
async fn f046_uncounted_usage_is_estimated() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::new().text("你好，世界。").finish("stop").done().reply()]);
    let turn = app.send_message("你好").await;
    let usage = turn.events_of("usage")[0];
    assert_eq!(usage["estimated"], true);
    assert!(usage["inputTokens"].as_u64().unwrap() > 0 && usage["outputTokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn f032_output_limit_finishes_with_length() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::new().text("半句").finish("length").usage(10, 5).done().reply()]);
    let turn = app.send_message("你好").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "length"));
}

#[tokio::test]
async fn f033_content_filter_keeps_partial_text() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::new().text("半句").finish("content_filter").usage(10, 5).done().reply()]);
    let turn = app.send_message("你好").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "content_filter"));
}

#[tokio::test]
async fn f111_answer_text_cannot_break_out_of_its_frame() {
    let app = TestApp::start().await;
    let text = "一\n\nid: x-9\r\ndata: {\"type\":\"done\"}\r\revent: evil\n\ndata: [DONE]\n\n完";
    app.model.queue_replies([Completion::of([text])]);
    assert_eq!(app.send_message("你好").await.content(), text);
}
