//! Prompts and results are held to the context window that a model really has.

use serde_json::{Value, json};
use support::{Client, Completion, FakeEndpoint, FakeOllama, FakeTavily, OLLAMA_MODEL, Reply, TestApp, Transcript};

use crate::{ollama, search_call};

/// The note in a shortened result.
const TRUNCATED: &str = "（内容过长，已截断）";

/// A search reply with ten long pages.
fn ten_pages(body: &Value) -> Reply {
    let query = body["query"].as_str().unwrap();
    let page = |number: u32| {
        json!({
            "title": format!("{query}：第{number}页"), "url": format!("https://example.com/{number}"),
            "content": format!("第 {number} 页写到 {query}。").repeat(60), "score": 0.9,
        })
    };
    let pages: Vec<Value> = (1..=10).map(page).collect();
    FakeTavily::search_reply_with(query, &json!(pages), &json!("摘要。".repeat(200)))
}

/// A reply without token counts, so that the product counts the prompt itself.
fn uncounted(text: &str) -> Reply {
    Completion::new().text(text).finish("stop").done().reply()
}

/// The token count that `counted` reports for its prompt.
const COUNTED_TOKENS: u64 = 400;

/// A reply with a token count that the product accepts for each prompt of these tests.
fn counted(pieces: impl IntoIterator<Item = String>) -> Reply {
    let reply = pieces.into_iter().fold(Completion::new(), |stream, piece| stream.text(&piece));
    reply.finish("stop").usage(COUNTED_TOKENS, 5).done().reply()
}

/// The product's own count of the last prompt of a turn, whose other replies are `counted`.
fn last_prompt_tokens(turn: &Transcript, prompts: u64) -> u64 {
    let usage = turn.events_of("usage")[0];
    assert_eq!(usage["estimated"], true);
    usage["inputTokens"].as_u64().unwrap() - COUNTED_TOKENS * (prompts - 1)
}

async fn start_with_window(tokens: u64) -> TestApp {
    let options = json!({ "openai": { "contextTokens": tokens } }).to_string();
    let app = TestApp::start_with(&[("MODEL_OPTIONS", &options)]).await;
    app.search.respond_with(ten_pages);
    app
}

#[tokio::test]
async fn long_conversation_never_exceeds_the_window() {
    for window in [4_096, 8_192, 16_384] {
        let app = start_with_window(window).await;
        let mut id = None;
        for number in 0..12 {
            let question = format!("第 {number} 问：{}", "长城 the wall 有多长？".repeat(number * 4));
            app.model.queue_replies([
                counted([search_call("甲"), search_call("乙")]),
                counted([search_call("丙")]),
                uncounted(&"答案是很长的一段话。".repeat(40)),
            ]);
            let turn = app.chat(&json!({ "message": question, "conversationId": id })).await;
            id = Some(turn.conversation_id());
            let tokens = last_prompt_tokens(&turn, 3);
            assert!(tokens <= window - window / 4, "{tokens} of {window} in turn {number}");
            let request = app.model.wait_for_request(number * 3 + 3).await;
            let texts: String = request.dialogue().into_iter().map(|(_, text)| text).collect();
            assert!(texts.contains(&question) && request.system_prompt().contains("search_web"));
            for query in ["甲", "乙", "丙"] {
                assert!(
                    texts.contains(&format!("1. {query}：第1页")),
                    "{window}: a part of each result of turn {number}"
                );
            }
        }
    }
}

#[tokio::test]
async fn long_conversation_is_summarised_within_the_window() {
    let options = json!({ "openai": { "contextTokens": 4_096 } }).to_string();
    let app = TestApp::start_with(&[("MODEL_OPTIONS", &options), ("SUMMARISE_HISTORY", "yes")]).await;
    app.model.respond_with(|request| {
        if request.system_prompt().starts_with("你负责压缩") {
            Completion::of(["摘要。"])
        } else {
            uncounted("好。")
        }
    });
    let id = app.send_message("开始").await.conversation_id();
    for number in 0..8 {
        app.follow_up(&id, &format!("{number} {}", "长城有多长？".repeat(150))).await;
    }
    let summaries: Vec<_> =
        app.model.requests().into_iter().filter(|request| request.system_prompt().starts_with("你负责压缩")).collect();
    assert!(!summaries.is_empty());
    let characters = summaries.iter().map(|request| request.last_message().chars().count()).max().unwrap();
    assert!(characters < 3_500, "{characters}");
}

#[tokio::test]
async fn small_window_gets_compact_prompt_and_three_results() {
    let ollama = FakeOllama::start(&[]).await;
    ollama.set_show_reply(ollama::show_reply(&["completion"], 4_096));
    let app = ollama::start_with_ollama(&ollama).await;
    app.search.respond_with(ten_pages);
    ollama.queue_replies([ollama::text_reply(&search_call("长城")), ollama::text_reply("长城很长 [1]。")]);
    let turn = app.send_message("长城有多长？").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("长城很长 [1]。", "stop"));
    assert_eq!(turn.events_of("tool_result")[0]["summary"], "3 of 10 results");
    let chats = ollama.chat_bodies();
    assert!(chats.iter().all(|chat| chat["options"]["num_ctx"] == 4_096));
    let system = chats[0]["messages"][0]["content"].as_str().unwrap();
    let call = "<tool_call>{\"tool\": \"search_web\", \"query\": \"…\"}</tool_call>";
    assert!(system.contains("search_web(query: string") && system.contains(call), "{system}");
    assert!(!system.contains("示例"), "{system}");
    let results = chats[1]["messages"][3]["content"].as_str().unwrap();
    assert_eq!(results.matches("\n来源：https://example.com/").count(), 3, "{results}");
    assert!(results.contains("</search_results>") && !results.contains(TRUNCATED), "{results}");
}

