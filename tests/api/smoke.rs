//! The deployment checks, run against the product and against faulty versions of it, which they must detect.

use std::time::Duration;

use futures_util::future::join_all;
use secrecy::ExposeSecret;
use secrets::Secret;
use smoke::{Limits, Outcome, Target, Verdict, Wish};
use support::{Broken, TestApp, Wrong};

use crate::auth::{database, product};

/// The demo model streams its answer slowly, in many deltas.
const DEMO: [(&str, &str); 3] = [("OPENAI_MODEL", ""), ("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")];

/// Long limits for a busy machine, and a short one for the close of a connection.
fn limits(turn: Duration) -> Limits {
    let short = Duration::from_millis(500);
    Limits { answer: turn, first_event: turn, turn, stop: turn, close: short }
}

const PATIENT: Duration = Duration::from_mins(1);

async fn outcomes(address: &str, key: Option<&str>, turn: Duration) -> Vec<Outcome> {
    let target = Target::new(address, key.map(Secret::by_value)).unwrap();
    let mut said = Vec::new();
    let wish = Wish { model: None, limits: limits(turn), strict: false };
    let good = Box::pin(smoke::run(target, wish, |outcome| said.push(outcome.clone()))).await;
    assert_eq!(good, failed(&said).is_empty());
    said
}

fn failed(outcomes: &[Outcome]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
    failed.map(|outcome| outcome.name).collect()
}

#[tokio::test]
async fn all_checks_pass_and_leave_no_conversations() {
    let app = TestApp::with(&DEMO).await;
    let outcomes = outcomes(app.base(), None, PATIENT).await;
    let others: Vec<&str> =
        outcomes.iter().filter(|one| !matches!(one.verdict, Verdict::Passed(_))).map(|one| one.name).collect();
    assert_eq!(others, ["access"], "{outcomes:#?}");
    let left = app.user("smoke").get("/api/conversations").await.ok();
    assert_eq!(left["conversations"], serde_json::json!([]));
}

#[tokio::test]
async fn each_fault_fails_its_checks() {
    let app = TestApp::with(&DEMO).await;
    let cases = [
        (Wrong::Collects, &["streaming", "stop"] as &[&str]),
        (Wrong::CollectsTheRest, &["streaming", "stop"]),
        (Wrong::StaysOpen, &["end", "tool", "resume", "stop"]),
        (Wrong::ResumesNothing, &["resume"]),
        (Wrong::ForgetsThePlace, &["resume"]),
        (Wrong::DeafToStops, &["stop"]),
        (Wrong::Keeps, &["deletion"]),
    ];
    let visits = cases.map(async |(wrong, caught)| {
        let address = Broken::start(app.base(), wrong).await;
        let outcomes = outcomes(&address, None, PATIENT).await;
        assert_eq!(failed(&outcomes), caught, "{wrong:?}: {outcomes:#?}");
    });
    join_all(visits).await;
}

#[tokio::test]
async fn missing_authentication_is_detected() {
    let product = product(&[&DEMO[..], &[("AUTH", "api_key")]].concat()).await;
    let key = product.key("smoke", None).await.text().expose_secret().to_owned();
    let sound = outcomes(product.app.base(), Some(&key), PATIENT).await;
    assert!(sound.iter().all(|one| matches!(one.verdict, Verdict::Passed(_))), "{sound:#?}");
    let address = Broken::with_key(product.app.base(), Wrong::Open, Some(key.clone())).await;
    assert_eq!(failed(&outcomes(&address, Some(&key), PATIENT).await), ["access"]);
    let without = outcomes(product.app.base(), None, PATIENT).await;
    assert_eq!(failed(&without), ["access", "first event", "tool", "resume", "stop"], "{without:#?}");
    assert!(!format!("{sound:?}{without:?}").contains(&key));
}

#[tokio::test]
async fn endless_turns_are_detected_in_bounded_time() {
    let app = TestApp::with(&DEMO).await;
    let address = Broken::start(app.base(), Wrong::NeverEnds).await;
    let outcomes = outcomes(&address, None, Duration::from_secs(5)).await;
    assert_eq!(failed(&outcomes), ["end", "tool", "resume", "stop"], "{outcomes:#?}");
}

#[tokio::test]
async fn lost_answer_write_is_detected() {
    let endpoint = Broken::database(&database().await).await;
    let app = TestApp::with(&[&DEMO[..], &[("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str())]].concat()).await;
    let outcomes = outcomes(app.base(), None, PATIENT).await;
    let failed = failed(&outcomes);
    assert!(failed.starts_with(&["storage", "resume"]), "{outcomes:#?}");
}
