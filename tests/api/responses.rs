//! `/v1/responses`: OpenAI's newer API over stored conversations.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, NativeApp, Reply, TestApp};

use crate::search_call;

fn request(input: &Value, more: &Value) -> Value {
    let mut body = json!({ "model": "openai", "input": input });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

pub(crate) async fn respond(client: &Client, input: &Value, more: &Value) -> ApiResponse {
    client.post("/v1/responses", &request(input, more)).await
}

/// The events of a complete stream, whose numbers and names are checked.
pub(crate) fn events(answer: &ApiResponse, first: usize) -> Vec<Value> {
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream; charset=utf-8"));
    let text = answer.text();
    let frames = text.strip_suffix("data: [DONE]\n\n").unwrap().split_terminator("\n\n");
    let frames = frames.enumerate().map(|(index, frame)| {
        let (name, data) = frame.split_once('\n').unwrap();
        let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(event["type"], name.strip_prefix("event: ").unwrap());
        assert_eq!(event["sequence_number"], first + index);
        event
    });
    frames.collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    types.dedup();
    types.into_iter().map(|kind| kind.strip_prefix("response.").unwrap()).collect()
}

pub(crate) fn joined(events: &[Value], kind: &str) -> String {
    let of_kind = events.iter().filter(|event| event["type"] == format!("response.{kind}.delta"));
    of_kind.filter_map(|event| event["delta"].as_str()).collect()
}

pub(crate) fn output_text(response: &Value) -> &str {
    let message = response["output"].as_array().unwrap().iter().rev().find(|item| item["type"] == "message");
    message.unwrap()["content"][0]["text"].as_str().unwrap()
}

/// A response without the time of its end: it is stored before the last byte leaves, maybe in the second before.
pub(crate) fn without_end(mut response: Value) -> Value {
    assert!(response["completed_at"].take().as_i64() >= response["created_at"].as_i64());
    response
}

pub(crate) fn id(response: &Value) -> &str {
    response["id"].as_str().unwrap()
}

pub(crate) fn error_fields(answer: &ApiResponse) -> Value {
    let error = answer.json()["error"].clone();
    json!([answer.status, error["type"], error["code"], error["param"]])
}

fn weather_tool() -> Value {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    json!({ "type": "function", "name": "get-weather", "parameters": parameters })
}

/// A reply that calls the client's tool.
fn call_reply(id: &str) -> Reply {
    let call = Completion::new().call(0, id, "get-weather", r#"{"city":"北京"}"#);
    call.finish("tool_calls").usage(10, 5).done().reply()
}

#[tokio::test]
async fn search_turn_streams_numbered_events() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::new().thinking("想一想再说").text("查。").text(&search_call("天气")).end(),
        Completion::of(["今天北京的天气是晴", "[1]。"]),
    ]);
    let answer = respond(&app, &json!("天气？"), &json!({ "stream": true, "metadata": { "a": "b" } })).await;
    let events = events(&answer, 0);
    let message = [
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
    ];
    let mut expected = vec![
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ];
    expected.extend(message);
    expected.extend(["output_item.added", "web_search_call.in_progress", "web_search_call.searching"]);
    expected.extend(["web_search_call.completed", "output_item.done"]);
    expected.extend(&message[..3]);
    expected.push("output_text.annotation.added");
    expected.extend(&message[3..]);
    expected.push("completed");
    assert_eq!(types(&events), expected);
    assert_eq!(joined(&events, "output_text").trim_start_matches("查。").trim(), "今天北京的天气是晴[1]。");
    assert_eq!(joined(&events, "reasoning_summary_text"), "想一想再说");
    let response = &events.last().unwrap()["response"];
    assert_eq!((&response["status"], &response["metadata"]), (&json!("completed"), &json!({ "a": "b" })));
    let kinds: Vec<_> = response["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["reasoning", "message", "web_search_call", "message"]);
    assert_eq!(response["output"][2]["action"], json!({ "type": "search", "query": "天气" }));
    let annotation = &response["output"][3]["content"][0]["annotations"][0];
    let text: Vec<char> = output_text(response).chars().collect();
    let span = |name: &str| usize::try_from(annotation[name].as_u64().unwrap()).unwrap();
    let mark: String = text[span("start_index")..span("end_index")].iter().collect();
    assert_eq!((mark.as_str(), &annotation["type"]), ("[1]", &json!("url_citation")));
    assert_eq!(response["usage"]["total_tokens"], 30);
    for event in &events {
        if let Some(item) = event.get("item") {
            let index = usize::try_from(event["output_index"].as_u64().unwrap()).unwrap();
            assert_eq!(item["id"], response["output"][index]["id"]);
        }
    }
}

