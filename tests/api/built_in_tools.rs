//! The built-in tools on the text path and the native path, with good and bad arguments.

use serde_json::{Value, json};
use support::{Completion, FakeModel, FakeTavily, NativeApp, Reply, TestApp};

/// A call in the text format.
fn text_call(name: &str, arguments: &Value) -> Reply {
    let mut call = json!({ "tool": name });
    call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    Completion::of([format!("<tool_call>{call}</tool_call>")])
}

/// A native call.
fn native_call(name: &str, arguments: &Value) -> Reply {
    Completion::new().call(0, "id-1", name, &arguments.to_string()).finish("tool_calls").done().reply()
}

/// The result event of a call and the message to the model, on the text path and on the native path.
async fn run_on_both_paths(name: &str, arguments: Value) -> [(Value, String); 2] {
    run_message_on_both_paths("问", name, arguments).await
}

/// Like [`run_on_both_paths`], with this user message.
async fn run_message_on_both_paths(message: &str, name: &str, arguments: Value) -> [(Value, String); 2] {
    let by_text = TestApp::start().await;
    by_text.model.queue_replies([text_call(name, &arguments), Completion::of(["好。"])]);
    let natively = NativeApp::start().await;
    natively.model.queue_replies([native_call(name, &arguments), Completion::of(["好。"])]);
    [run_call(message, &by_text, &by_text.model).await, run_call(message, &natively, &natively.model).await]
}

