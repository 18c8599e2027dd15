//! Every text call format, split at every position.

use serde_json::{Value, json};
use support::{Completion, MODEL, MODEL_KEY, TestApp};

use crate::split_points::for_every_split;

/// Replies that show `好的。` and call the search with `天气`.
const FORMATS: [&str; 12] = [
    "好的。<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\"}</tool_call>",
    "好的。<tool_call>\n{\"name\": \"search_web\", \"arguments\": {\"query\": \"天气\"}}\n</tool_call>",
    "好的。<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\"}",
    "好的。<tool_call name=\"search_web\">{\"query\": \"天气\"}</tool_call>",
    "好的。<tool name=\"search_web\">{\"query\": \"天气\"}</tool>",
    "好的。\n{\"tool\": \"search_web\", \"query\": \"天气\"}",
    "好的。\n```json\n{\"tool\": \"search_web\", \"query\": \"天气\"}\n```",
    "{\"tool\": \"search_web\", \"query\": \"天气\"}",
    "好的。<TOOL_CALL >{\"tool\": \"search_web\", \"query\": \"天气\"}</tool_call >",
    "好的。<tool_call>search_web(query=\"天气\")</tool_call>",
    "好的。{\"tool\": \"search_web\", \"query\": \"天气\"}",
    "好的。\nAction: search_web\nAction Input: {\"query\": \"天气\"}\nObservation: 下雨。",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f030_every_call_format_runs_hidden_at_any_split() {
    for_every_split(&FORMATS, |format, split, turn| {
        let calls: Vec<Value> =
            turn.events_of("tool_call").iter().map(|call| json!([call["name"], call["arguments"]])).collect();
        assert_eq!(calls, [json!(["search_web", { "query": "天气" }])], "{split}");
        assert_eq!(turn.events_of("tool_result")[0]["ok"], true, "{split}");
        let shown = turn.content().replace('\n', "");
        let expected = if format.starts_with('好') { "好的。晴。" } else { "晴。" };
        assert_eq!((shown.as_str(), turn.finish_reason()), (expected, "stop"), "{split}");
    })
    .await;
}

#[tokio::test]
async fn close_tag_in_argument_does_not_end_call() {
    let app = TestApp::start().await;
    let query = "什么是 </tool_call> 和 </tool>？";
    app.model.queue_replies([Completion::of([crate::search_call(query)]), Completion::of(["标签。"])]);
    let turn = app.send_message("问").await;
    assert_eq!(turn.events_of("tool_call")[0]["arguments"], json!({ "query": query }));
    assert_eq!((turn.content(), app.search.queries()), ("标签。".to_owned(), vec![query.to_owned()]));
}

#[tokio::test]
async fn repairable_call_runs() {
    for broken in [
        "<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\",}</tool_call>",
        "<tool_call>{'tool': 'search_web', 'query': '天气'}</tool_call>",
        "<tool_call>{tool: \"search_web\", query: \"天气\"}</tool_call>",
        "<tool_call>{\"tool\"：\"search_web\"，\"query\"：\"天气\"}</tool_call>",
    ] {
        let app = TestApp::start().await;
        app.model.queue_replies([Completion::of([broken]), Completion::of(["晴。"])]);
        let turn = app.send_message("天气").await;
        assert_eq!(turn.events_of("tool_call")[0]["arguments"], json!({ "query": "天气" }), "{broken}");
        assert_eq!(turn.content(), "晴。", "{broken}");
    }
}

/// A call whose string never ends although the model's reply does.
const UNREPAIRABLE_CALL: &str = "<tool_call>{\"tool\": \"search_web\", \"query\": \"天";

#[tokio::test]
async fn f051_unrepairable_call_is_returned_to_the_model() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好的。", UNREPAIRABLE_CALL]), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好的。\n\n晴。", "stop"));
    assert_eq!(turn.events_of("tool_call"), Vec::<&Value>::new());
    assert_eq!(app.search.queries(), Vec::<String>::new());
    let talk = app.model.wait_for_request(2).await.dialogue();
    assert!(talk[1].1.contains(UNREPAIRABLE_CALL), "the model sees what it wrote: {talk:?}");
    assert!(talk[2].1.contains("工具调用"), "the model gets the error: {talk:?}");
}

