//! The deployment checks, run against the product and against faulty versions of it, which they must detect.

use std::time::Duration;

use futures_util::future::join_all;
use platform::secrets::Secret;
use secrecy::ExposeSecret;
use smoke::{CheckOutcome, CheckStatus, SmokeOptions, Target, Timeouts};
use support::{FaultyProxy, ProxyFault, TestApp};

use crate::auth::{start_database, start_with_store};

/// The demo model streams its answer slowly, in many deltas.
const DEMO_SETTINGS: [(&str, &str); 3] = [("OPENAI_MODEL", ""), ("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")];

/// Long limits for a busy machine, and a short one for the close of a connection.
fn limits(turn: Duration) -> Timeouts {
    let short = Duration::from_millis(500);
    Timeouts { answer: turn, first_event: turn, turn, stop: turn, close: short }
}

const TURN_TIMEOUT: Duration = Duration::from_mins(1);

async fn run_checks(address: &str, key: Option<&str>, turn: Duration) -> Vec<CheckOutcome> {
    let target = Target::new(address, key.map(Secret::by_value)).unwrap();
    let mut results = Vec::new();
    let options = SmokeOptions { model: None, timeouts: limits(turn), strict: false };
    let good = Box::pin(smoke::run(target, options, |outcome| results.push(outcome.clone()))).await;
    assert_eq!(good, failed_checks(&results).is_empty());
    results
}

fn failed_checks(outcomes: &[CheckOutcome]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| matches!(outcome.status, CheckStatus::Failed(_)));
    failed.map(|outcome| outcome.name).collect()
}

#[tokio::test]
async fn all_checks_pass_and_leave_no_conversations() {
    let app = TestApp::start_with(&DEMO_SETTINGS).await;
    let outcomes = run_checks(app.base(), None, TURN_TIMEOUT).await;
    let others: Vec<&str> =
        outcomes.iter().filter(|one| !matches!(one.status, CheckStatus::Passed(_))).map(|one| one.name).collect();
    assert_eq!(others, ["access"], "{outcomes:#?}");
    let left = app.as_user("smoke").get("/api/conversations").await.ok();
    assert_eq!(left["conversations"], serde_json::json!([]));
}

#[tokio::test]
async fn each_fault_fails_its_checks() {
    let app = TestApp::start_with(&DEMO_SETTINGS).await;
    let cases = [
        (ProxyFault::BuffersStream, &["streaming", "stop"] as &[&str]),
        (ProxyFault::BuffersAfterFirstEvent, &["streaming", "stop"]),
        (ProxyFault::KeepsConnectionOpen, &["end", "tool", "resume", "stop"]),
        (ProxyFault::FindsNoTurn, &["resume"]),
        (ProxyFault::IgnoresLastEventId, &["resume"]),
        (ProxyFault::IgnoresStop, &["stop"]),
        (ProxyFault::IgnoresDelete, &["deletion"]),
    ];
    let runs = cases.map(async |(fault, failures)| {
        let address = FaultyProxy::start(app.base(), fault).await;
        let outcomes = run_checks(&address, None, TURN_TIMEOUT).await;
        assert_eq!(failed_checks(&outcomes), failures, "{fault:?}: {outcomes:#?}");
    });
    join_all(runs).await;
}

#[tokio::test]
async fn missing_authentication_is_detected() {
    let product = start_with_store(&[&DEMO_SETTINGS[..], &[("AUTH", "api_key")]].concat()).await;
    let key = product.create_key("smoke", None).await.text().expose_secret().to_owned();
    let sound = run_checks(product.app.base(), Some(&key), TURN_TIMEOUT).await;
    assert!(sound.iter().all(|one| matches!(one.status, CheckStatus::Passed(_))), "{sound:#?}");
    let address = FaultyProxy::with_key(product.app.base(), ProxyFault::SkipsAuthentication, Some(key.clone())).await;
    assert_eq!(failed_checks(&run_checks(&address, Some(&key), TURN_TIMEOUT).await), ["access"]);
    let without = run_checks(product.app.base(), None, TURN_TIMEOUT).await;
    assert_eq!(failed_checks(&without), ["access", "first event", "tool", "resume", "stop"], "{without:#?}");
    assert!(!format!("{sound:?}{without:?}").contains(&key));
}

#[tokio::test]
async fn endless_turns_are_detected_in_bounded_time() {
    let app = TestApp::start_with(&DEMO_SETTINGS).await;
    let address = FaultyProxy::start(app.base(), ProxyFault::NeverEnds).await;
    let outcomes = run_checks(&address, None, Duration::from_secs(5)).await;
    assert_eq!(failed_checks(&outcomes), ["end", "tool", "resume", "stop"], "{outcomes:#?}");
}

#[tokio::test]
async fn lost_answer_write_is_detected() {
    let endpoint = FaultyProxy::start_lossy_database(&start_database().await).await;
    let app =
        TestApp::start_with(&[&DEMO_SETTINGS[..], &[("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str())]].concat()).await;
    let outcomes = run_checks(app.base(), None, TURN_TIMEOUT).await;
    let failed = failed_checks(&outcomes);
    assert!(failed.starts_with(&["storage", "resume"]), "{outcomes:#?}");
}
