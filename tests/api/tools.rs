//! The built-in tools on the text path and the native path, with good and bad arguments.

use serde_json::{Value, json};
use support::{Completion, FakeModel, FakeTavily, Reply, TestApp};

use crate::native::Native;

/// A call in the text format.
fn text(name: &str, arguments: &Value) -> Reply {
    let mut call = json!({ "tool": name });
    call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    Completion::of([format!("<tool_call>{call}</tool_call>")])
}

/// A native call.
fn native(name: &str, arguments: &Value) -> Reply {
    Completion::new().call(0, "id-1", name, &arguments.to_string()).finish("tool_calls").done().reply()
}

/// The result event of a call and the message to the model, on the text path and on the native path.
async fn both(name: &str, arguments: Value) -> [(Value, String); 2] {
    both_after("问", name, arguments).await
}

/// Like [`run_on_both_paths`], with this user message.
async fn both_after(words: &str, name: &str, arguments: Value) -> [(Value, String); 2] {
    let by_text = TestApp::start().await;
    by_text.model.replies([text(name, &arguments), Completion::of(["好。"])]);
    let natively = Native::start().await;
    natively.model.replies([native(name, &arguments), Completion::of(["好。"])]);
    [seen(words, &by_text, &by_text.model).await, seen(words, &natively, &natively.model).await]
}

