//! `/mcp`: the product as a server of the Model Context Protocol.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeTavily, Gate, Reply, TestApp, with_timeout};

use crate::documents::DocumentApp;
use crate::mcp::McpApp;
use crate::search_call;

const NEWEST: &str = "2026-07-28";

const META: &str = "io.modelcontextprotocol/";

const JSON: (&str, &str) = ("content-type", "application/json");

/// A request of the newest revision, with the headers that repeat it.
fn request(method: &str, mut params: Value) -> (Value, Vec<(&'static str, String)>) {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    params["_meta"][format!("{META}protocolVersion")] = NEWEST.into();
    params["_meta"][format!("{META}clientCapabilities")] = json!({});
    let headers = vec![
        ("content-type", JSON.1.to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", NEWEST.to_owned()),
        ("mcp-method", method.to_owned()),
        ("mcp-name", name),
    ];
    (json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}), headers)
}

pub(crate) async fn send(client: &Client, method: &str, params: Value) -> ApiResponse {
    let (body, headers) = request(method, params);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    client.send("POST", "/mcp", &headers, body.to_string()).await
}

/// The result of a call.
pub(crate) async fn call(client: &Client, name: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": name });
    params["arguments"] = arguments;
    let response = send(client, "tools/call", params).await.ok();
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!(7)));
    response["result"].clone()
}

/// Sends a message of an earlier revision.
async fn send_earlier(client: &Client, message: &Value) -> ApiResponse {
    client.send("POST", "/mcp", &[JSON, ("mcp-protocol-version", "2025-11-25")], message.to_string()).await
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

pub(crate) async fn tool_names(client: &Client) -> Vec<String> {
    let list = send(client, "tools/list", json!({})).await.ok()["result"]["tools"].clone();
    list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn both_revisions_describe_the_server() {
    let app = TestApp::start().await;
    let found = send(&app, "server/discover", json!({})).await.ok()["result"].clone();
    assert_eq!(found["supportedVersions"], json!([NEWEST, "2025-11-25", "2025-06-18"]));
    assert_eq!(
        (&found["capabilities"], &found["resultType"], &found["cacheScope"]),
        (&json!({"tools": {}}), &json!("complete"), &json!("private"))
    );
    let info = &found["_meta"][format!("{META}serverInfo")];
    assert_eq!(info["name"], "lambda-chat");
    let open = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let opened = app.send("POST", "/mcp", &[JSON], open.to_string()).await;
    assert_eq!(opened.header("mcp-session-id"), "");
    let opened = opened.ok();
    assert_eq!(
        (&opened["id"], &opened["result"]["protocolVersion"], &opened["result"]["serverInfo"]),
        (&json!("a"), &json!("2025-11-25"), info)
    );
    let done = send_earlier(&app, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!((done.status, done.body.len()), (202, 0));
    let ping = send_earlier(&app, &json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await.ok();
    assert_eq!(ping, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    let list = send_earlier(&app, &json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).await.ok();
    assert_eq!(list["result"]["tools"], send(&app, "tools/list", json!({})).await.ok()["result"]["tools"]);
}

#[tokio::test]
async fn configured_tools_are_listed_with_schemas() {
    let plain = TestApp::start().await;
    assert_eq!(tool_names(&plain).await, ["ask", "search_web", "read_url"]);
    let with_articles = TestApp::start_with(&[("ARTICLES", "yes")]).await;
    assert_eq!(tool_names(&with_articles).await, ["ask", "search_web", "read_url", "search_articles"]);
    let documents = DocumentApp::start().await;
    let names = ["ask", "search_web", "read_url", "grep_search", "glob_search", "read_file"];
    assert_eq!(tool_names(&documents).await, names);
    let list = send(&documents, "tools/list", json!({})).await.ok()["result"].clone();
    for tool in list["tools"].as_array().unwrap() {
        assert_eq!((&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]), (&json!("object"), &json!("object")));
        assert!(!tool["description"].as_str().unwrap().is_empty() && tool["annotations"]["readOnlyHint"] == true);
    }
    let found = call(&documents, "grep_search", json!({"pattern": "违约金"})).await;
    assert!(text(&found).contains("contracts/lease.md"), "{found}");
    assert!(documents.model.requests().is_empty() && documents.app.model.requests().is_empty());
}

#[tokio::test]
async fn question_is_answered_with_sources_and_not_stored() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["茶是饮料 [1]。"])]);
    let result = call(&app, "ask", json!({"question": "茶？"})).await;
    assert_eq!((text(&result), &result["isError"]), ("茶是饮料 [1]。", &json!(false)));
    let structured = &result["structuredContent"];
    assert_eq!(structured["text"], "茶是饮料 [1]。");
    let source = &structured["sources"][0];
    assert_eq!((&source["index"], &source["url"]), (&json!(1), &json!("https://example.com/1")));
    assert!(source["title"].as_str().unwrap().contains('茶'));
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
    assert_eq!(app.get("/api/usage?days=1").await.ok()["days"][0]["turns"], 1);

    let pirate = json!({"name": "pirate", "systemPrompt": "Be a pirate.", "tools": []});
    let id = app.post("/api/admin/agents", &pirate).await.json()["id"].clone();
    app.model.queue_replies([Completion::of(["Arr."])]);
    let result = call(&app, "ask", json!({"question": "hi", "agent": id})).await;
    assert_eq!((text(&result), &result["structuredContent"]["sources"]), ("Arr.", &json!([])));
    assert!(app.model.requests()[2].system_prompt().starts_with("Be a pirate."));
}

