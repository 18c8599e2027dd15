//! Personal data that `MASK` names reaches no search, host, execution or recording; users and models see the originals.

use std::fs;

use serde_json::{Value, json};
use support::{Client, Completion, FakeEndpoint, FakeMcp, NativeApp, Reply, TestApp, list_recordings};
use tempfile::TempDir;

use crate::recordings::assert_replays_unchanged;
use crate::search_call;
use crate::secrets::MemoryLog;

const PHONE: &str = "138 0013 8000";
const EMAIL: &str = "ada@example.com";
const ID: &str = "11010519850722007X";
const CARD: &str = "4111222233334448";

/// Masks all kinds and staff numbers, and lets tools reach the servers of a test.
const ALL: [(&str, &str); 3] = [
    ("MASK", "all"),
    ("MASK_PATTERNS", r#"[{"name":"staff","pattern":"\\bE\\d{6}\\b"}]"#),
    ("ALLOW_PRIVATE_TOOLS", "yes"),
];

fn all_personal_data() -> String {
    format!("{PHONE} {EMAIL} {ID} {CARD} E123456")
}

const MASKED: &str = "[phone] [email] [id] [card] [staff]";

fn assert_free(text: &str, what: &str) {
    for original in [PHONE, "13800138000", EMAIL, ID, CARD, "E123456"] {
        assert!(!text.contains(original), "{what} holds {original}: {text}");
    }
}

async fn create(app: &Client, kind: &str, document: &Value) -> String {
    let created = app.post(&format!("/api/admin/{kind}"), document).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

/// Runs a turn of an agent with only this tool, in which the model calls it; returns the call events.
async fn run_tool_call(app: &TestApp, tool: &Value, name: &str, arguments: &Value) -> Vec<Value> {
    create(app, "tools", tool).await;
    let agent = json!({"name": tool["name"], "tools": [{"tool": tool["name"], "config": {"sender": PHONE}}]});
    let agent = create(app, "agents", &agent).await;
    let mut call = arguments.clone();
    call["tool"] = name.into();
    app.model.queue_replies([Completion::of([format!("<tool_call>{call}</tool_call>")]), Completion::of(["好。"])]);
    app.chat(&json!({"message": "发", "agentId": agent})).await.events_of("tool_call").into_iter().cloned().collect()
}

async fn read_executions(app: &TestApp) -> String {
    app.get("/api/admin/executions").await.ok()["executions"].to_string()
}

#[tokio::test]
async fn search_gets_placeholders_users_and_models_the_originals() {
    let log = MemoryLog::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_writer(log.clone()).finish();
    let log_guard = tracing::subscriber::set_default(subscriber);
    let app = TestApp::start_with(&ALL).await;
    let all = all_personal_data();
    app.model.queue_replies([Completion::of([search_call(&all)]), Completion::of([format!("查到了：{all}")])]);
    let turn = app.send_message(&format!("谁是 {all}？")).await;
    drop(log_guard);
    assert_eq!(app.search.queries(), [MASKED]);
    assert_eq!(turn.events_of("tool_call")[0]["arguments"]["query"], all);
    assert_eq!(turn.content(), format!("查到了：{all}"));
    let talk = app.model.wait_for_request(2).await.dialogue();
    assert!(talk[0].1.contains(&all) && talk[1].1.contains(&all), "{talk:?}");
    assert!(app.conversation(&turn.conversation_id()).await.to_string().contains(&all));
    let stored = read_executions(&app).await;
    assert!(stored.contains(MASKED), "{stored}");
    assert_free(&stored, "an execution");
    assert_free(&log.text(), "the log");
}

#[tokio::test]
async fn results_reach_models_masked_where_wanted() {
    for (wanted, expected) in [("yes", MASKED.to_owned()), ("no", all_personal_data())] {
        let app = TestApp::start_with(&[&ALL[..], &[("MASK_RESULTS", wanted)]].concat()).await;
        app.search.respond_with(|_| {
            let page =
                json!({"title": "茶", "url": "https://a.example/", "content": all_personal_data(), "score": 0.9});
            Reply::json(200, &json!({"results": [page]}))
        });
        app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["好 [1]。"])]);
        let turn = app.send_message("谁？").await;
        let result = app.model.wait_for_request(2).await.last_message();
        assert!(result.contains(&format!("内容：{expected}")), "{wanted}: {result}");
        assert_eq!(turn.events_of("tool_result")[0]["sources"][0]["url"], "https://a.example/");
    }
}

