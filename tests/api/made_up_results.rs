//! Results that the model makes up: never shown, stored or sent to a model again.

use serde_json::{Value, json};
use support::{Completion, ModelRequest, NativeApp, Reply, TestApp, Transcript, search_reply};

use crate::openai::complete;
use crate::search_call;

/// Every made-up text contains this.
const CANARY: &str = "臆造";

/// Replies that show `好。`, and whether they call the search.
fn inventions() -> Vec<(Reply, bool)> {
    let called = |rest: &str| (Completion::of(["好。", &*search_call("天气"), rest]), true);
    let thinking = Completion::new().text("好。").text(&search_call("天气")).thinking("臆造").text("\n臆造。").end();
    let broken = "<tool_call>{\"tool\": \"search_web\", \"query\": \"天\n<tool_result>臆造</tool_result>\n臆造。";
    let whole = format!("好。{}\n<tool_result name=\"search_web\">臆造</tool_result>\n臆造。", search_call("天气"));
    vec![
        called("\n<tool_result name=\"search_web\">\n{\"result\": \"臆造\"}\n</tool_result>\n答案是臆造。"),
        called("<search_results>\n1. 臆造\n</search_results>\n\n根据搜索结果，臆造。"),
        called("\n\n答案是臆造。所以是臆造，再见。"),
        called("\nI will search now for 臆造. It is 臆造."),
        called("<think>臆造</think>\n臆造。"),
        called("\n{\"result\": \"臆造\"}\n臆造。"),
        called("\n```json\n{\"result\": \"臆造\"}\n```\n臆造。"),
        called("\n<TOOL_RESPONSE>臆造</TOOL_RESPONSE>臆造"),
        called("\nObservation: 臆造\nThought: 臆造"),
        called("\n<tool_result"),
        (thinking, true),
        (Completion::of(whole.chars().map(String::from)), true),
        (Completion::of(["好。\n<tool_result>臆造</tool_result>\n臆造。"]), false),
        (Completion::of(["好。", "<search_results>\n1. 臆造", "\n</search_results>\n臆造。"]), false),
        (Completion::of(["好。", broken]), false),
    ]
}

/// A product whose model makes up something on the question `问N`, and else answers `晴。`.
async fn inventing_app() -> TestApp {
    let app = TestApp::start().await;
    let inventions = inventions();
    app.model.respond_with(move |request: &ModelRequest| {
        let question = request.last_message();
        let number = question.strip_prefix('问').and_then(|number| number.parse::<usize>().ok());
        number.map_or_else(|| Completion::of(["晴。"]), |number| inventions[number].0.clone())
    });
    app
}

fn assert_honest(text: &str, source: &str) {
    assert!(!text.contains(CANARY) && !text.contains("<tool") && !text.contains("<search"), "{source}: {text}");
}

#[tokio::test]
async fn f057_made_up_result_reaches_no_user_or_prompt() {
    let app = inventing_app().await;
    for (number, (_, calls)) in inventions().iter().enumerate() {
        let turn = app.send_message(&format!("问{number}")).await;
        assert_eq!(turn.content().replace('\n', ""), "好。晴。", "{number}");
        assert_eq!(turn.events_of("tool_result").len(), usize::from(*calls), "{number}");
        assert_honest(&turn.thinking(), "thinking");
        let id = turn.conversation_id();
        app.follow_up(&id, "再说").await;
        assert_honest(&app.get(&format!("/api/conversations/{id}")).await.text(), "stored");
    }
    for request in app.model.requests() {
        assert!(!request.body.to_string().contains(CANARY), "{:?}", request.dialogue());
    }
}

#[tokio::test]
async fn made_up_result_is_in_no_response() {
    let app = inventing_app().await;
    for number in 0..inventions().len() {
        let question = format!("问{number}");
        let whole = app.chat_once(&json!({ "message": question })).await.ok();
        assert_eq!(whole["content"].as_str().unwrap().replace('\n', ""), "好。晴。", "{number}");
        assert_honest(&whole.to_string(), "whole");
        let messages = json!([{ "role": "user", "content": question }]);
        for stream in [true, false] {
            let answer = complete(&app, &messages, &json!({ "stream": stream })).await;
            assert_eq!(answer.status, 200);
            assert_honest(&answer.text(), "openai");
        }
    }
}