#[tokio::test]
async fn f051_second_unrepairable_call_is_dropped() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["甲。", UNREPAIRABLE_CALL]), Completion::of(["乙。", UNREPAIRABLE_CALL])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("甲。\n\n乙。", "stop"));
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn f051_content_of_another_form_is_never_shown() {
    for call in [
        "<tool_call>{\"tool\" \"search_web\" \"query\" \"天气\"}</tool_call>",
        "<tool_call>{}</tool_call>",
        "<tool_call></tool_call>",
        "<tool_call>search_web: 天气</tool_call>",
        "<tool_call>天气</tool_call>",
    ] {
        let app = TestApp::start().await;
        app.model.queue_replies([Completion::of([call]), Completion::of([call])]);
        let turn = app.send_message("天气").await;
        let (content, finish) = (turn.content(), turn.finish_reason());
        assert!(content.starts_with("抱歉") && finish == "stop", "{call}: {content}");
        let talk = app.model.wait_for_request(2).await.dialogue();
        assert_eq!(talk[1].1, call, "the model sees what it wrote");
        assert!(!talk[2].1.contains(|c: char| c.is_ascii_lowercase()), "a reason in Chinese: {}", talk[2].1);
    }
}

#[tokio::test]
async fn f031_call_truncated_by_output_limit_never_runs() {
    let app = TestApp::start().await;
    let truncated =
        Completion::new().text("好的。<tool_call>{\"tool\": \"search_web\", \"query\": \"天").finish("length");
    app.model.queue_replies([truncated.usage(10, 5).done().reply(), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好的。\n\n晴。", "stop"));
    assert_eq!(app.search.queries(), Vec::<String>::new());
}

#[tokio::test]
async fn chosen_call_format_is_taught_and_read() {
    let first = TestApp::start().await;
    let actor = json!([{
        "name": "actor", "baseUrl": first.model.url(), "apiKeyVar": "OTHER_KEY", "model": MODEL, "tools": "prompt:react",
    }]);
    let settings = [("MODELS", &*actor.to_string()), ("OTHER_KEY", MODEL_KEY), ("DEFAULT_MODEL", "actor")];
    let app = TestApp::start_with(&settings).await;
    let call = "Thought: 要查。\nAction: search_web\nAction Input: {\"query\": \"天气\"}\n";
    first.model.queue_replies([Completion::of([call]), Completion::of(["Final Ans", "wer: 晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!(turn.events_of("tool_call")[0]["arguments"], json!({ "query": "天气" }));
    assert_eq!((turn.content().trim(), turn.thinking().trim()), ("晴。", "要查。"));
    let prompt = first.model.wait_for_request(1).await.system_prompt();
    assert!(prompt.contains("Action: search_web\nAction Input: {"), "{prompt}");
    assert!(!prompt.contains("<tool_call>"), "{prompt}");
    first.model.queue_replies([Completion::of(["Thought: 你好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "你好。", "a thought without an answer is the answer");
}

#[tokio::test]
async fn plain_call_as_whole_reply_runs() {
    for call in [
        "search_web(\"天气\")",
        "search_web(query=\"天气\")\n",
        "{\"action\": \"search_web\", \"action_input\": {\"query\": \"天气\"}}",
        "```json\n{\"action\": \"search_web\", \"action_input\": \"天气\"}\n```",
    ] {
        let app = TestApp::start().await;
        app.model.queue_replies([Completion::of([call]), Completion::of(["晴。"])]);
        let turn = app.send_message("天气").await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("晴。", "stop"), "{call}");
        assert_eq!(app.search.queries(), ["天气"], "{call}");
    }
}
