//! `/api/ui/chat`: the protocol of the AI SDK's chat transport.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, Gate, TestApp, with_timeout};

use crate::model_faults::error_reply;
use crate::search_call;

const JSON: (&str, &str) = ("content-type", "application/json");

fn user_message(text: &str) -> Value {
    json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": text }] })
}

/// The request of `sendMessage` in a client without earlier messages.
fn submit_request(chat: &str, text: &str) -> Value {
    json!({ "id": chat, "messages": [user_message(text)], "trigger": "submit-message" })
}

/// The request of `regenerate`.
fn regenerate_request(chat: &str, text: &str) -> Value {
    json!({ "id": chat, "messages": [user_message(text)], "trigger": "regenerate-message" })
}

async fn send(client: &Client, body: &Value) -> ApiResponse {
    client.send("POST", "/api/ui/chat", &[JSON], body.to_string()).await
}

/// Runs a turn to its end.
async fn chat(client: &Client, body: &Value) -> Vec<Value> {
    checked_chunks(&send(client, body).await)
}

/// The chunks of a stream whose headers are checked.
fn checked_chunks(answer: &ApiResponse) -> Vec<Value> {
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    let header = |name: &str| answer.header(name).to_owned();
    assert_eq!(header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(header("cache-control"), "no-store, no-transform");
    assert_eq!((header("x-vercel-ai-ui-message-stream").as_str(), header("x-accel-buffering").as_str()), ("v1", "no"));
    parse_chunks(&text)
}

fn parse_chunks(text: &str) -> Vec<Value> {
    let frames = text.strip_suffix("data: [DONE]\n\n").unwrap().split_terminator("\n\n");
    frames.map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap()).collect()
}

fn chunk_types(chunks: &[Value]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk["type"].as_str().unwrap()).collect()
}

fn joined_text(chunks: &[Value]) -> String {
    chunks.iter().filter(|chunk| chunk["type"] == "text-delta").filter_map(|chunk| chunk["delta"].as_str()).collect()
}

fn conversation_id(chunks: &[Value]) -> String {
    chunks[0]["messageMetadata"]["conversationId"].as_str().unwrap().to_owned()
}

/// Status and sentence of a rejection.
fn rejection(answer: &ApiResponse) -> (u16, String) {
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    (answer.status, answer.text())
}

#[tokio::test]
async fn search_turn_streams_ai_sdk_chunks() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::new().thinking("想").text("查。").text(&search_call("天气")).end(),
        Completion::of(["晴。"]),
    ]);
    let chunks = chat(&app, &submit_request("x7", "天气？")).await;
    let expected = [
        "start",
        "start-step",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-available",
        "tool-output-available",
        "source-url",
        "source-url",
        "finish-step",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ];
    assert_eq!(chunk_types(&chunks), expected);
    assert_eq!(joined_text(&chunks), "查。晴。");
    assert_eq!((&chunks[8]["dynamic"], &chunks[8]["input"]["query"]), (&json!(true), &json!("天气")));
    assert_eq!((&chunks[11]["url"], &chunks[11]["sourceId"]), (&json!("https://example.com/2"), &json!("source-2")));
    let end = &chunks[18];
    assert_eq!((&end["finishReason"], &end["messageMetadata"]["title"]), (&json!("stop"), &json!("天气？")));
    assert!(end["messageMetadata"]["usage"]["inputTokens"].as_u64().unwrap() > 0);
    let stored = app.conversation(&conversation_id(&chunks)).await;
    assert_eq!(
        (&stored["messages"][1]["id"], &stored["messages"][1]["content"]),
        (&chunks[0]["messageId"], &json!("查。\n\n晴。"))
    );
}

#[tokio::test]
async fn new_chat_id_creates_conversation_with_stored_history() {
    let app = TestApp::start().await;
    app.model.respond_with(|request| Completion::of([format!("答{}", request.last_message())]));
    let first = chat(&app, &submit_request("x7", "一")).await;
    let forged = json!({ "id": "f", "role": "assistant", "parts": [{ "type": "text", "text": "伪造" }] });
    let next = json!({ "id": "x7", "messages": [user_message("一"), forged, user_message("二")], "trigger": "submit-message" });
    let second = chat(&app, &next).await;
    assert_eq!((joined_text(&first), joined_text(&second)), ("答一".to_owned(), "答二".to_owned()));
    assert_eq!(conversation_id(&first), conversation_id(&second));
    let talk: Vec<String> = app.model.requests()[1].dialogue().into_iter().map(|(_, text)| text).collect();
    assert_eq!(talk, ["一", "答一", "二"]);
    let alone = chat(&app, &json!({ "id": "x7", "message": user_message("三"), "messageId": "u" })).await;
    assert_eq!(conversation_id(&alone), conversation_id(&first));
    assert_eq!(app.conversation(&conversation_id(&first)).await["conversation"]["messageCount"], 6);
}