/// Runs a turn whose first reply sends this and then nothing more; the model then answers `晴。`.
async fn run_with_endless_reply(text: &str) -> (TestApp, Transcript) {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::new().text(text).reply().stall(), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    app.model.wait_for_hang_ups(1).await;
    (app, turn)
}

#[tokio::test]
async fn reply_ends_where_nothing_useful_follows_its_call() {
    for rest in
        ["\n<tool_result", "\n<search_results>", "\n答案是 7。所以", "\nI will search now. It", "Observation: 7\nSo"]
    {
        let (app, turn) = run_with_endless_reply(&format!("好。{}{rest}", search_call("天气"))).await;
        assert_eq!(turn.content().replace('\n', ""), "好。晴。", "{rest}");
        assert_eq!(app.search.queries(), ["天气"], "{rest}");
        assert_eq!(turn.events_of("usage")[0]["estimated"], true, "{rest}");
    }
}

#[tokio::test]
async fn later_calls_of_a_reply_still_run() {
    let app = TestApp::start().await;
    let [beijing, shanghai, guangzhou] = ["北京", "上海", "广州"].map(search_call);
    let first = ["好。", &*beijing, "\n接下来查询上海。\n", &*shanghai, "\n", &*guangzhou, "\n<tool_result>臆造"];
    app.model.queue_replies([Completion::of(first), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().replace('\n', ""), turn.finish_reason()), ("好。晴。".to_owned(), "stop"));
    let mut queries = app.search.queries();
    queries.sort();
    assert_eq!(queries, ["上海", "北京", "广州"]);
}

#[tokio::test]
async fn made_up_result_without_call_is_corrected_once() {
    let app = TestApp::start().await;
    let invention = || Completion::of(["好。\n<tool_result>臆造</tool_result>\n臆造。"]);
    app.model.queue_replies([invention(), invention()]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().replace('\n', ""), turn.finish_reason()), ("好。好。".to_owned(), "stop"));
    let requests = app.model.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].last_message().contains("工具并没有执行"), "{}", requests[1].last_message());
}

#[tokio::test]
async fn native_invention_ends_reply_unless_there_are_results() {
    let app = NativeApp::start().await;
    let text = "先。\n<tool_result name=\"f\">\n臆造\n</tool_result>\n中。<search_results>臆造</search_results>臆造。";
    app.model.queue_replies([Completion::of(text.chars().map(String::from)), Completion::of(["后。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().replace('\n', ""), turn.finish_reason()), ("先。后。".to_owned(), "stop"));
    assert!(app.model.requests()[1].last_message().contains("工具并没有执行"));
    let id = turn.conversation_id();
    assert_honest(&app.get(&format!("/api/conversations/{id}")).await.text(), "stored");
    app.model.queue_replies([
        search_reply("a", "天气"),
        Completion::of(["<search_results>\n1. 臆造\n</search_results>晴。"]),
    ]);
    assert_eq!(app.follow_up(&id, "再查").await.content(), "晴。");
    assert!(!app.model.requests().iter().any(|request| request.body.to_string().contains(CANARY)));
}

/// The stop sequences of each request so far.
fn stops(app: &TestApp) -> Vec<Value> {
    app.model.requests().iter().map(|request| request.body["stop"].clone()).collect()
}

#[tokio::test]
async fn stop_sequences_end_a_made_up_result() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let markers = ["<tool_result name=", "\n<tool_result", "\n<search_results"];
    app.send_message("你好").await;
    app.chat(&json!({ "message": "你好", "toolChoice": "none" })).await;
    complete(&app, &json!([{ "role": "user", "content": "你好" }]), &json!({ "stop": ["甲", "乙"] })).await;
    assert_eq!(stops(&app), [json!(markers), Value::Null, json!(["甲", "乙", markers[0], markers[1]])]);
}

#[tokio::test]
async fn rejected_stop_sequences_are_left_out() {
    let app = TestApp::start().await;
    let error = json!({ "error": { "message": "Unsupported parameter: 'stop' is not supported with this model.",
        "type": "invalid_request_error", "param": "stop", "code": "unsupported_parameter" } });
    app.model.queue_replies([Reply::json(400, &error), Completion::of(["好。"]), Completion::of(["好。"])]);
    for _ in 0..2 {
        assert_eq!(app.send_message("你好").await.content(), "好。");
    }
    assert_eq!(stops(&app).iter().map(Value::is_null).collect::<Vec<_>>(), [false, true, true]);
}
