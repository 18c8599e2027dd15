use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::{Completion, FakeEndpoint, FakeTavily, Gate, Reply};

use crate::instance::{Instance, only};

fn is_metric(line: &str) -> bool {
    line.contains("\"_aws\"")
}

/// Waits for `count` lines of metrics and parses them.
async fn wait_for_metrics(instance: &Instance, count: usize) -> Vec<Value> {
    let lines = instance.function.wait_for_lines(count, is_metric).await;
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn metrics_are_written_before_the_body_ends() {
    let instance = Instance::start().await;
    let events = instance.run_search_turn().await;
    let lines = wait_for_metrics(&instance, 2).await;
    let (turn, tool) = (&lines[0], &lines[1]);
    let counted = ["Turns", "FailedTurns", "Rounds", "ModelCalls", "SearchCredits"].map(|name| turn[name].clone());
    assert_eq!(counted, [json!(1), json!(0), json!(2), json!(2), json!(2)]);
    assert_eq!(turn["conversationId"], only(&events, "start")["conversationId"]);
    assert_eq!((&turn["FunctionName"], &turn["end"]), (&json!("chat"), &json!("answered")));
    assert!(turn["FirstToken"].is_u64());
    assert_eq!((&tool["Tool"], &tool["Outcome"], &tool["ToolCalls"]), (&json!("search_web"), &json!("ok"), &json!(1)));
    assert_eq!(tool["turnId"], turn["turnId"]);
    instance.function.thaw();
}

#[tokio::test]
async fn f064_f141_search_credits_are_counted_before_each_search() {
    let instance = Instance::start_with(&[("TAVILY_MONTHLY_CREDITS", "4")]).await;
    let search_for = async |query: &str| {
        let call = format!(r#"<tool_call>{{"tool": "search_web", "query": "{query}"}}</tool_call>"#);
        instance.model.queue_replies([Completion::of([call]), Completion::of(["好。"])]);
        instance.send_message("查").await.expect_streamed().rest().await;
    };
    instance.search.respond_with(FakeTavily::search_reply);
    search_for("一").await;
    instance.search.respond_with(|_| FakeTavily::error_reply(432, "used up"));
    search_for("二").await;
    search_for("三").await;
    let of_credits = |line: &str| line.contains("\"SearchCreditsSpent\"") || line.contains("\"SearchesRefused\"");
    let lines = instance.function.wait_for_lines(5, |line| is_metric(line) && of_credits(line)).await;
    let row = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        json!([line["SearchCreditsSpent"], line["SearchesRefused"], line["By"]])
    };
    let (spent, rejected) = (|percent: u64| json!([percent, null, null]), json!([null, 1, "plan"]));
    let expected = [spent(0), spent(50), rejected.clone(), spent(50), rejected];
    assert_eq!(lines.iter().map(row).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn notes_on_settings_are_logged_at_start() {
    let models = json!([{"name": "mine", "baseUrl": "http://127.0.0.1:1", "model": "m", "onlyFor": "ada"}]).to_string();
    let instance = Instance::start_with(&[("OPENAI_MODEL", ""), ("MODELS", &models)]).await;
    let lines = instance.function.wait_for_lines(1, |line| line.contains("onlyFor")).await;
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    let note = "each model is for one caller alone (\"onlyFor\"): there is no default, and other callers have no model";
    assert_eq!((&line["level"], &line["message"]), (&json!("WARN"), &json!(note)));
}

#[tokio::test]
async fn rejected_request_is_counted_by_code() {
    let instance = Instance::start_with(&[("CHAT_RATE_LIMIT", "1/600s")]).await;
    instance.model.queue_replies([Completion::of(["好。"])]);
    instance.send_message("一").await.expect_streamed().rest().await;
    let mut rejected = instance.send_message("二").await.expect_streamed();
    let prelude = rejected.prelude().await;
    assert_eq!(prelude.status, 429);
    let lines = wait_for_metrics(&instance, 2).await;
    assert_eq!((&lines[1]["Code"], &lines[1]["RefusedRequests"]), (&json!("rate_limited"), &json!(1)));
    assert_eq!(lines[1]["requestId"], prelude.header("x-request-id"));
}

#[tokio::test]
async fn clients_that_resume_a_turn_are_counted() {
    let instance = Instance::start().await;
    instance.model.queue_replies([Completion::of(["好。"])]);
    let event = HttpEvent::post("/api/chat", &json!({ "message": "一" })).header("idempotency-key", "k");
    instance.call(&event).await.expect_streamed().rest().await;
    instance.call(&event).await.expect_streamed().rest().await;
    let lines = wait_for_metrics(&instance, 2).await;
    assert_eq!((&lines[1]["ResumedReaders"], &lines[1]["turnId"]), (&json!(1), &lines[0]["turnId"]));
}

const COLLECTOR: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

#[tokio::test]
async fn spans_leave_after_the_last_byte() {
    let (collector, gate) = (FakeEndpoint::start().await, Gate::new());
    collector.queue_replies([Reply::json(200, &json!({})).wait_before_head(&gate)]);
    let instance = Instance::start_with(&[(COLLECTOR, &collector.url())]).await;
    instance.model.queue_replies([
        Completion::of([r#"<tool_call>{"tool": "search_web", "query": "canary"}</tool_call>"#]),
        Completion::of(["canary"]),
    ]);
    let mut answer = instance.send_message("canary").await.expect_streamed();
    assert!(answer.rest().await.ends_with("data: [DONE]\n\n"));
    assert!(collector.requests().is_empty(), "the body has not ended for the function");
    drop(answer);
    gate.wait_until_reached().await;
    assert_eq!(instance.api.next_request_count(), 1, "the instance is not frozen while it sends");
    gate.open();
    instance.api.wait_for_next_requests(2).await;
    let request = collector.requests().pop().unwrap();
    let spans = request.json()["resourceSpans"][0]["scopeSpans"][0]["spans"].take();
    let names: Vec<_> = spans.as_array().unwrap().iter().map(|span| span["name"].as_str().unwrap()).collect();
    let chat = format!("chat {}", support::MODEL);
    assert_eq!(names, ["invoke_agent default", &chat, &chat, "execute_tool search_web", "retrieval web"]);
    assert_eq!(spans[0]["parentSpanId"], "", "the invocation is not its parent");
    assert!(!spans.to_string().contains("canary"), "{spans}");
}

#[tokio::test]
async fn invocation_ends_although_the_collector_hangs() {
    let collector = FakeEndpoint::start().await;
    collector.respond_with(|_| Reply::no_response());
    let instance = Instance::start_with(&[(COLLECTOR, &collector.url())]).await;
    instance.model.respond_with(|_| Completion::of(["好。"]));
    for turn in [1, 2, 3] {
        let mut answer = instance.send_message("一").await.expect_streamed();
        assert!(answer.rest().await.ends_with("data: [DONE]\n\n"));
        drop(answer);
        instance.api.wait_for_next_requests(turn + 1).await;
    }
    assert_eq!(collector.requests().len(), 1, "a collector that fails has a pause");
    let lost = instance.function.wait_for_lines(1, |line| line.contains("could not be sent")).await;
    assert!(lost.len() == 1 && lost[0].contains(r#""reason":"no answer in time","lost":0"#), "{lost:?}");
}

/// Text that must not be in a log, with an attempt to forge a line.
const CANARY: &str = "canary\n{\"level\":\"ERROR\",\"message\":\"canary\"}\u{1b}[31m";

#[tokio::test]
async fn f123_f124_log_lines_are_objects_without_user_text() {
    let instance = Instance::start().await;
    instance.search.queue_replies([
        FakeTavily::search_reply_with("canary", &json!([]), &json!(CANARY)),
        FakeTavily::error_reply(500, CANARY),
    ]);
    let call = |query: &str| {
        Completion::of([format!(r#"<tool_call>{{"tool": "search_web", "query": "{query}"}}</tool_call>"#)])
    };
    let made_up = Completion::of([r#"<tool_call>{"tool": "canary", "a": 1}</tool_call>"#]);
    instance.model.queue_replies([call("canary one"), call("canary two"), made_up, Completion::of([CANARY])]);
    instance.send_message(CANARY).await.expect_streamed().rest().await;
    instance.model.respond_with(|_| Reply::json(400, &json!({"error": {"code": "bad", "message": CANARY}})));
    instance.send_message(CANARY).await.expect_streamed().rest().await;
    instance.model.respond_with(|_| Completion::new().text(CANARY).reply().disconnect());
    instance.send_message(CANARY).await.expect_streamed().rest().await;
    let failed = instance.function.wait_for_lines(2, |line| line.contains("a call of the model failed")).await;
    let turns = instance.function.wait_for_lines(3, |line| line.contains("\"TurnTime\"")).await;
    let ids = |line: &String, at: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let of = if at.is_empty() { line } else { line[at].clone() };
        ["requestId", "conversationId", "turnId"].map(|name| of[name].as_str().unwrap().to_owned())
    };
    assert_eq!(ids(&failed[0], "span"), ids(&turns[1], ""), "the lines of a turn carry its ids");
    for line in instance.function.log() {
        assert!(serde_json::from_str::<Value>(&line).is_ok_and(|line| line.is_object()), "{line}");
        assert!(
            !["canary", "\u{1b}", support::MODEL_KEY, support::SEARCH_KEY].iter().any(|secret| line.contains(secret)),
            "{line}"
        );
    }
}