#[tokio::test]
async fn every_field_of_a_response_is_present() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let response = respond(&app, &json!([{ "role": "user", "content": "说" }]), &json!({ "store": false })).await.ok();
    // Source: <https://github.com/openresponses/openresponses>, public/openapi/openapi.json, ResponseResource (2026-11-27).
    for name in [
        "id",
        "object",
        "created_at",
        "completed_at",
        "status",
        "incomplete_details",
        "model",
        "previous_response_id",
        "instructions",
        "output",
        "error",
        "tools",
        "tool_choice",
        "truncation",
        "parallel_tool_calls",
        "text",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "temperature",
        "reasoning",
        "usage",
        "max_output_tokens",
        "max_tool_calls",
        "store",
        "background",
        "service_tier",
        "metadata",
        "safety_identifier",
        "prompt_cache_key",
    ] {
        assert!(response.get(name).is_some(), "{name}");
    }
    assert_eq!((&response["store"], &response["text"]), (&json!(false), &json!({ "format": { "type": "text" } })));
    assert_eq!(app.get(&format!("/v1/responses/{}", id(&response))).await.status, 404);
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
}

#[tokio::test]
async fn previous_response_continues_its_branch() {
    let app = TestApp::start().await;
    app.model.respond_with(|request| Completion::of([format!("答{}", request.dialogue().len())]));
    let first = respond(&app, &json!("一"), &json!({})).await.ok();
    for input in ["二", "三"] {
        let next = respond(&app, &json!(input), &json!({ "previous_response_id": id(&first) })).await.ok();
        assert_eq!((output_text(&next), &next["previous_response_id"]), ("答3", &first["id"]));
    }
    let talk: Vec<String> = app.model.wait_for_request(3).await.dialogue().into_iter().map(|(_, text)| text).collect();
    assert_eq!(talk, ["一", "答1", "三"]);
    let reference = json!([
        { "role": "user", "content": "始" },
        { "type": "item_reference", "id": first["output"][0]["id"] },
        { "type": "reasoning", "summary": [] },
        { "role": "user", "content": [{ "type": "input_text", "text": "末" }] },
    ]);
    respond(&app, &reference, &json!({ "store": false })).await.ok();
    let talk: Vec<String> = app.model.wait_for_request(4).await.dialogue().into_iter().map(|(_, text)| text).collect();
    assert_eq!(talk, ["始", "答1", "末"]);
}

