use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::{Completion, FakeTavily, Reply, with_timeout};
use tokio::net::UdpSocket;

use crate::instance::{Instance, only};

fn is_metric(line: &str) -> bool {
    line.contains("\"_aws\"")
}

/// The lines of metrics, once there are so many.
async fn metrics(instance: &Instance, count: usize) -> Vec<Value> {
    let lines = instance.function.wait_for_lines(count, is_metric).await;
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_turn_writes_its_metrics_before_its_body_ends() {
    let instance = Instance::start().await;
    let events = instance.searched().await;
    let lines = metrics(&instance, 2).await;
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
async fn f064_f141_how_the_search_credits_stand_is_told_when_a_search_is_about_to_be_made() {
    let instance = Instance::with(&[("TAVILY_MONTHLY_CREDITS", "4")]).await;
    let searched = async |query: &str| {
        let call = format!(r#"<tool_call>{{"tool": "search_web", "query": "{query}"}}</tool_call>"#);
        instance.model.queue_replies([Completion::of([call]), Completion::of(["好。"])]);
        instance.ask("查").await.expect_streamed().rest().await;
    };
    instance.search.respond_with(FakeTavily::search_reply);
    searched("一").await;
    instance.search.respond_with(|_| FakeTavily::error_reply(432, "used up"));
    searched("二").await;
    searched("三").await;
    let of_credits = |line: &str| line.contains("\"SearchCreditsSpent\"") || line.contains("\"SearchesRefused\"");
    let lines = instance.function.wait_for_lines(5, |line| is_metric(line) && of_credits(line)).await;
    let told = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        json!([line["SearchCreditsSpent"], line["SearchesRefused"], line["By"]])
    };
    let (spent, refused) = (|percent: u64| json!([percent, null, null]), json!([null, 1, "plan"]));
    let expected = [spent(0), spent(50), refused.clone(), spent(50), refused];
    assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn what_the_start_has_to_say_of_the_settings_is_in_the_log() {
    let models = json!([{"name": "mine", "baseUrl": "http://127.0.0.1:1", "model": "m", "onlyFor": "ada"}]).to_string();
    let instance = Instance::with(&[("OPENAI_MODEL", ""), ("MODELS", &models)]).await;
    let lines = instance.function.wait_for_lines(1, |line| line.contains("onlyFor")).await;
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    let note = "each model has \"onlyFor\": there is no default, and other callers have no model";
    assert_eq!((&line["level"], &line["message"]), (&json!("WARN"), &json!(note)));
}

#[tokio::test]
async fn a_refused_request_is_counted_under_its_code() {
    let instance = Instance::with(&[("CHAT_RATE_LIMIT", "1/600s")]).await;
    instance.model.queue_replies([Completion::of(["好。"])]);
    instance.ask("一").await.expect_streamed().rest().await;
    let mut refused = instance.ask("二").await.expect_streamed();
    let prelude = refused.prelude().await;
    assert_eq!(prelude.status, 429);
    let lines = metrics(&instance, 2).await;
    assert_eq!((&lines[1]["Code"], &lines[1]["RefusedRequests"]), (&json!("rate_limited"), &json!(1)));
    assert_eq!(lines[1]["requestId"], prelude.header("x-request-id"));
}

#[tokio::test]
async fn readers_who_come_to_a_turn_that_is_there_are_counted() {
    let instance = Instance::start().await;
    instance.model.queue_replies([Completion::of(["好。"])]);
    let event = HttpEvent::post("/api/chat", &json!({ "message": "一" })).header("idempotency-key", "k");
    instance.call(&event).await.expect_streamed().rest().await;
    instance.call(&event).await.expect_streamed().rest().await;
    let lines = metrics(&instance, 2).await;
    assert_eq!((&lines[1]["ResumedReaders"], &lines[1]["turnId"]), (&json!(1), &lines[0]["turnId"]));
}

#[tokio::test]
async fn a_traced_turn_is_a_span_with_one_for_each_model_and_each_tool() {
    let daemon = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = daemon.local_addr().unwrap().to_string();
    let instance = Instance::with(&[("AWS_XRAY_DAEMON_ADDRESS", &address)]).await;
    instance.model.queue_replies([
        Completion::of([r#"<tool_call>{"tool": "search_web", "query": "canary"}</tool_call>"#]),
        Completion::of(["canary"]),
    ]);
    instance.ask("canary").await.expect_streamed().rest().await;
    let mut spans = Vec::new();
    for _ in 0..4 {
        let mut datagram = vec![0; 65_536];
        let length = with_timeout("a span", daemon.recv(&mut datagram)).await.unwrap();
        let text = String::from_utf8(datagram[..length].to_vec()).unwrap();
        assert!(!text.contains("canary"), "{text}");
        let document = text.strip_prefix("{\"format\": \"json\", \"version\": 1}\n").unwrap();
        spans.push(serde_json::from_str::<Value>(document).unwrap());
    }
    let told = |span: &Value| (span["name"].clone(), span["parent_id"].clone(), span["fault"].clone());
    let turn = spans[0]["id"].clone();
    let of_turn = |name: &str| (json!(name), turn.clone(), json!(false));
    let expected = [
        (json!("turn"), json!("0000000000000001"), json!(false)),
        of_turn("model openai"),
        of_turn("model openai"),
        of_turn("tool search_web"),
    ];
    assert_eq!(spans.iter().map(told).collect::<Vec<_>>(), expected);
    let ended = |span: &Value| span["start_time"].as_f64().unwrap() <= span["end_time"].as_f64().unwrap();
    assert!(spans.iter().all(|span| span["trace_id"] == "1-00000000-000000000000000000000000" && ended(span)));
}

/// Words that must not stand in a log, with what would forge a line of it.
const CANARY: &str = "canary\n{\"level\":\"ERROR\",\"message\":\"canary\"}\u{1b}[31m";

#[tokio::test]
async fn f123_f124_no_words_and_no_keys_stand_in_any_line_and_every_line_is_an_object() {
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
    instance.ask(CANARY).await.expect_streamed().rest().await;
    instance.model.respond_with(|_| Reply::json(400, &json!({"error": {"code": "bad", "message": CANARY}})));
    instance.ask(CANARY).await.expect_streamed().rest().await;
    instance.model.respond_with(|_| Completion::new().text(CANARY).reply().disconnect());
    instance.ask(CANARY).await.expect_streamed().rest().await;
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
            !["canary", "\u{1b}", support::MODEL_KEY, support::SEARCH_KEY].iter().any(|word| line.contains(word)),
            "{line}"
        );
    }
}