#[tokio::test]
async fn compact_prompt_has_less_than_half_the_tokens() {
    let mut tokens = Vec::new();
    for window in [8_000, 7_999] {
        let app = start_with_window(window).await;
        app.model.queue_replies([uncounted("好。")]);
        tokens.push(last_prompt_tokens(&app.send_message("你好").await, 1));
    }
    assert!(tokens[1] < 700 && tokens[1] * 2 < tokens[0], "full and compact: {tokens:?}");
}

#[tokio::test]
async fn custom_system_prompt_is_kept_in_small_window() {
    let options = json!({ "openai": { "contextTokens": 4_096 } }).to_string();
    let app = TestApp::start_with(&[("MODEL_OPTIONS", &options), ("SYSTEM_PROMPT", "你是一只鹦鹉。")]).await;
    app.model.queue_replies([uncounted("好。")]);
    app.send_message("你好").await;
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(system.starts_with("你是一只鹦鹉。") && system.contains("search_web(query: string"), "{system}");
}

#[tokio::test]
async fn window_is_remembered_after_restart() {
    let ollama = FakeOllama::start(&[]).await;
    ollama.set_show_reply(ollama::show_reply(&["completion"], 12_000));
    let url = ollama.url();
    let settings = [("OLLAMA_API_URL", &*url), ("OLLAMA_MODEL", OLLAMA_MODEL), ("DEFAULT_MODEL", "local")];
    let mut app = TestApp::start_on_disk_with(&settings).await;
    ollama.queue_replies([ollama::text_reply("一。"), ollama::text_reply("二。"), ollama::text_reply("三。")]);
    app.send_message("问").await;
    app.restart().await;
    app.send_message("问").await;
    app.restart_with(&[("OLLAMA_MAX_CONTEXT_TOKENS", "10000")]).await;
    app.send_message("问").await;
    let windows: Vec<Value> = ollama.chat_bodies().iter().map(|chat| chat["options"]["num_ctx"].clone()).collect();
    assert_eq!((windows, ollama.show_request_count()), (vec![json!(12_000), json!(12_000), json!(10_000)], 1));
}

#[tokio::test]
async fn failed_probe_requests_a_default_window() {
    let ollama = FakeOllama::start(&[]).await;
    ollama.set_show_reply(Reply::status(404));
    let app = ollama::start_with_ollama(&ollama).await;
    ollama.queue_replies([ollama::text_reply("一。")]);
    app.send_message("问").await;
    assert_eq!(ollama.chat_bodies()[0]["options"]["num_ctx"], 8_192);
}

async fn create(app: &Client, kind: &str, document: &Value) -> String {
    let created = app.post(&format!("/api/admin/{kind}"), document).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

/// A tool of this host that returns a table.
fn table_tool(host: &FakeEndpoint) -> Value {
    json!({
        "name": "table", "description": "Returns a table.",
        "endpoint": { "urlTemplate": format!("{}/{{id}}", host.url()) },
        "parameters": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } },
    })
}

fn table_call(id: &str) -> String {
    format!("<tool_call>{{\"tool\": \"table\", \"id\": \"{id}\"}}</tool_call>")
}

#[tokio::test]
async fn huge_results_share_an_unknown_window() {
    let app = TestApp::start_with(&[("ALLOW_PRIVATE_TOOLS", "yes")]).await;
    let host = FakeEndpoint::start_permissive().await;
    host.respond_with(|request| {
        Reply::json(200, &json!({ "id": request.path, "rows": "one row of a table, ".repeat(12_000) }))
    });
    create(&app, "tools", &table_tool(&host)).await;
    let agent = create(&app, "agents", &json!({ "name": "表", "tools": [{ "tool": "table" }] })).await;
    app.model.queue_replies([counted([table_call("a")]), uncounted("好。")]);
    let turn = app.chat(&json!({ "message": "查表", "agentId": agent })).await;
    let result = app.model.wait_for_request(2).await.last_message();
    assert!(result.contains(TRUNCATED) && (30_000..60_000).contains(&result.len()), "{}", result.len());
    assert!(last_prompt_tokens(&turn, 2) < 17_000);
    let calls = ["b", "c", "d"].map(table_call);
    app.model.queue_replies([counted(calls), uncounted("好。")]);
    let turn = app.chat(&json!({ "message": "查三张表", "agentId": agent })).await;
    let results = app.model.wait_for_request(4).await.last_message();
    let parts: Vec<usize> = results.split(TRUNCATED).map(str::len).collect();
    assert!(parts.len() == 4 && parts[..3].iter().all(|bytes| *bytes > 20_000), "{parts:?}");
    assert!(last_prompt_tokens(&turn, 2) <= 32_768 - 4_096);
}