#[tokio::test]
async fn function_results_reach_the_model() {
    let app = NativeApp::start().await;
    let more = json!({ "model": "native", "tools": [weather_tool()] });
    app.model.queue_replies([call_reply("call_1"), Completion::of(["晴。"])]);
    let first = respond(&app, &json!("北京天气？"), &more).await.ok();
    let call = &first["output"][0];
    assert_eq!(
        (&call["type"], &call["name"], &call["arguments"]),
        (&json!("function_call"), &json!("get-weather"), &json!(r#"{"city":"北京"}"#))
    );
    assert_eq!(without_end(app.get(&format!("/v1/responses/{}", id(&first))).await.ok()), without_end(first.clone()));
    let output = json!([{ "type": "function_call_output", "call_id": call["call_id"], "output": "18°C" }]);
    let follow = |input: Value, previous: &Value| {
        let mut more = more.clone();
        more["previous_response_id"] = previous["id"].clone();
        request(&input, &more)
    };
    let second = app.post("/v1/responses", &follow(output.clone(), &first)).await.ok();
    assert_eq!(output_text(&second), "晴。");
    let roles = |messages: Vec<Value>| messages.iter().map(|one| one["role"].clone()).collect::<Vec<_>>();
    let messages = app.last_messages();
    assert_eq!(roles(messages.clone()), ["user", "assistant", "tool"]);
    assert_eq!((&messages[2]["content"], &messages[1]["tool_calls"][0]["id"]), (&json!("18°C"), &call["call_id"]));
    let mut unstored = follow(output.clone(), &first);
    unstored["store"] = false.into();
    app.model.queue_replies([Completion::of(["也晴。"]), Completion::of(["再见。"])]);
    assert_eq!(output_text(&app.post("/v1/responses", &unstored).await.ok()), "也晴。");
    assert_eq!(app.last_messages(), messages);
    let third = app.post("/v1/responses", &follow(json!("谢谢"), &second)).await.ok();
    assert_eq!(output_text(&third), "再见。");
    assert_eq!(roles(app.last_messages()), ["user", "assistant", "tool", "assistant", "user"]);
    for input in [json!("没有结果"), json!([{ "type": "function_call_output", "call_id": "x", "output": "1" }])] {
        let wrong = app.post("/v1/responses", &follow(input, &first)).await;
        assert_eq!(error_fields(&wrong), json!([400, "invalid_request_error", "invalid_request", "input"]));
    }
    // Without the results the calls are left out of what the page continues.
    app.model.queue_replies([call_reply("call_1"), Completion::of(["好。"])]);
    let other = respond(&app, &json!("上海？"), &more).await.ok();
    let conversation = &id(&other)[5..31];
    app.chat(&json!({ "message": "算了", "conversationId": conversation, "model": "native" })).await;
    let last = app.last_messages();
    assert_eq!((last.len(), &last[0]["content"]), (1, &json!("上海？\n\n算了")));
}

#[tokio::test]
async fn client_history_is_stored_with_its_message() {
    let app = NativeApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let more = json!({ "model": "native", "tools": [weather_tool(), { "type": "local_shell" }] });
    let input = json!([
        { "role": "developer", "content": "短。" },
        { "role": "user", "content": "天气？" },
        { "type": "function_call", "call_id": "c1", "name": "get-weather", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": [{ "type": "input_text", "text": "晴" }] },
    ]);
    let first = respond(&app, &input, &more).await.ok();
    let roles = || app.last_messages().iter().map(|one| one["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(roles(), ["user", "assistant", "tool"]);
    let mut next = more.clone();
    next["previous_response_id"] = first["id"].clone();
    respond(&app, &json!("明天呢？"), &next).await.ok();
    assert_eq!(roles(), ["user", "assistant", "tool", "assistant", "user"]);
    let shown = app.conversation(&id(&first)[5..31]).await;
    let texts: Vec<_> = shown["messages"].as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    assert_eq!(texts, ["天气？", "好。", "明天呢？", "好。"]);
}

#[tokio::test]
async fn failed_response_has_openai_error() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Reply::json(400, &json!({ "error": { "code": "context_length_exceeded" } })));
    let answer = respond(&app, &json!("长"), &json!({ "stream": true })).await;
    let events = events(&answer, 0);
    assert_eq!(types(&events), ["created", "in_progress", "failed"]);
    let response = &events[2]["response"];
    assert_eq!(
        (&response["status"], &response["error"]["code"]),
        (&json!("failed"), &json!("context_length_exceeded"))
    );
    assert_eq!(app.get(&format!("/v1/responses/{}", id(response))).await.ok()["status"], "failed");
    assert_eq!(respond(&app, &json!("长"), &json!({})).await.status, 400);
}

#[tokio::test]
async fn invalid_requests_are_rejected_by_field() {
    let app = TestApp::start().await;
    let unknown = "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let user_part = |part: Value| json!([{ "role": "user", "content": [part] }]);
    for (input, more, param) in [
        (json!(""), json!({}), "input"),
        (json!(3), json!({}), "input"),
        (json!([{ "role": "robot", "content": "x" }]), json!({}), "input[0].role"),
        (user_part(json!({ "type": "input_image" })), json!({}), "input[0].content[0].image_url"),
        (user_part(json!({ "type": "input_image", "file_id": "f" })), json!({}), "input[0].content[0].file_id"),
        (user_part(json!({ "type": "input_file", "file_data": "JVBE" })), json!({}), "input[0].content[0].file_data"),
        (user_part(json!({ "type": "input_file", "file_url": "ftp:x" })), json!({}), "input[0].content[0].file_url"),
        (user_part(json!({ "type": "input_audio" })), json!({}), "input[0].content[0].type"),
        (json!([{ "role": "user", "content": 3 }]), json!({}), "input[0].content"),
        (json!([{ "type": "item_reference", "id": "msg_1" }]), json!({}), "input[0].id"),
        (json!([{ "role": "assistant", "content": "x" }]), json!({}), "input"),
        (json!("x"), json!({ "store": false, "background": true }), "store"),
        (json!("x"), json!({ "conversation": "c" }), "conversation"),
        (json!("x"), json!({ "reasoning": { "effort": "extreme" } }), "reasoning.effort"),
        (json!("x"), json!({ "text": { "format": { "type": "xml" } } }), "text.format"),
        (json!("x"), json!({ "tools": [{ "type": "function", "name": "a b" }] }), "tools[0].name"),
        (json!("x"), json!({ "tool_choice": { "type": "function" } }), "tool_choice"),
        (json!("x"), json!({ "text": 5 }), "text"),
        (json!("x"), json!({ "reasoning": "high" }), "reasoning"),
        (json!("x"), json!({ "metadata": 5 }), "metadata"),
        (json!("x"), json!({ "truncation": "left" }), "truncation"),
        (json!("x"), json!({ "max_tool_calls": "3" }), "max_tool_calls"),
        (json!("x"), json!({ "user": 1 }), "user"),
    ] {
        let answer = respond(&app, &input, &more).await;
        assert_eq!(error_fields(&answer), json!([400, "invalid_request_error", "invalid_request", param]));
    }
    assert_eq!(respond(&app, &json!("x"), &json!({ "no_such_field": 1 })).await.status, 400);
    let reference = |number: usize| {
        let ids = &unknown["resp_".len()..];
        json!({ "type": "item_reference", "id": format!("msg_{}{:02}_0", &ids[..ids.len() - 2], number % 100) })
    };
    let same: Vec<Value> = (0..300).map(|_| reference(1)).collect();
    assert_eq!(error_fields(&respond(&app, &json!(same), &json!({})).await)[3], "input", "it is read once");
    for previous in [unknown, "resp_1"] {
        let answer = respond(&app, &json!("x"), &json!({ "previous_response_id": previous })).await;
        let expected = json!([400, "invalid_request_error", "previous_response_not_found", "previous_response_id"]);
        assert_eq!(error_fields(&answer), expected);
    }
    app.model.queue_replies([Completion::of(["好。"])]);
    let first = respond(&app, &json!("说"), &json!({})).await.ok();
    for input in
        [json!([]), json!([{ "role": "user", "content": " " }]), json!([{ "role": "assistant", "content": "x" }])]
    {
        let answer = respond(&app, &input, &json!({ "previous_response_id": id(&first) })).await;
        assert_eq!(error_fields(&answer)[3], "input", "{input}");
    }
    for path in [format!("/v1/responses/{unknown}"), "/v1/responses/x".to_owned()] {
        assert_eq!((app.get(&path).await.status, app.delete(&path).await.status), (404, 404));
    }
    assert_eq!(app.model.requests().len(), 1);
}
