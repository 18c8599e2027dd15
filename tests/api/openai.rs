//! `/v1`: the requests and responses of OpenAI's clients.

use serde_json::{Value, json};
use support::{ApiResponse, Completion, FakeEndpoint, Gate, Reply, TestApp, with_timeout};

use crate::search_call;

/// A request with these messages and fields.
pub(crate) fn completion_request(messages: &Value, more: &Value) -> Value {
    let mut body = json!({ "model": "openai", "messages": messages });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

pub(crate) async fn complete(app: &TestApp, messages: &Value, more: &Value) -> ApiResponse {
    app.post("/v1/chat/completions", &completion_request(messages, more)).await
}

/// The chunks of a complete stream.
pub(crate) fn chunks(answer: &ApiResponse) -> Vec<Value> {
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream; charset=utf-8"));
    let text = answer.text();
    let frames = text.strip_suffix("data: [DONE]\n\n").unwrap().split_terminator("\n\n");
    frames.map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap()).collect()
}

/// The joined deltas of this name.
fn join_deltas(chunks: &[Value], name: &str) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][name].as_str()).collect()
}

pub(crate) fn greeting() -> Value {
    json!([{"role": "user", "content": "你好"}])
}

fn error_fields(answer: &ApiResponse) -> Value {
    let error = answer.json()["error"].clone();
    json!([answer.status, error["type"], error["code"], error["param"]])
}

#[tokio::test]
async fn answer_is_whole_or_chunked_and_not_stored() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::new().thinking("想").text("你好").text("！").end());
    let whole = complete(&app, &greeting(), &json!({})).await.ok();
    let message = json!({
        "role": "assistant", "content": "你好！", "refusal": null, "reasoning_content": "想", "annotations": [],
    });
    let expected = json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}]);
    assert_eq!(
        (&whole["object"], &whole["model"], &whole["choices"]),
        (&json!("chat.completion"), &json!("openai"), &expected)
    );
    assert_eq!(whole["usage"], json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}));
    assert!(whole["id"].as_str().unwrap().starts_with("chatcmpl-") && whole["created"].as_u64() > Some(1_700_000_000));

    let usage = json!({"stream": true, "stream_options": {"include_usage": true}});
    let streamed = chunks(&complete(&app, &greeting(), &usage).await);
    assert_eq!(streamed[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    assert_eq!(
        (join_deltas(&streamed, "content"), join_deltas(&streamed, "reasoning_content")),
        ("你好！".into(), "想".into())
    );
    let [.., finish, last] = streamed.as_slice() else { panic!("too few chunks") };
    assert_eq!((&finish["choices"][0]["finish_reason"], &finish["usage"]), (&json!("stop"), &json!(null)));
    assert_eq!((&last["choices"], &last["usage"]), (&json!([]), &whole["usage"]));
    assert!(streamed.iter().all(|chunk| chunk["id"] == last["id"] && chunk["object"] == "chat.completion.chunk"));
    let silent = chunks(&complete(&app, &greeting(), &json!({"stream": true})).await);
    assert!(silent.iter().all(|chunk| chunk.get("usage").is_none()));

    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
    assert_eq!(app.get("/api/usage?days=1").await.ok()["days"][0]["turns"], 3);
}

#[tokio::test]
async fn model_receives_client_history_prompt_and_sampling() {
    let app = TestApp::start_with(&[("HISTORY_TOKENS", "0"), ("SYSTEM_PROMPT", "Be a pirate.")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "一"},
        {"role": "assistant", "content": "答"},
        {"role": "developer", "content": [{"type": "text", "text": "In rhyme."}]},
        {"role": "user", "content": [{"type": "text", "text": "二"}]},
    ]);
    let sampling = json!({
        "temperature": 0.5, "top_p": 0.25, "max_completion_tokens": 77, "stop": ["END"], "seed": 7,
        "presence_penalty": 1.5, "frequency_penalty": -0.5, "tool_choice": "none",
    });
    complete(&app, &messages, &sampling).await.ok();
    let request = app.model.wait_for_request(1).await;
    assert!(
        request.system_prompt().starts_with("Be brief.\n\nIn rhyme.\n\n")
            && !request.system_prompt().contains("tool_call")
    );
    let talk = [("user", "一"), ("assistant", "答"), ("user", "二")];
    assert_eq!(request.dialogue(), talk.map(|(role, text)| (role.to_owned(), text.to_owned())));
    for (name, value) in [
        ("temperature", json!(0.5)),
        ("top_p", json!(0.25)),
        ("max_tokens", json!(77)),
        ("stop", json!(["END"])),
        ("seed", json!(7)),
        ("presence_penalty", json!(1.5)),
        ("frequency_penalty", json!(-0.5)),
    ] {
        assert_eq!(request.body[name], value, "{name}");
    }
    complete(&app, &greeting(), &json!({})).await.ok();
    let plain = app.model.wait_for_request(2).await;
    assert!(plain.system_prompt().starts_with("Be a pirate.") && plain.body.get("temperature").is_none());
}