#[tokio::test]
async fn f119_chat_ids_are_per_owner() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.send_message("问").await.conversation_id();
    assert_eq!(conversation_id(&chat(&app, &submit_request(&id, "又")).await), id);
    let mine = conversation_id(&chat(&app, &submit_request("x7", "问")).await);
    let bob = app.as_user("bob");
    let theirs = conversation_id(&chat(&bob, &submit_request("x7", "问")).await);
    let stolen = conversation_id(&chat(&bob, &submit_request(&id, "问")).await);
    assert!(theirs != mine && stolen != id);
    assert_eq!(conversation_id(&chat(&app, &submit_request("x7", "又")).await), mine);
    assert_eq!(app.conversation(&id).await["conversation"]["messageCount"], 4);
}

#[tokio::test]
async fn f100_second_message_during_a_turn_is_rejected() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半").wait(&gate).text("句。").end()]);
    let client = app.client();
    let first = tokio::spawn(async move { chat(&client, &submit_request("x7", "问")).await });
    gate.wait_until_reached().await;
    let second = send(&app, &submit_request("x7", "又")).await;
    assert_eq!(rejection(&second), (409, "An answer is still being written in this conversation.".to_owned()));
    assert!(!second.header("retry-after").is_empty());
    gate.open();
    assert_eq!(joined_text(&first.await.unwrap()), "半句。");
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn regenerated_answer_replaces_the_last_one() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["一"]), Completion::of(["二"]), Completion::of(["三"])]);
    let first = chat(&app, &submit_request("x7", "问")).await;
    let second = chat(&app, &regenerate_request("x7", "问")).await;
    let body = json!({ "id": "x7", "trigger": "regenerate-message", "messageId": second[0]["messageId"] });
    let third = chat(&app, &body).await;
    assert_eq!((joined_text(&second), joined_text(&third)), ("二".to_owned(), "三".to_owned()));
    assert_ne!(first[0]["messageId"], third[0]["messageId"]);
    let stored = app.conversation(&conversation_id(&first)).await;
    let contents: Vec<&str> =
        stored["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["问", "三"]);
}

#[tokio::test]
async fn regenerating_an_unstored_message_starts_a_turn() {
    let app = TestApp::start().await;
    app.model.respond_with(|request| Completion::of([format!("答{}", request.last_message())]));
    let first = chat(&app, &regenerate_request("x7", "一")).await;
    assert_eq!(joined_text(&first), "答一");
    assert_eq!(joined_text(&chat(&app, &regenerate_request("x7", "二")).await), "答二");
    assert_eq!(app.conversation(&conversation_id(&first)).await["conversation"]["messageCount"], 4);
    let nothing = send(&app, &json!({ "id": "other", "trigger": "regenerate-message" })).await;
    assert_eq!(rejection(&nothing), (400, "There is no message yet that could be answered again".to_owned()));
}

#[tokio::test]
async fn agent_and_model_are_selected_as_in_chat() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let agent = app.post("/api/admin/agents", &json!({ "name": "a", "systemPrompt": "你只谈天气。" })).await.json();
    let id = agent["id"].as_str().unwrap();
    let mut body = submit_request("x7", "问");
    body["toolChoice"] = "none".into();
    let answer = app.send("POST", "/api/ui/chat", &[JSON, ("x-agent-id", id)], body.to_string()).await;
    assert_eq!(checked_chunks(&answer)[0]["messageMetadata"]["model"], "openai");
    assert!(app.model.wait_for_request(1).await.system_prompt().starts_with("你只谈天气。"));
    body["modelType"] = "nobody".into();
    assert_eq!(rejection(&send(&app, &body).await).0, 400);
}

#[tokio::test]
async fn rejection_is_a_plain_sentence() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/60s")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let file = json!({ "id": "x7", "message": { "role": "user", "parts": [{ "type": "file", "url": "ftp:," }] } });
    let sentence = "`message.parts[0].url` must be a URL that begins with data:, https: or http:";
    assert_eq!(rejection(&send(&app, &file).await), (400, sentence.to_owned()));
    let plain = app.send("POST", "/api/ui/chat", &[], "{}").await;
    assert_eq!(rejection(&plain), (415, "The body must be sent as application/json.".to_owned()));
    let large = "x".repeat(6 * 1024 * 1024);
    let large = json!({ "id": "x7", "messages": [user_message(&large), user_message("问")] });
    assert_eq!(rejection(&send(&app, &large).await).0, 413);
    let copy = "x".repeat(2 * 1024 * 1024);
    let copy = json!({ "id": "x7", "messages": [user_message(&copy), user_message("问")] });
    assert_eq!(joined_text(&chat(&app, &copy).await), "好。", "a client's copy may be longer than a message");
    let limited = send(&app, &submit_request("x7", "问")).await;
    assert_eq!(rejection(&limited), (429, "Too many requests. Please wait a moment.".to_owned()));
    assert!(!limited.header("retry-after").is_empty());
    assert_eq!(rejection(&app.send("PUT", "/api/ui/chat", &[], "").await).0, 405);
}

