use serde_json::{Value, json};
use support::Completion;

use crate::instance::{Instance, events, only};

fn is_metric(line: &str) -> bool {
    line.contains("\"_aws\"")
}

/// The lines of metrics, once there are so many.
async fn metrics(instance: &Instance, count: usize) -> Vec<Value> {
    let lines = instance.function.lines(count, is_metric).await;
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_turn_writes_its_metrics_before_its_body_ends() {
    let instance = Instance::start().await;
    instance.model.replies([
        Completion::of([r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#]),
        Completion::of(["茶是一种饮料。"]),
    ]);
    let mut answer = instance.ask("茶是什么？").await.streamed();
    answer.prelude().await;
    let events = events(&answer.rest().await);
    instance.function.freeze();
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
async fn a_refused_request_is_counted_under_its_code() {
    let instance = Instance::with(&[("CHAT_RATE_LIMIT", "1/600s")]).await;
    instance.model.replies([Completion::of(["好。"])]);
    instance.ask("一").await.streamed().rest().await;
    let mut refused = instance.ask("二").await.streamed();
    let prelude = refused.prelude().await;
    assert_eq!(prelude.status, 429);
    let lines = metrics(&instance, 2).await;
    assert_eq!((&lines[1]["Code"], &lines[1]["RefusedRequests"]), (&json!("rate_limited"), &json!(1)));
    assert_eq!(lines[1]["requestId"], prelude.header("x-request-id"));
}