#[tokio::test]
async fn answers_are_masked_as_they_stream_where_wanted() {
    let answer = format!("{}查到了：{}\n好的。{} 再见", "汉字".repeat(120), all_personal_data(), all_personal_data());
    let expected = answer.replace(&all_personal_data(), MASKED);
    let app = NativeApp::start_with(&[&ALL[..], &[("MASK_ANSWERS", "yes")]].concat()).await;
    let pieces: Vec<String> = answer.chars().map(String::from).collect();
    app.model.queue_replies([pieces.iter().fold(Completion::new().thinking(&answer), |all, one| all.text(one)).end()]);
    let turn = app.send_message("谁？").await;
    assert_eq!((turn.content(), turn.thinking()), (expected.clone(), expected.clone()));
    assert!(turn.events_of("content").len() > 3, "it streams");
    let stored = app.read_finished_conversation(&turn.conversation_id()).await["messages"][1].clone();
    assert_eq!((&stored["content"], &stored["thinking"]), (&json!(expected), &json!(expected)));
    for (at, _) in answer.char_indices().skip(240) {
        let (before, after) = answer.split_at(at);
        app.model.queue_replies([Completion::of([before, after])]);
        let body = json!({"model": "native", "messages": [{"role": "user", "content": "谁？"}]});
        let whole = app.post("/v1/chat/completions", &body).await.ok();
        assert_eq!(whole["choices"][0]["message"]["content"], expected, "{before}|");
    }
}

#[tokio::test]
async fn direct_results_are_masked_like_answers() {
    let app = TestApp::start_with(&[&ALL[..], &[("MASK_ANSWERS", "yes")]].concat()).await;
    app.search.respond_with(|_| {
        let page = json!({"title": "茶", "url": "https://a.example/", "content": all_personal_data(), "score": 0.9});
        Reply::json(200, &json!({"results": [page]}))
    });
    let agent =
        create(&app, "agents", &json!({"name": "直接", "tools": [{"tool": "search_web", "direct": true}]})).await;
    app.model.queue_replies([Completion::of([search_call("茶")])]);
    let turn = app.chat(&json!({"message": "谁？", "agentId": agent})).await;
    assert!(turn.content().contains(MASKED), "{}", turn.content());
    assert_free(&turn.content(), "the answer");
}

#[tokio::test]
async fn equal_masked_queries_share_one_search() {
    let app = TestApp::start_with(&[("MASK", "phone")]).await;
    for (user, number) in [("ada", "13800138000"), ("bob", "139 0013 9000")] {
        app.model.queue_replies([Completion::of([search_call(&format!("{number} 归属地"))]), Completion::of(["好。"])]);
        app.as_user(user).send_message("归属地").await;
    }
    assert_eq!(app.search.queries(), ["[phone] 归属地"]);
}

#[tokio::test]
async fn without_mask_setting_nothing_is_replaced() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call(&all_personal_data())]), Completion::of(["好。"])]);
    app.send_message("谁？").await;
    assert_eq!(app.search.queries(), [all_personal_data()]);
    assert!(read_executions(&app).await.contains(EMAIL));
}

#[tokio::test]
async fn url_with_personal_data_is_not_read() {
    let app = TestApp::start_with(&ALL).await;
    let url = "https://a.example/find?mail=ada%40example.com";
    let read = json!({"tool": "read_url", "url": url});
    app.model.queue_replies([Completion::of([format!("<tool_call>{read}</tool_call>")]), Completion::of(["好。"])]);
    let turn = app.send_message(&format!("读一下 {url}")).await;
    assert_eq!(turn.events_of("tool_result")[0]["error"]["code"], "invalid_arguments");
    assert_eq!(app.search.requests().len(), 0);
    assert!(app.model.wait_for_request(2).await.last_message().contains("`url` 含有个人信息"));
    assert!(!read_executions(&app).await.contains("example.com"));
}