#[tokio::test]
async fn own_calls_need_no_model() {
    let app = TestApp::start().await;
    let found = call(&app, "search_web", json!({"query": "茶"})).await;
    assert!(text(&found).contains("https://example.com/2"), "{found}");
    assert_eq!(found["structuredContent"]["sources"].as_array().unwrap().len(), 2);
    let page = call(&app, "read_url", json!({"url": "https://example.com/tea"})).await;
    assert!(text(&page).contains("https://example.com/tea 的正文。"), "{page}");
    assert_eq!(page["structuredContent"]["sources"][0]["url"], "https://example.com/tea");
    let with_quote = json!({"url": "https://example.com/Schindler's_List"});
    assert_eq!(call(&app, "read_url", with_quote).await["isError"], false, "an address is not cut as in a text");
    assert!(app.model.requests().is_empty());
    let usage = app.get("/api/usage?days=1").await.ok()["days"][0].clone();
    assert_eq!((&usage["searchCredits"], &usage["turns"]), (&json!(4), &json!(3)));
}

#[tokio::test]
async fn failures_inside_calls_are_error_results() {
    let app = TestApp::start().await;
    app.model.queue_replies([Reply::json(401, &json!({"error": {"message": "no", "code": "invalid_api_key"}}))]);
    app.search.respond_with(|_| FakeTavily::error_reply(400, "upstream words"));
    for (name, arguments) in [
        ("ask", json!({"question": "hi"})),
        ("ask", json!({"question": " "})),
        ("ask", json!({})),
        ("ask", json!({"question": "hi", "agent": "nobody"})),
        ("ask", json!({"question": "hi", "model": "openai"})),
        ("search_web", json!({"query": "a"})),
        ("search_web", json!({"query": []})),
        ("search_web", json!({})),
        ("read_url", json!({"url": "file:///etc/passwd"})),
    ] {
        let result = call(&app, name, arguments.clone()).await;
        assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None), "{name} {arguments}");
        assert!(!text(&result).is_empty() && !text(&result).contains("upstream words"), "{result}");
    }
    assert_eq!(app.search.requests().len(), 1);
}