#[tokio::test]
async fn rejected_sampling_is_sent_again_next_request() {
    let app = TestApp::start().await;
    let refused = json!({"error": {"message": "invalid temperature: only 1 is allowed for this model"}});
    app.model.queue_replies([Reply::json(400, &refused), Completion::of(["好。"]), Completion::of(["好。"])]);
    for _ in 0..2 {
        complete(&app, &greeting(), &json!({"temperature": 0.5})).await.ok();
    }
    let had_temperature: Vec<_> =
        app.model.requests().iter().map(|request| request.body.get("temperature").is_some()).collect();
    assert_eq!(had_temperature, [true, false, true]);
}

#[tokio::test]
async fn server_tools_run_hidden_and_add_annotations() {
    let app = TestApp::start().await;
    let answer = || Completion::of(["茶是饮料", "[1]。"]);
    app.model.queue_replies([
        Completion::of([search_call("茶")]),
        answer(),
        Completion::of([search_call("茶")]),
        answer(),
    ]);
    let streamed = chunks(&complete(&app, &greeting(), &json!({"stream": true})).await);
    assert_eq!(join_deltas(&streamed, "content"), "茶是饮料[1]。");
    assert!(streamed.iter().all(|chunk| chunk["choices"][0]["delta"].get("tool_calls").is_none()));
    let whole = complete(&app, &greeting(), &json!({})).await.ok();
    let annotations = &whole["choices"][0]["message"]["annotations"];
    assert_eq!(streamed[streamed.len() - 2]["choices"][0]["delta"]["annotations"], *annotations);
    let citation = &annotations[0]["url_citation"];
    assert_eq!(
        (&annotations[0]["type"], &citation["start_index"], &citation["end_index"]),
        (&json!("url_citation"), &json!(4), &json!(7))
    );
    assert!(
        citation["url"].as_str().unwrap().starts_with("https://") && !citation["title"].as_str().unwrap().is_empty()
    );
    assert_eq!(app.get("/api/admin/executions").await.ok()["executions"], json!([]), "nothing is stored");
}

#[tokio::test]
async fn invalid_requests_get_openai_errors() {
    let app = TestApp::start().await;
    let unknown = json!({"model": "gpt-5", "messages": greeting()});
    let not_found = json!([404, "invalid_request_error", "model_not_found", "model"]);
    for (method, path, body, expected) in [
        ("POST", "/v1/chat/completions", unknown, &not_found),
        ("POST", "/v1/chat/completions", json!({"model": "agent:nobody", "messages": greeting()}), &not_found),
        ("GET", "/v1/models/gpt-5", json!({}), &not_found),
        (
            "POST",
            "/v1/chat/completions",
            completion_request(&greeting(), &json!({"n": 2})),
            &json!([400, "invalid_request_error", "invalid_request", "n"]),
        ),
        (
            "POST",
            "/v1/chat/completions",
            completion_request(&json!([{"role": "user", "content": [{"type": "image_url"}]}]), &json!({})),
            &json!([400, "invalid_request_error", "invalid_request", "messages[0].content[0].image_url"]),
        ),
        ("POST", "/v1/embeddings", json!({}), &json!([404, "invalid_request_error", "not_found", null])),
        ("GET", "/v1/chat/completions", json!({}), &json!([405, "invalid_request_error", "method_not_allowed", null])),
    ] {
        let answer = app.send(method, path, &[("content-type", "application/json")], body.to_string()).await;
        assert_eq!(error_fields(&answer), *expected, "{method} {path}");
    }
    let plain = app.send("POST", "/v1/chat/completions", &[], "{}").await;
    assert_eq!(error_fields(&plain), json!([415, "invalid_request_error", "unsupported_media_type", null]));
    assert!(app.model.requests().is_empty());
}