/// A tool with parameters in its path, its query, a header and its body.
fn sms_tool(host: &FakeEndpoint, more: &Value) -> Value {
    let text = json!({"type": "string", "pattern": "^[0-9 @a-zA-Z.]+$"});
    let mut tool = json!({
        "name": "sms", "description": "Sends.",
        "endpoint": {
            "urlTemplate": format!("{}/to/{{to}}?copy={{copy}}", host.url()), "method": "POST",
            "headers": {"x-note": "note {note}"},
        },
        "parameters": {
            "type": "object", "required": ["to"],
            "properties": {
                "to": text, "copy": text, "note": text, "sender": {"type": "string"}, "text": {"type": "string"},
                "number": {"type": "integer"}, "all": {"type": "array", "items": {"type": "string"}},
            },
        },
    });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tool
}

fn last_request(host: &FakeEndpoint) -> (String, String, Value) {
    let request = host.requests().pop().unwrap();
    (request.path.clone(), request.header("x-note").to_owned(), request.json())
}

fn arguments() -> Value {
    json!({
        "to": PHONE, "copy": EMAIL, "note": CARD, "text": all_personal_data(), "number": 13_800_138_000_u64, "all": [ID, "E12345"],
    })
}

#[tokio::test]
async fn tool_host_gets_placeholders_in_every_request_part() {
    let (app, host) = (TestApp::start_with(&ALL).await, FakeEndpoint::start_permissive().await);
    host.respond_with(|_| Reply::json(200, &json!({"ok": true})));
    let events = run_tool_call(&app, &sms_tool(&host, &json!({})), "sms", &arguments()).await;
    let body = json!({"text": MASKED, "number": "[phone]", "all": ["[id]", "E12345"], "sender": PHONE});
    assert_eq!(last_request(&host), ("/to/%5Bphone%5D?copy=%5Bemail%5D".to_owned(), "note [card]".to_owned(), body));
    assert_eq!(events[0]["arguments"]["text"], all_personal_data(), "the user sees what the model wrote");
    assert_free(&read_executions(&app).await, "an execution");
}

#[tokio::test]
async fn tool_can_opt_out_of_masking() {
    let (app, host) = (TestApp::start_with(&ALL).await, FakeEndpoint::start_permissive().await);
    host.respond_with(|_| Reply::json(200, &json!({"ok": true})));
    run_tool_call(&app, &sms_tool(&host, &json!({"mask": false})), "sms", &arguments()).await;
    let (path, note, body) = last_request(&host);
    assert_eq!(path, "/to/138%200013%208000?copy=ada%40example.com");
    assert_eq!((note.as_str(), &body["text"]), ("note 4111222233334448", &json!(all_personal_data())));
    assert_free(&read_executions(&app).await, "an execution");
    let tools = app.get("/api/admin/tools").await.ok();
    assert_eq!(tools["tools"][0]["mask"], false);
    let wrong = app.post("/api/admin/tools", &sms_tool(&host, &json!({"name": "x", "mask": "no"}))).await;
    assert_eq!(wrong.status, 400);
}

#[tokio::test]
async fn test_call_masks_like_a_turn() {
    let (app, host) = (TestApp::start_with(&ALL).await, FakeEndpoint::start_permissive().await);
    host.respond_with(|_| Reply::json(200, &json!({"ok": true})));
    let id = create(&app, "tools", &sms_tool(&host, &json!({}))).await;
    let report = app.post(&format!("/api/admin/tools/{id}/test"), &json!({"arguments": arguments()})).await.ok();
    assert_free(&report["request"].to_string(), "the trial");
    assert!(last_request(&host).0.starts_with("/to/%5Bphone%5D"));
}

