//! Tests of the checks through an invocation: they find the same failures as over HTTP.

use std::time::Duration;

use futures_util::future::join_all;
use secrets::Secret;
use settings::Settings;
use smoke::{Limits, Outcome, Target, Verdict, Wish};
use support::{Broken, FakeLambda, Wrong};
use verify::Invoke;

use crate::aws;
use crate::world::{Product, database};

const PATIENT: Duration = Duration::from_mins(1);

async fn outcomes(version: &str, key: &str, turn: Duration) -> Vec<Outcome> {
    let lambda = aws::lambda(version, 1).await;
    let settings = [
        ("AWS_ENDPOINT_URL_LAMBDA", lambda.address.as_str()),
        ("CHECKED_FUNCTION", FakeLambda::FUNCTION),
        ("CHECKED_VERSION", FakeLambda::VERSION),
    ];
    let invoke = Invoke::from_settings(&Settings::from_pairs(settings), transport::client().unwrap()).unwrap();
    let close = Duration::from_millis(500);
    let limits = Limits { answer: turn, first_event: turn, turn, stop: turn.min(Duration::from_secs(6)), close };
    let wish = Wish { model: Some("deployment-check".to_owned()), limits, strict: false };
    let mut said = Vec::new();
    let good = smoke::run(Target::behind(invoke, Secret::by_value(key)), wish, |one| said.push(one.clone())).await;
    assert_eq!(good, failed(&said).is_empty());
    said
}

fn failed(outcomes: &[Outcome]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
    failed.map(|outcome| outcome.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn invocation_passes_all_checks_of_the_product() {
    let product = Product::start().await;
    let outcomes = outcomes(product.app.base(), &product.key, PATIENT).await;
    assert!(outcomes.iter().all(|one| matches!(one.verdict, Verdict::Passed(_))), "{outcomes:#?}");
    let left = product.app.send("GET", "/api/conversations", &[("x-api-key", &product.key)], "").await.ok();
    assert_eq!(left["conversations"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn invocation_checks_detect_broken_versions() {
    let cases = [
        (Wrong::Collects, PATIENT, &["streaming", "stop"] as &[&str]),
        (Wrong::StaysOpen, PATIENT, &["end", "tool", "resume", "stop"]),
        (Wrong::ResumesNothing, PATIENT, &["resume"]),
        (Wrong::ForgetsThePlace, PATIENT, &["resume"]),
        (Wrong::DeafToStops, PATIENT, &["stop"]),
        (Wrong::Keeps, PATIENT, &["deletion"]),
        (Wrong::NeverEnds, Duration::from_secs(12), &["end", "tool", "resume", "stop"]),
    ];
    let product = Product::start().await;
    let visits = cases.map(async |(wrong, patience, caught)| {
        let address = Broken::start(product.app.base(), wrong).await;
        let outcomes = outcomes(&address, &product.key, patience).await;
        assert_eq!(failed(&outcomes), caught, "{wrong:?}: {outcomes:#?}");
    });
    join_all(visits).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invocation_checks_detect_lost_answer_writes() {
    let product = Product::over(&database().await, async |database| Broken::database(&database).await).await;
    let outcomes = outcomes(product.app.base(), &product.key, PATIENT).await;
    assert!(failed(&outcomes).starts_with(&["storage", "resume"]), "{outcomes:#?}");
}