#[tokio::test]
async fn progress_is_streamed_before_the_result() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["好。"])]);
    let arguments = json!({"question": "茶？"});
    let params = json!({"name": "ask", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let response = send(&app, "tools/call", params).await;
    assert_eq!(
        (response.status, response.header("content-type"), response.header("x-accel-buffering")),
        (200, "text/event-stream; charset=utf-8", "no")
    );
    let body = response.text();
    let frames = body.split_terminator("\n\n").map(|frame| frame.strip_prefix("data: ").unwrap());
    let messages: Vec<Value> = frames.map(|frame| serde_json::from_str(frame).unwrap()).collect();
    let [reports @ .., last] = messages.as_slice() else { panic!("no message") };
    assert_eq!((&last["id"], text(&last["result"])), (&json!(7), "好。"));
    assert!(reports.len() >= 2, "{body}");
    for (index, report) in reports.iter().enumerate() {
        assert_eq!(report["method"], "notifications/progress");
        assert_eq!(
            (&report["params"]["progressToken"], &report["params"]["progress"]),
            (&json!("p"), &json!(index + 1))
        );
    }
    assert_eq!(reports[0]["params"]["message"], "search_web");
}

#[tokio::test]
async fn closed_stream_cancels_the_call() {
    let app = TestApp::start().await;
    let gate = Gate::new();
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::new().text("你").wait(&gate).end()]);
    let arguments = json!({"question": "hi"});
    let params = json!({"name": "ask", "arguments": arguments, "_meta": {"progressToken": 1}});
    let (body, headers) = request("tools/call", params);
    let url = format!("{}/mcp", app.base());
    let request = platform::transport::build_client().unwrap().post(url).body(body.to_string());
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
    let mut response = with_timeout("a response", request.send()).await.unwrap();
    with_timeout("a report", response.chunk()).await.unwrap();
    gate.wait_until_reached().await;
    drop(response);
    app.model.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn messages_with_faults_get_protocol_errors() {
    let app = TestApp::start().await;
    let question = json!({"name": "ask", "arguments": {"question": "hi"}});
    for (method, params, expected) in [
        ("ping", json!({}), (404, -32601)),
        ("resources/list", json!({}), (404, -32601)),
        ("tools/call", json!({"name": "calculator"}), (200, -32602)),
        ("tools/call", json!({"name": "ask", "arguments": [1]}), (200, -32602)),
    ] {
        let response = send(&app, method, params).await;
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (expected.0, Some(expected.1)));
        assert_eq!(response.json()["id"], 7);
    }
    let (call, headers) = request("tools/call", question);
    for (name, value, expected) in [
        ("mcp-name", "search_web", -32020),
        ("mcp-name", "", -32020),
        ("mcp-method", "tools/list", -32020),
        ("mcp-protocol-version", "2025-11-25", -32020),
        ("mcp-name", "=?base64?YXNr?=", 0),
    ] {
        app.model.respond_with(|_| Completion::of(["好。"]));
        let changed = |(known, before): &(&'static str, String)| {
            if *known == name { (*known, value.to_owned()) } else { (*known, before.clone()) }
        };
        let headers: Vec<_> = headers.iter().map(changed).collect();
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = app.send("POST", "/mcp", &headers, call.to_string()).await;
        let status = if expected == 0 { 200 } else { 400 };
        let code = response.json()["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!((response.status, code), (status, expected), "{name} {value}");
    }
    let unsupported = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let version = [JSON, ("mcp-protocol-version", "2031-01-01")];
    let error = app.send("POST", "/mcp", &version, unsupported).await.json()["error"].clone();
    assert_eq!((&error["code"], &error["data"]["requested"]), (&json!(-32022), &json!("2031-01-01")));
    assert_eq!(error["data"]["supported"][0], NEWEST);
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#;
    for body in ["[]", "{", "7", batch, twice, r#"{"id":1,"method":"ping"}"#] {
        let response = app.send("POST", "/mcp", &[JSON], body).await;
        let code = response.json()["error"]["code"].as_i64();
        assert!(response.status == 400 && matches!(code, Some(-32700 | -32600)), "{body}");
    }
    let plain = app.send("POST", "/mcp", &[("content-type", "text/plain")], "{}").await;
    assert_eq!((plain.status, &plain.json()["error"]["data"]["code"]), (415, &json!("unsupported_media_type")));
    for method in ["GET", "DELETE"] {
        assert_eq!(app.send(method, "/mcp", &[], "").await.status, 405);
    }
}

#[tokio::test]
async fn own_client_uses_the_server() {
    let server = TestApp::start().await;
    let app = McpApp::start_with(&format!("{}/mcp", server.base())).await;
    server.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["茶是饮料 [1]。"])]);
    let message = app.run_text_call(&json!({"tool": "files_ask", "question": "茶？"})).await;
    assert!(message.contains("茶是饮料 [1]。"), "{message}");
    let message = app.run_text_call(&json!({"tool": "files_search_web", "query": "绿茶"})).await;
    assert!(message.contains("https://example.com/2"), "{message}");
    assert_eq!(server.search.queries(), ["茶", "绿茶"]);
}
