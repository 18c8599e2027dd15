//! Traces of turns, as a collector receives them: OTLP in JSON over HTTP.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeEndpoint, Gate, MODEL, Reply, TestApp};

use crate::responses::{output_text, respond};
use crate::search_call;
use crate::secrets::MemoryLog;
use crate::usage::PRICE;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: (&str, &str) = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20canary-key,x-team=chat");
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER_SPAN: &str = "00f067aa0ba902b7";

/// A collector that gives every request the same reply.
struct Collector {
    endpoint: FakeEndpoint,
    requested: Gate,
}

impl Collector {
    async fn start(reply: Reply) -> Self {
        let (endpoint, requested) = (FakeEndpoint::start().await, Gate::new());
        requested.open_permanently();
        let reply = reply.wait_before_head(&requested);
        endpoint.respond_with(move |_| reply.clone());
        Self { endpoint, requested }
    }

    async fn start_accepting() -> Self {
        Self::start(Reply::json(200, &json!({}))).await
    }

    /// The spans of the next request.
    async fn next_spans(&self) -> Vec<Value> {
        self.requested.wait_until_reached().await;
        let request = self.endpoint.requests().pop().unwrap();
        assert_eq!((request.path.as_str(), request.header("content-type")), ("/v1/traces", "application/json"));
        let resource = &request.json()["resourceSpans"][0];
        assert_eq!(attribute(&resource["resource"], "service.name"), "lambda-chat");
        resource["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    }
}

/// The value of an attribute; `null` if there is none.
fn attribute(item: &Value, key: &str) -> Value {
    let attributes = item["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|one| one["key"] == key);
    found.map_or(Value::Null, |one| one["value"].as_object().unwrap().values().next().unwrap().clone())
}

/// An integer attribute, which OTLP writes as text.
fn integer(span: &Value, key: &str) -> u64 {
    attribute(span, key).as_str().unwrap().parse().unwrap()
}

/// The name of each span, and that of its parent.
fn tree(spans: &[Value]) -> Vec<(&str, &str)> {
    let name = |id: &Value| spans.iter().find(|span| span["spanId"] == *id).map_or("", |span| text(&span["name"]));
    spans.iter().map(|span| (text(&span["name"]), name(&span["parentSpanId"]))).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Runs a turn of a caller that traces its own requests.
async fn run_traced(client: &Client, message: &str, flags: &str) -> ApiResponse {
    let parent = format!("00-{TRACE}-{CALLER_SPAN}-{flags}");
    let headers = [("content-type", "application/json"), ("traceparent", parent.as_str())];
    client.send("POST", "/api/chat", &headers, json!({ "message": message }).to_string()).await
}

#[tokio::test]
async fn f122_turn_is_a_tree_of_spans_without_text() {
    let collector = Collector::start_accepting().await;
    let app = TestApp::start_with(&[(ENDPOINT, &collector.endpoint.url()), HEADERS, PRICE]).await;
    let counted = Completion::new().text("canary").finish("stop").usage(1001, 200).done().reply();
    app.model.queue_replies([Completion::of([search_call("canary")]), counted]);
    assert_eq!(run_traced(&app.as_user("ada"), "canary", "01").await.status, 200);
    let spans = collector.next_spans().await;
    let (chat, turn) = (format!("chat {MODEL}"), "invoke_agent default");
    let expected = [
        (turn, ""),
        (chat.as_str(), turn),
        (chat.as_str(), turn),
        ("execute_tool search_web", turn),
        ("retrieval web", "execute_tool search_web"),
    ];
    assert_eq!(tree(&spans), expected);
    assert_eq!(spans.iter().map(|span| span["kind"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 3, 3, 1, 3]);
    let time = |span: &Value, key: &str| text(&span[key]).parse::<u64>().unwrap();
    let ended = |span: &Value| time(span, "startTimeUnixNano") <= time(span, "endTimeUnixNano");
    assert!(spans.iter().all(|span| span["traceId"] == TRACE && ended(span) && span["status"] == json!({})));
    assert_eq!(spans[0]["parentSpanId"], CALLER_SPAN);
    assert_eq!(attribute(&spans[0], "user.id"), "5ace7890cf57eeda111fd1d4345339bc");
    assert_eq!(attribute(&spans[0], "session.id"), attribute(&spans[0], "gen_ai.conversation.id"));
    let usage = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "lambda_chat.cost_micros"];
    assert_eq!(usage.map(|key| integer(&spans[2], key)), [1001, 200, 12_008]);
    let costs = [0, 1, 2].map(|index| integer(&spans[index], "lambda_chat.cost_micros"));
    assert_eq!(costs[0], costs[1] + costs[2]);
    let request = collector.endpoint.requests().pop().unwrap();
    assert_eq!((request.header("authorization"), request.header("x-team")), ("Basic canary-key", "chat"));
    let body = String::from_utf8(request.body).unwrap();
    // An id in hexadecimal may contain the name's letters.
    assert!(!body.contains("canary") && !body.contains("\"ada\""), "{body}");
}

#[tokio::test]
async fn failures_are_on_their_spans() {
    let collector = Collector::start_accepting().await;
    let url = collector.endpoint.url() + "/v1/traces";
    let app = TestApp::start_with(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &url)]).await;
    let made_up = Completion::of([r#"<tool_call>{"tool": "canary", "a": 1}</tool_call>"#]);
    app.model.queue_replies([made_up, Reply::json(400, &json!({"error": {"code": "canary"}}))]);
    app.send_message("canary").await;
    let spans = collector.next_spans().await;
    let errors: Vec<_> = spans.iter().map(|span| (text(&span["name"]), attribute(span, "error.type"))).collect();
    let chat = format!("chat {MODEL}");
    let expected = [
        ("invoke_agent default", json!("upstream_rejected")),
        (&chat, json!(null)),
        (&chat, json!("rejected")),
        ("execute_tool unknown", json!("unknown_tool")),
    ];
    assert_eq!(errors, expected);
    assert!(spans.iter().all(|span| (span["status"] == json!({"code": 2})) != attribute(span, "error.type").is_null()));
    assert!(spans.iter().all(|span| span["traceId"] == spans[0]["traceId"]));
    assert_eq!(spans[0]["parentSpanId"], "", "without a caller's trace it is a trace of its own");
}

#[tokio::test]
async fn unsampled_traces_of_callers_are_not_sent() {
    let collector = Collector::start_accepting().await;
    let app = TestApp::start_with(&[(ENDPOINT, &collector.endpoint.url())]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    assert_eq!(run_traced(&app, "一", "00").await.status, 200);
    let completion = json!({ "model": "openai", "messages": [{ "role": "user", "content": "二" }] });
    app.post("/v1/chat/completions", &completion).await.ok();
    let spans = collector.next_spans().await;
    assert_eq!(tree(&spans).len(), 2);
    assert_ne!(spans[0]["traceId"], TRACE);
    assert_eq!(attribute(&spans[0], "gen_ai.conversation.id"), json!(null), "a stateless turn has no conversation");
    assert_eq!(collector.endpoint.requests().len(), 1);
}

#[tokio::test]
async fn text_is_captured_only_with_its_setting() {
    let collector = Collector::start_accepting().await;
    let capture = [(ENDPOINT, &*collector.endpoint.url()), ("OTEL_CAPTURE_CONTENT", "yes"), ("MASK", "email")];
    let app = TestApp::start_with(&capture).await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["茶是一种饮料。"])]);
    let kept = app.send_message("ann@example.com 问：茶是什么？").await;
    let spans = collector.next_spans().await;
    let messages = |key: &str| serde_json::from_str::<Value>(text(&attribute(&spans[0], key))).unwrap();
    let message = |role: &str, text: &str| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
    assert_eq!(messages("gen_ai.output.messages"), message("assistant", "茶是一种饮料。"));
    let question = messages("gen_ai.input.messages")[0]["parts"][0]["content"].clone();
    assert!(text(&question).ends_with("问：茶是什么？") && !text(&question).contains("ann@"), "{question}");
    let arguments = attribute(spans.last().unwrap(), "gen_ai.retrieval.query.text");
    assert_eq!(arguments, "茶");

    app.model.queue_replies([Completion::of(["canary"])]);
    let temporary = app.chat(&json!({ "message": "canary", "temporary": true })).await;
    let spans = collector.next_spans().await;
    assert!(!Value::from(spans).to_string().contains("canary"), "a temporary conversation leaves no text");

    for (turn, has_text) in [(kept, true), (temporary, false)] {
        app.model.queue_replies([Completion::of(["canary"])]);
        let previous = format!("resp_{}{}", turn.conversation_id(), turn.message_id());
        let options = json!({ "store": false, "previous_response_id": previous });
        assert_eq!(output_text(&respond(&app, &json!("又"), &options).await.ok()), "canary");
        let spans = Value::from(collector.next_spans().await).to_string();
        assert_eq!(spans.contains("canary"), has_text, "an unstored response after {turn:?}");
    }
}

#[tokio::test]
async fn turns_end_while_the_collector_hangs() {
    let collector = FakeEndpoint::start().await;
    collector.respond_with(|_| Reply::no_response());
    let app = TestApp::start_with(&[(ENDPOINT, &collector.url())]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    for message in ["一", "二", "三"] {
        assert_eq!(app.send_message(message).await.finish_reason(), "stop");
    }
}

/// What is logged while a collector gives two turns this reply.
async fn log_of_reply(reply: Reply) -> (Collector, String) {
    let log = MemoryLog::default();
    let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(log.clone()).finish();
    // The runtime has one thread, so this subscriber receives all logs of the product.
    let guard = tracing::subscriber::set_default(lines);
    let collector = Collector::start(reply).await;
    let mut app = TestApp::start_with(&[(ENDPOINT, &collector.endpoint.url()), HEADERS]).await;
    app.model.respond_with(|_| Completion::of(["canary"]));
    app.send_message("canary").await;
    collector.requested.wait_until_reached().await;
    app.send_message("canary").await;
    app.shut_down().await;
    drop(guard);
    (collector, log.text())
}

#[tokio::test]
async fn f122_partial_success_is_logged_without_text() {
    let rejected = json!({ "partialSuccess": { "rejectedSpans": "2", "errorMessage": "canary" } });
    let (_, log) = log_of_reply(Reply::json(200, &rejected)).await;
    assert!(log.contains("the collector rejected spans of turns") && log.contains("rejected=2"), "{log}");
    assert!(!log.contains("canary"), "{log}");
}

#[tokio::test]
async fn f122_lost_spans_are_logged_once_without_secrets() {
    let (collector, log) = log_of_reply(Reply::json(400, &json!({"code": 3, "message": "canary"}))).await;
    let lost: Vec<_> = log.lines().filter(|line| line.contains("the spans of turns could not be sent")).collect();
    assert_eq!(lost.len(), 1, "{log}");
    assert!(lost[0].contains("WARN") && lost[0].contains(r#"reason="status 400" lost=1"#), "{}", lost[0]);
    assert!(!log.contains("canary"), "{log}");
    assert_eq!(collector.endpoint.requests().len(), 1, "a collector that fails has a pause");
}
