//! Usage and cost of turns: reported with each turn, summed by day, and checked against daily budgets.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, Reply, TestApp, Transcript};

use crate::search_call;

/// Prices for a million tokens: 8 for input, 2 for cached input, 20 for output.
pub(crate) const PRICE: (&str, &str) =
    ("MODEL_OPTIONS", r#"{"openai":{"price":{"input":8,"cachedInput":2.0,"output":20.0}}}"#);

async fn read_usage(client: &Client) -> Value {
    client.get("/api/usage").await.ok()
}

/// The day's sums without the date.
async fn read_today(client: &Client) -> Value {
    let mut today = read_usage(client).await["today"].clone();
    today.as_object_mut().unwrap().remove("date");
    today
}

/// The usage event of a turn.
fn usage_event(turn: &Transcript) -> Value {
    let mut usage = turn.events_of("usage")[0].clone();
    usage.as_object_mut().unwrap().remove("type");
    usage
}

fn counted_reply(input: u64, output: u64) -> Reply {
    Completion::new().text("好。").finish("stop").usage(input, output).done().reply()
}

/// The sentence of a rejected turn, whose time and `Retry-After` are checked.
fn quota_message(response: &ApiResponse) -> String {
    assert_eq!(response.error(), (429, "quota_exhausted".to_owned()));
    let error = &response.json()["error"];
    assert_eq!(error["retryable"], false);
    let message = error["message"].as_str().unwrap().to_owned();
    let (sentence, when) = message.split_once(". It starts again at ").unwrap();
    assert!(when.ends_with("T00:00:00Z."), "{message}");
    let wait: u64 = response.header("retry-after").parse().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let after_midnight = (now + wait) % 86_400;
    assert!((1..=86_400).contains(&wait) && !(60..86_340).contains(&after_midnight), "{wait}");
    sentence.to_owned()
}

pub(crate) async fn rejected_turns(client: &Client) -> [String; 2] {
    let body = json!({ "message": "再问" });
    let (streamed, whole) = (client.post("/api/chat", &body).await, client.chat_once(&body).await);
    [quota_message(&streamed), quota_message(&whole)]
}

#[tokio::test]
async fn turn_costs_are_summed_by_day() {
    let app = TestApp::start_with(&[PRICE]).await;
    app.model.queue_replies([Completion::of([search_call("天气")]), counted_reply(1001, 200)]);
    let turn = app.send_message("问").await;
    // (10 × 8 + 5 × 20) millionths, then (1001 × 8 + 200 × 20).
    let first = json!({ "inputTokens": 1011, "outputTokens": 205, "searchCredits": 2, "estimated": false,
        "costMicros": 180 + 12_008 });
    assert_eq!(usage_event(&turn), first);
    let cached = json!({ "choices": [], "usage": { "prompt_tokens": 1000, "completion_tokens": 10,
        "prompt_tokens_details": { "cached_tokens": 600 } } });
    app.model.queue_replies([Completion::new().text("好。").finish("stop").data(&cached.to_string()).done().reply()]);
    let document = app.chat_once(&json!({ "message": "再问" })).await.ok();
    assert_eq!(document["usage"]["costMicros"], 400 * 8 + 600 * 2 + 10 * 20);
    let sum = json!({ "turns": 2, "inputTokens": 2011, "outputTokens": 215, "searchCredits": 2, "estimatedTurns": 0,
        "costMicros": 12_188 + 4600 });
    assert_eq!(read_today(&app).await, sum);
    let usage = read_usage(&app).await;
    assert_eq!((&usage["days"], &usage["budgets"]), (&json!([usage["today"]]), &json!({})));
}

#[tokio::test]
async fn background_tasks_cost_tokens_and_no_turn() {
    let app = TestApp::start_with(&[PRICE]).await;
    app.model.queue_replies([counted_reply(100, 10), counted_reply(1000, 20)]);
    app.send_message("问").await;
    let task = "### Task:\n写三个问题。\n<chat_history>\nUSER: 问\nASSISTANT: 好。\n</chat_history>";
    let body = json!({ "model": "openai", "messages": [{ "role": "user", "content": task }] });
    app.post("/v1/chat/completions", &body).await.ok();
    let sum = json!({ "turns": 1, "inputTokens": 1100, "outputTokens": 30, "searchCredits": 0, "estimatedTurns": 0,
        "costMicros": 9400 });
    assert_eq!(read_today(&app).await, sum);
}

#[tokio::test]
async fn f046_implausible_provider_usage_is_estimated() {
    let app = TestApp::start_with(&[PRICE]).await;
    app.model.queue_replies([counted_reply(0, 0), counted_reply(u64::MAX / 2, 1), counted_reply(10, 5)]);
    let mut seen = Vec::new();
    for question in ["一", "二", "三"] {
        let usage = usage_event(&app.send_message(question).await);
        let read = usage["inputTokens"].as_u64().unwrap();
        assert!((1..100_000).contains(&read), "{usage}");
        seen.push((usage["outputTokens"].as_u64().unwrap(), usage["estimated"] == true));
    }
    assert_eq!(seen, [(2, true), (1, true), (5, false)]);
    let day = read_today(&app).await;
    assert_eq!((&day["turns"], &day["estimatedTurns"]), (&json!(3), &json!(2)));
}

#[tokio::test]
async fn f141_spent_token_budget_rejects_only_its_caller() {
    let app = TestApp::start_with(&[("USER_DAILY_TOKENS", "20")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    app.send_message("一").await;
    app.send_message("二").await;
    assert_eq!(rejected_turns(&app).await, ["Your token budget for today is used up"; 2]);
    assert_eq!((app.model.requests().len(), read_today(&app).await["turns"].clone()), (2, json!(2)));
    let list = app.get("/api/conversations").await.ok();
    assert_eq!(list["conversations"].as_array().unwrap().len(), 2, "nothing of a refused turn is stored");
    assert_eq!(app.as_user("alice").send_message("三").await.content(), "好。");
    let tokens = &read_usage(&app).await["budgets"]["tokens"];
    assert_eq!((&tokens["limit"], &tokens["used"]), (&json!(20), &json!(30)));
    assert!(tokens["resetsAt"].as_str().unwrap().ends_with("T00:00:00Z"), "{tokens}");
}

#[tokio::test]
async fn f141_cost_budget_uses_the_price_currency() {
    let app = TestApp::start_with(&[PRICE, ("USER_DAILY_COST", "0.00018")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    app.send_message("一").await;
    assert_eq!(rejected_turns(&app).await, ["Your cost budget for today is used up"; 2]);
    let cost = &read_usage(&app).await["budgets"]["costMicros"];
    assert_eq!((&cost["limit"], &cost["used"]), (&json!(180), &json!(180)));
}

#[tokio::test]
async fn f141_total_budgets_count_all_callers() {
    for (settings, sentence) in [
        (vec![("TOTAL_DAILY_TOKENS", "30")], "This service's token budget for today is used up"),
        (vec![PRICE, ("TOTAL_DAILY_COST", "0.00036")], "This service's cost budget for today is used up"),
    ] {
        let app = TestApp::start_with(&settings).await;
        app.model.respond_with(|_| Completion::of(["好。"]));
        app.as_user("alice").send_message("一").await;
        app.as_user("bob").send_message("二").await;
        assert_eq!(rejected_turns(&app.as_user("carol")).await, [sentence; 2]);
        let all = app.get("/api/usage?scope=deployment").await.ok();
        assert_eq!((&all["today"]["turns"], &all["today"]["inputTokens"]), (&json!(2), &json!(20)));
        assert_eq!(read_usage(&app).await["budgets"], json!({}), "a caller gets their own budgets");
        assert_eq!(all["budgets"].as_object().unwrap().len(), 1, "{all}");
    }
}

#[tokio::test]
async fn f141_repeat_is_answered_despite_spent_budget() {
    let app = TestApp::start_with(&[("USER_DAILY_TOKENS", "1")]).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    let body = json!({ "message": "问", "stream": false }).to_string();
    let first = app.send("POST", "/api/chat", &headers, body.clone()).await.ok();
    assert_eq!(app.send("POST", "/api/chat", &headers, body).await.ok(), first);
    assert_eq!(read_today(&app).await["turns"], 1, "and counts nothing");
    assert_eq!(rejected_turns(&app).await, ["Your token budget for today is used up"; 2]);
}

#[tokio::test]
async fn f141_searches_over_budget_are_rejected_to_model() {
    for name in ["USER_DAILY_SEARCHES", "TOTAL_DAILY_SEARCHES"] {
        let app = TestApp::start_with(&[(name, "2")]).await;
        app.model.queue_replies([Completion::of(["一", "二", "三", "四"].map(search_call)), Completion::of(["好。"])]);
        let turn = app.send_message("问").await;
        let results = turn.events_of("tool_result");
        let codes: Vec<_> = results.iter().filter_map(|result| result["error"]["code"].as_str()).collect();
        assert_eq!((codes, app.search.queries().len()), (vec!["quota_exhausted"; 2], 2));
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
        assert!(app.model.wait_for_request(2).await.last_message().contains("今天的搜索次数已用完"));
        let known = app.search.queries().remove(0);
        app.model.queue_replies([Completion::of([search_call(&known)]), Completion::of(["好。"])]);
        assert_eq!(
            app.send_message("再问").await.events_of("tool_result")[0]["cached"],
            true,
            "what is known costs nothing"
        );
    }
}

#[tokio::test]
async fn f141_deleted_running_turn_is_counted() {
    let (app, gate) = (TestApp::start().await, support::Gate::new());
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
    let mut stream = app.open(&json!({ "message": "问" })).await;
    let id = stream.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    assert_eq!(app.delete(&format!("/api/conversations/{id}")).await.status, 204);
    stream.read_to_end().await;
    assert_eq!(read_today(&app).await["turns"], 1);
}

#[tokio::test]
async fn invalid_usage_query_is_rejected() {
    let app = TestApp::start().await;
    for bad in ["0", "91", "-1", "x", ""] {
        let refused = app.get(&format!("/api/usage?days={bad}")).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "{bad}");
        assert_eq!(refused.json()["error"]["message"], "`days` must be a whole number from 1 to 90");
    }
    assert_eq!(app.get("/api/usage?scope=mine").await.error(), (400, "invalid_request".to_owned()));
    let none = json!({ "turns": 0, "inputTokens": 0, "outputTokens": 0, "searchCredits": 0, "estimatedTurns": 0 });
    assert_eq!((read_today(&app).await, read_usage(&app).await["days"].clone()), (none, json!([])));
    assert_eq!(app.get("/api/usage?days=90").await.status, 200);
}