async fn seen(words: &str, app: &TestApp, model: &FakeModel) -> (Value, String) {
    let turn = app.ask(words).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    let told = model.asked(2).await.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    (turn.of("tool_result")[0].clone(), told.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn calculator_is_exact() {
    for (result, told) in both("calculator", json!({ "expression": "0.1 + ０．２ × 2^100" })).await {
        let summary = "0.1 + ０．２ × 2^100 = 253530120045645880299340641075.3";
        assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!(summary)));
        assert!(told.contains(r#""result":"253530120045645880299340641075.3","exact":true"#), "{told}");
    }
}

#[tokio::test]
async fn current_time_includes_its_zone() {
    for (result, told) in both("current_time", json!({ "zone": "Tokyo" })).await {
        assert!(result["summary"].as_str().unwrap().ends_with(" Asia/Tokyo"), "{result}");
        assert!(told.contains("时区：Asia/Tokyo（UTC+09:00）\n日期：20"), "{told}");
    }
}

#[tokio::test]
async fn f051_bad_arguments_error_describes_valid_ones() {
    let cases = [
        ("calculator", json!({}), "invalid_arguments", "`expression` is missing"),
        ("calculator", json!({ "expression": ["1"] }), "invalid_arguments", "`expression` must be a string"),
        ("calculator", json!({ "expression": "" }), "invalid_arguments", "算式是空的"),
        ("calculator", json!({ "expression": "x".repeat(10_000) }), "invalid_arguments", "超过 1000 个字符"),
        ("calculator", json!({ "expression": "1/0" }), "failed", "除数为零"),
        ("current_time", json!({ "zone": { "city": "Tokyo" } }), "invalid_arguments", "`zone` must be a string"),
        ("current_time", json!({ "zone": "Argentina/Buenos" }), "invalid_arguments", "America/Buenos_Aires"),
        ("read_url", json!({}), "invalid_arguments", "`url` is missing"),
        ("read_url", json!({ "url": "javascript:alert(1)" }), "invalid_arguments", "`url` 必须是公开网页的完整网址"),
        ("read_url", json!({ "url": "https://evil.example/?d=1" }), "invalid_arguments", "用户消息里出现过的网址"),
        ("search_web", json!({ "query": "q", "topic": "sports" }), "invalid_arguments", "`topic` must be one of"),
        ("search_web", json!({ "query": "q", "include_domains": ["x"] }), "invalid_arguments", "host names such as"),
        ("calculate", json!({ "expression": "1+1" }), "unknown_tool", "search_web, read_url, calculator, current_time"),
    ];
    for (name, arguments, code, reason) in cases {
        for (result, told) in both(name, arguments.clone()).await {
            assert_eq!((&result["ok"], &result["error"]["code"]), (&json!(false), &json!(code)), "{result}");
            assert!(told.contains(reason), "{told}");
        }
    }
}

#[tokio::test]
async fn f053_endless_calculation_is_stopped() {
    for (result, told) in both("calculator", json!({ "expression": "9^9^9^9" })).await {
        assert_eq!(result["error"], json!({ "code": "failed", "message": "The calculation is too large." }));
        assert!(told.contains("数字太大"), "{told}");
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
    for (result, told) in both_after(&format!("讲讲{url}。"), "read_url", json!({ "url": url })).await {
        let source = json!({ "index": 1, "title": "网页", "url": url });
        assert_eq!((&result["ok"], &result["sources"]), (&json!(true), &json!([source])));
        let page = format!("<page>\n标题：网页\n来源：{url}\n内容：# 网页\n{url} 的正文。\n</page>");
        assert!(told.contains(&page), "{told}");
    }
}

#[tokio::test]
async fn search_accepts_filters() {
    let narrowed = json!({ "query": "天气", "topic": "news", "time_range": "day", "include_domains": "example.com" });
    for (result, told) in both("search_web", narrowed).await {
        assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!("2 results")));
        assert!(told.contains("天气：第1页"), "{told}");
    }
}

#[tokio::test]
async fn irrelevant_quick_search_is_deepened_once() {
    let app = TestApp::start().await;
    let poor = json!([{ "title": "t", "url": "https://example.com/", "content": "c", "score": 0.3 }]);
    app.search.replies([FakeTavily::result("天气", &poor, &Value::Null)]);
    app.model.replies([text("search_web", &json!({ "query": "天气", "mode": "quick" })), Completion::of(["晴。"])]);
    let turn = app.ask("天气").await;
    let asked: Vec<Value> = app.search.requests().iter().map(|body| body["search_depth"].clone()).collect();
    assert_eq!((asked, &turn.of("usage")[0]["searchCredits"]), (vec![json!("basic"), json!("advanced")], &json!(4)));
    let told = app.model.asked(2).await.last();
    assert!(told.contains("（说明：快速搜索的结果不够相关，这是自动加深搜索后的结果。）"), "{told}");
}

#[tokio::test]
async fn f136_only_found_pages_can_be_read() {
    let app = TestApp::start().await;
    let (found, other) = (json!({ "url": "https://example.com/1" }), json!({ "url": "https://example.com/3" }));
    app.model.replies([
        text("search_web", &json!({ "query": "天气" })),
        text("read_url", &found),
        Completion::of(["晴。"]),
        text("read_url", &json!({ "url": "https://example.com/2/" })),
        text("read_url", &other),
        Completion::of(["好。"]),
    ]);
    let first = app.ask("天气").await;
    let id = first.conversation_id();
    let second = app.chat(&json!({ "message": "再看第二个", "conversationId": id })).await;
    let ok = |turn: &support::Transcript| {
        turn.of("tool_result").iter().map(|result| result["ok"] == true).collect::<Vec<_>>()
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
    app.search.answer(FakeTavily::unreadable);
    app.model.replies([text("read_url", &json!({ "url": "https://example.com/" })), Completion::of(["好。"])]);
    let turn = app.ask("https://example.com").await;
    let error = json!({ "code": "failed", "message": "The page cannot be read." });
    assert_eq!(turn.of("tool_result")[0]["error"], error);
    let told = app.model.asked(2).await.last();
    assert!(
        told.contains("<page_error>读取失败: 这个网页无法读取</page_error>") && !told.contains("upstream"),
        "{told}"
    );
}

#[tokio::test]
async fn f141_spent_search_budget_serves_stale_cache() {
    let app = TestApp::with(&[("TAVILY_DAILY_CREDITS", "2"), ("SEARCH_CACHE_TTL_SECONDS", "0")]).await;
    let search = |query: &str| text("search_web", &json!({ "query": query }));
    app.model.replies([search("天气"), Completion::of(["晴。"]), search("天气"), Completion::of(["晴。"])]);
    app.ask("天气").await;
    app.ask("天气").await;
    assert!(app.model.asked(4).await.last().contains("（说明：搜索额度已经用完，这是较早以前的结果，可能已经过时。）"));
    app.model.replies([search("新闻"), Completion::of(["好。"])]);
    let turn = app.ask("新闻").await;
    let error = json!({ "code": "failed", "message": "The search allowance is used up for now." });
    assert_eq!(turn.of("tool_result")[0]["error"], error);
    assert_eq!(app.search.queries(), ["天气"]);
}