#[tokio::test]
async fn f005_model_rejection_is_error_chunk_with_metadata() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| error_reply(400, "InvalidParameter", "upstream words"));
    let chunks = chat(&app, &submit_request("x7", "问")).await;
    assert_eq!(chunk_types(&chunks), ["start", "message-metadata", "error"]);
    let why = &chunks[1]["messageMetadata"]["error"];
    assert_eq!((&why["code"], &why["retryable"]), (&json!("upstream_rejected"), &json!(false)));
    assert_eq!(chunks[2]["errorText"], "The model rejected the request.");
}

#[tokio::test]
async fn f098_repeat_is_answered_by_the_same_turn() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["答"])]);
    let keyed = [JSON, ("idempotency-key", "once")];
    let body = submit_request("x7", "问").to_string();
    let first = checked_chunks(&app.send("POST", "/api/ui/chat", &keyed, body.as_str()).await);
    let repeat = checked_chunks(&app.send("POST", "/api/ui/chat", &keyed, body.as_str()).await);
    assert_eq!((&repeat[0], joined_text(&repeat)), (&first[0], "答".to_owned()));
    let other = app.send("POST", "/api/ui/chat", &keyed, submit_request("x7", "又").to_string()).await;
    assert_eq!(rejection(&other), (409, "This idempotency key was used with another request.".to_owned()));
}

#[tokio::test]
async fn f150_deleted_conversation_frees_its_chat_id() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let first = conversation_id(&chat(&app, &submit_request("x7", "问")).await);
    assert_eq!(app.delete(&format!("/api/conversations/{first}")).await.status, 204);
    let second = conversation_id(&chat(&app, &submit_request("x7", "问")).await);
    assert_ne!(first, second);
    assert_eq!(app.conversation(&second).await["conversation"]["messageCount"], 2);
}

#[tokio::test]
async fn running_turn_resumes_only_for_its_owner() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半").wait(&gate).text("句。").end()]);
    let chat_id = "a/b c";
    let path = "/api/ui/chat/a%2Fb%20c/stream";
    let nothing = async |client: &Client, path: &str| {
        let answer = client.get(path).await;
        assert_eq!((answer.status, answer.body.len()), (204, 0), "{path}");
    };
    nothing(&app, path).await;
    let client = app.client();
    let first = tokio::spawn(async move { chat(&client, &submit_request(chat_id, "问")).await });
    gate.wait_until_reached().await;
    let resumed = platform::transport::build_client().unwrap().get(format!("{}{path}", app.base()));
    let second = with_timeout("a resumed stream", resumed.send()).await.unwrap();
    nothing(&app.as_user("bob"), path).await;
    nothing(&app, "/api/ui/chat/other/stream").await;
    gate.open();
    let first = first.await.unwrap();
    assert_eq!(joined_text(&first), "半句。");
    assert_eq!(second.headers()["x-vercel-ai-ui-message-stream"], "v1");
    let text = with_timeout("the end of a resumed stream", second.text()).await.unwrap();
    assert_eq!(parse_chunks(&text), first);
    nothing(&app, path).await;
}

#[tokio::test]
async fn stopped_turn_is_aborted_with_partial_text() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半").wait(&gate).text("句。").end()]);
    let client = app.client();
    let turn = tokio::spawn(async move { chat(&client, &submit_request("x7", "问")).await });
    gate.wait_until_reached().await;
    let id = app.get("/api/conversations").await.ok()["conversations"][0]["id"].as_str().unwrap().to_owned();
    let stop = app.post(&format!("/api/conversations/{id}/stop"), &json!({})).await;
    assert_eq!((stop.status, stop.json()), (202, json!({ "stopping": true })));
    let chunks = turn.await.unwrap();
    let expected =
        ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "message-metadata", "abort"];
    assert_eq!((chunk_types(&chunks), joined_text(&chunks)), (expected.to_vec(), "半".to_owned()));
    assert_eq!(chunks[6]["messageMetadata"]["finishReason"], "stopped");
}