#[tokio::test]
async fn mcp_server_gets_placeholders() {
    let (app, server) = (TestApp::start_with(&ALL).await, FakeMcp::stateless().await);
    let row = |name: &str, mask: bool| json!({"name": name, "description": "Files.", "type": "mcp", "endpoint": {"url": server.url()}, "mask": mask});
    for (name, mask, expected) in [("files", true, MASKED), ("open", false, &all_personal_data())] {
        create(&app, "tools", &row(name, mask)).await;
        let agent = create(&app, "agents", &json!({"name": name, "tools": [{"tool": name}]})).await;
        let call = json!({"tool": format!("{name}_echo"), "text": all_personal_data()});
        app.model.queue_replies([Completion::of([format!("<tool_call>{call}</tool_call>")]), Completion::of(["好。"])]);
        app.chat(&json!({"message": "文件？", "agentId": agent})).await;
        let request = server.requests().pop().unwrap();
        assert_eq!(request.json()["params"]["arguments"]["text"], expected);
    }
    assert_free(&read_executions(&app).await, "an execution");
}

/// The text of a recording, which must replay unchanged.
async fn replay_and_read(folder: &TempDir) -> String {
    let file = list_recordings(folder.path()).remove(0);
    assert_replays_unchanged(&file).await;
    fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn recordings_hold_placeholders_and_still_replay() {
    let folder = TempDir::new().unwrap();
    let record = [("RECORD_TURNS", folder.path().to_str().unwrap())];
    let app = TestApp::start_with(&[&ALL[..], &record].concat()).await;
    let call = search_call(&all_personal_data());
    let (start, rest) = call.split_at(62);
    let pieces = ["电话 138", " 0013", " 8000，邮箱 ada@exa", "mple.com。卡 4111", "2222", "33334448 完"];
    app.model.queue_replies([Completion::of(["查 E123", "456：", start, rest]), Completion::of(pieces)]);
    let turn = app.send_message(&format!("谁是 {}？", all_personal_data())).await;
    assert_eq!(turn.content(), format!("查 E123456：\n\n{}", pieces.concat()), "the user sees the originals");
    let text = replay_and_read(&folder).await;
    assert_free(&text, "the recording");
    for piece in ["138", " 0013", " 8000", "mple.com", "2222", "33334448", "456"] {
        assert!(!text.contains(&format!("\"{piece}")), "{piece}: {text}");
    }
    assert!(text.contains(MASKED) && text.contains("，邮箱 [email]"), "{text}");
}

#[tokio::test]
async fn recordings_of_native_calls_hold_placeholders() {
    let folder = TempDir::new().unwrap();
    let record = [("RECORD_TURNS", folder.path().to_str().unwrap())];
    let app = NativeApp::start_with(&[&ALL[..], &record].concat()).await;
    let more = |text: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]});
    let call = Completion::new()
        .thinking("用户是 ada@")
        .thinking("example.com")
        .call(0, "c1", "search_web", "{\"query\":\"1380")
        .delta(&more("0138"))
        .delta(&more("000 是谁\"}"));
    let call = call.finish("tool_calls").usage(10, 5).done().reply().in_chunks_of(50);
    app.model.queue_replies([call, Completion::of(["138001", "38000 是某人"])]);
    let turn = app.send_message("谁？").await;
    assert_eq!(
        (turn.content().as_str(), app.search.queries()),
        ("13800138000 是某人", vec!["[phone] 是谁".to_owned()])
    );
    let text = replay_and_read(&folder).await;
    assert_free(&text, "the recording");
    assert!(!text.contains("38000") && !text.contains("ada@"), "{text}");
}

#[tokio::test]
async fn stopped_turn_leaves_a_masked_recording() {
    let folder = TempDir::new().unwrap();
    let app = TestApp::start_with(&[ALL[0], ("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
    app.model.queue_replies([Completion::new().text("号码 1380013").text("8000，").reply().stall()]);
    let mut turn = app.open(&json!({"message": "号码"})).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    turn.read_until("content").await;
    app.post(&format!("/api/conversations/{id}/stop"), &json!({})).await;
    turn.read_to_end().await;
    let text = replay_and_read(&folder).await;
    assert!(!text.contains("1380013"), "{text}");
}