#[tokio::test]
async fn model_failure_is_status_or_error_chunk() {
    let app = TestApp::start().await;
    let denied = || Reply::json(401, &json!({"error": {"message": "no", "code": "invalid_api_key"}}));
    app.model.queue_replies([denied(), denied(), Completion::new().text("你").reply().disconnect()]);
    for stream in [true, false] {
        let answer = complete(&app, &greeting(), &json!({ "stream": stream })).await;
        assert_eq!(error_fields(&answer), json!([502, "server_error", "upstream_auth", null]));
    }
    let broken = chunks(&complete(&app, &greeting(), &json!({"stream": true})).await);
    assert_eq!(join_deltas(&broken, "content"), "你");
    let last = json!({"error": {
        "message": "The connection to the model was lost.", "type": "server_error", "param": null,
        "code": "upstream_disconnected",
    }});
    assert_eq!(broken.last(), Some(&last));
}

#[tokio::test]
async fn rate_limit_returns_retry_after() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/60s")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    complete(&app, &greeting(), &json!({})).await.ok();
    let refused = complete(&app, &greeting(), &json!({"stream": true})).await;
    assert_eq!(error_fields(&refused), json!([429, "rate_limit_error", "rate_limit_exceeded", null]));
    assert!(refused.header("retry-after").parse::<u32>().unwrap() > 0);
}

#[tokio::test]
async fn f096_client_disconnect_cancels_the_turn() {
    let app = TestApp::start().await;
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().text("你").wait(&gate).end()]);
    let http = platform::transport::build_client().unwrap();
    let request = http
        .post(format!("{}/v1/chat/completions", app.base()))
        .json(&completion_request(&greeting(), &json!({"stream": true})));
    let mut answer = with_timeout("an answer", request.send()).await.unwrap();
    with_timeout("first words", answer.chunk()).await.unwrap();
    drop(answer);
    app.model.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn shutdown_ends_a_turn_with_an_error() {
    let mut app = TestApp::start().await;
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().text("你").wait(&gate).end()]);
    let body = completion_request(&greeting(), &json!({"stream": true}));
    let url = format!("{}/v1/chat/completions", app.client().base());
    let request = platform::transport::build_client().unwrap().post(url).json(&body);
    // The response begins with the first delta: before it a shutdown is a status.
    let response = with_timeout("the first delta", request.send()).await.unwrap();
    gate.wait_until_reached().await;
    app.shut_down().await;
    let text = with_timeout("the end of the stream", response.text()).await.unwrap();
    let last = text.strip_suffix("\n\ndata: [DONE]\n\n").unwrap().rsplit("data: ").next().unwrap();
    assert_eq!(serde_json::from_str::<Value>(last).unwrap()["error"]["code"], "interrupted");
}

#[tokio::test]
async fn models_and_agents_are_listed_and_usable() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let pirate = json!({"name": "pirate", "systemPrompt": "Be a pirate.", "tools": []});
    let created = app.post("/api/admin/agents", &pirate).await.json();
    let name = format!("agent:{}", created["id"].as_str().unwrap());
    let listed = app.get("/v1/models").await.ok();
    let model = |id: &str, by: &str| json!({"id": id, "object": "model", "created": 0, "owned_by": by});
    let agent = model(&name, "lambda-chat");
    let data = json!([model("openai", "openai-compatible"), model("agent:default", "lambda-chat"), agent]);
    assert_eq!(listed, json!({"object": "list", "data": data}));
    assert_eq!(app.get(&format!("/v1/models/{name}")).await.ok(), agent);
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]);
    let whole = complete(&app, &messages, &json!({ "model": name })).await.ok();
    assert_eq!(whole["model"], name);
    assert!(app.model.wait_for_request(1).await.system_prompt().starts_with("Be a pirate.\n\nBe brief.\n\n"));
}

#[tokio::test]
async fn response_format_is_forwarded_over_responses() {
    let endpoint = FakeEndpoint::start().await;
    let row = json!([{"name": "r", "wire": "responses", "baseUrl": endpoint.url(), "model": "m"}]).to_string();
    let app = TestApp::start_with(&[("MODELS", &row)]).await;
    endpoint.queue_replies([FakeEndpoint::events([
        json!({"type": "response.output_text.delta", "delta": "{}"}),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ])]);
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}});
    let more = json!({"model": "r", "response_format": format, "tool_choice": "none"});
    let answer = complete(&app, &greeting(), &more).await.ok();
    assert_eq!(answer["choices"][0]["message"]["content"], "{}");
    let flat = json!({"type": "json_schema", "name": "a", "schema": {"type": "object"}});
    assert_eq!(endpoint.requests()[0].json()["text"]["format"], flat);
}