async fn run_call(message: &str, app: &TestApp, model: &FakeModel) -> (Value, String) {
    let turn = app.send_message(message).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    let result_text =
        model.wait_for_request(2).await.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    (turn.events_of("tool_result")[0].clone(), result_text.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn calculator_is_exact() {
    for (result, message) in run_on_both_paths("calculator", json!({ "expression": "0.1 + ０．２ × 2^100" })).await
    {
        let summary = "0.1 + ０．２ × 2^100 = 253530120045645880299340641075.3";
        assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!(summary)));
        assert!(message.contains(r#""result":"253530120045645880299340641075.3","exact":true"#), "{message}");
    }
}

#[tokio::test]
async fn current_time_includes_its_zone() {
    for (result, message) in run_on_both_paths("current_time", json!({ "zone": "Tokyo" })).await {
        assert!(result["summary"].as_str().unwrap().ends_with(" Asia/Tokyo"), "{result}");
        assert!(message.contains("时区：Asia/Tokyo（UTC+09:00）\n日期：20"), "{message}");
    }
}

#[tokio::test]
async fn f051_bad_arguments_error_describes_valid_ones() {
    let cases = [
        ("calculator", json!({}), "invalid_arguments", "缺少 `expression`"),
        ("calculator", json!({ "expression": ["1"] }), "invalid_arguments", "`expression` 必须是字符串"),
        ("calculator", json!({ "expression": "" }), "invalid_arguments", "算式是空的"),
        ("calculator", json!({ "expression": "x".repeat(10_000) }), "invalid_arguments", "超过 1000 个字符"),
        ("calculator", json!({ "expression": "1/0" }), "failed", "除数为零"),
        ("current_time", json!({ "zone": { "city": "Tokyo" } }), "invalid_arguments", "`zone` 必须是字符串"),
        ("current_time", json!({ "zone": "Argentina/Buenos" }), "invalid_arguments", "America/Buenos_Aires"),
        ("read_url", json!({}), "invalid_arguments", "缺少 `url`"),
        ("read_url", json!({ "url": "javascript:alert(1)" }), "invalid_arguments", "`url` 必须是公开网页的完整网址"),
        ("read_url", json!({ "url": "https://evil.example/?d=1" }), "invalid_arguments", "用户消息里出现过的网址"),
        (
            "search_web",
            json!({ "query": "q", "topic": "sports" }),
            "invalid_arguments",
            "`topic` 必须是以下值之一：\"general\"、",
        ),
        (
            "search_web",
            json!({ "query": "q", "include_domains": ["x"] }),
            "invalid_arguments",
            "只能是 example.com 这样的域名",
        ),
        ("calculate", json!({ "expression": "1+1" }), "unknown_tool", "search_web, read_url, calculator, current_time"),
    ];
    for (name, arguments, code, reason) in cases {
        for (result, message) in run_on_both_paths(name, arguments.clone()).await {
            assert_eq!((&result["ok"], &result["error"]["code"]), (&json!(false), &json!(code)), "{result}");
            assert!(message.replace('\\', "").contains(reason), "{message}");
        }
    }
}

#[tokio::test]
async fn english_turn_has_english_tool_texts() {
    let cases = [
        ("calculator", json!({}), "The arguments are invalid: `expression` is missing. Correct them"),
        (
            "calculator",
            json!({ "expression": "" }),
            "the expression cannot be read (it is empty). Supported are numbers",
        ),
        ("calculator", json!({ "expression": "1/0" }), "The calculation failed: division by zero has no result."),
        ("current_time", json!({ "zone": "Mars" }), "must be an IANA time zone"),
        ("current_time", json!({ "zone": "Tokyo" }), "Time zone: Asia/Tokyo (UTC+09:00)\nDate: 20"),
        ("search_web", json!({ "query": "q", "mode": 1 }), "`mode` must be one of \"quick\", "),
        ("calculate", json!({}), "Tool 'calculate' not found. Available tools: search_web, read_url, calculator"),
    ];
    for (name, arguments, expected) in cases {
        for (_, message) in run_message_on_both_paths("Please try it", name, arguments.clone()).await {
            assert!(message.replace('\\', "").contains(expected), "{message}");
        }
    }
}

#[tokio::test]
async fn f053_endless_calculation_is_stopped() {
    for (result, message) in run_on_both_paths("calculator", json!({ "expression": "9^9^9^9" })).await {
        assert_eq!(result["error"], json!({ "code": "failed", "message": "The calculation is too large." }));
        assert!(message.contains("数字太大"), "{message}");
    }
}

#[tokio::test]
async fn built_in_tools_are_listed_in_order() {
    let app = TestApp::start().await;
    let tools = app.get("/api/tools").await.ok();
    let names: Vec<&str> = tools["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["search_web", "read_url", "calculator", "current_time"]);
}

#[tokio::test]
async fn page_in_user_message_can_be_read() {
    let url = "https://example.com/article?id=7";
    for (result, message) in run_message_on_both_paths(&format!("讲讲{url}。"), "read_url", json!({ "url": url })).await
    {
        let source = json!({ "index": 1, "title": "网页", "url": url, "excerpt": format!("# 网页 {url} 的正文。") });
        assert_eq!((&result["ok"], &result["sources"]), (&json!(true), &json!([source])));
        let page = format!("<page>\n编号：1\n标题：网页\n来源：{url}\n内容：# 网页\n{url} 的正文。\n</page>");
        assert!(message.contains(&page), "{message}");
    }
}

#[tokio::test]
async fn search_accepts_filters() {
    let narrowed = json!({ "query": "天气", "topic": "news", "time_range": "day", "include_domains": "example.com" });
    for (result, message) in run_on_both_paths("search_web", narrowed).await {
        assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!("2 results")));
        assert!(message.contains("天气：第1页"), "{message}");
    }
}

#[tokio::test]
async fn irrelevant_quick_search_is_deepened_once() {
    let app = TestApp::start().await;
    let poor = json!([{ "title": "t", "url": "https://example.com/", "content": "c", "score": 0.3 }]);
    app.search.queue_replies([FakeTavily::search_reply_with("天气", &poor, &Value::Null)]);
    app.model.queue_replies([
        text_call("search_web", &json!({ "query": "天气", "mode": "quick" })),
        Completion::of(["晴。"]),
    ]);
    let turn = app.send_message("天气").await;
    let depths: Vec<Value> = app.search.requests().iter().map(|body| body["search_depth"].clone()).collect();
    assert_eq!(
        (depths, &turn.events_of("usage")[0]["searchCredits"]),
        (vec![json!("basic"), json!("advanced")], &json!(4))
    );
    let message = app.model.wait_for_request(2).await.last_message();
    assert!(message.contains("（说明：快速搜索的结果不够相关，这是自动加深搜索后的结果。）"), "{message}");
}

#[tokio::test]
async fn f136_only_found_pages_can_be_read() {
    let app = TestApp::start().await;
    let (found, other) = (json!({ "url": "https://example.com/1" }), json!({ "url": "https://example.com/3" }));
    app.model.queue_replies([
        text_call("search_web", &json!({ "query": "天气" })),
        text_call("read_url", &found),
        Completion::of(["晴。"]),
        text_call("read_url", &json!({ "url": "https://example.com/2/" })),
        text_call("read_url", &other),
        Completion::of(["好。"]),
    ]);
    let first = app.send_message("天气").await;
    let id = first.conversation_id();
    let second = app.chat(&json!({ "message": "再看第二个", "conversationId": id })).await;
    let ok = |turn: &support::Transcript| {
        turn.events_of("tool_result").iter().map(|result| result["ok"] == true).collect::<Vec<_>>()
    };
    assert_eq!((ok(&first), ok(&second)), (vec![true, true], vec![true, false]));
    let read: Vec<Value> = app.search.requests().iter().filter_map(|body| body.get("urls").cloned()).collect();
    assert_eq!(
        read,
        [json!(["https://example.com/1"]), json!(["https://example.com/2"])],
        "as the search spelled them"
    );
}

#[tokio::test]
async fn unreadable_page_is_reported() {
    let app = TestApp::start().await;
    app.search.respond_with(FakeTavily::unreadable_page_reply);
    app.model
        .queue_replies([text_call("read_url", &json!({ "url": "https://example.com/" })), Completion::of(["好。"])]);
    let turn = app.send_message("https://example.com").await;
    let error = json!({ "code": "failed", "message": "The page cannot be read." });
    assert_eq!(turn.events_of("tool_result")[0]["error"], error);
    let message = app.model.wait_for_request(2).await.last_message();
    assert!(
        message.contains("<page_error>Reading failed: this page cannot be read</page_error>")
            && !message.contains("upstream"),
        "{message}"
    );
}

#[tokio::test]
async fn f141_spent_search_budget_serves_stale_cache() {
    let app = TestApp::start_with(&[("TAVILY_DAILY_CREDITS", "2"), ("SEARCH_CACHE_TTL_SECONDS", "0")]).await;
    let search = |query: &str| text_call("search_web", &json!({ "query": query }));
    app.model.queue_replies([search("天气"), Completion::of(["晴。"]), search("天气"), Completion::of(["晴。"])]);
    app.send_message("天气").await;
    app.send_message("天气").await;
    assert!(
        app.model
            .wait_for_request(4)
            .await
            .last_message()
            .contains("（说明：搜索额度已经用完，这是较早以前的结果，可能已经过时。）")
    );
    app.model.queue_replies([search("新闻"), Completion::of(["好。"])]);
    let turn = app.send_message("新闻").await;
    let error = json!({ "code": "failed", "message": "The search service's quota is used up for now." });
    assert_eq!(turn.events_of("tool_result")[0]["error"], error);
    assert_eq!(app.search.queries(), ["天气"]);
}
