//! Tests of the checks through an invocation: they find the same failures as over HTTP.

use std::time::Duration;

use futures_util::future::join_all;
use platform::secrets::Secret;
use platform::settings::Settings;
use smoke::{CheckOutcome, CheckStatus, SmokeOptions, Target, Timeouts};
use support::{FakeLambda, FaultyProxy, ProxyFault};
use verify::InvokeTransport;

use crate::aws;
use crate::world::{Product, database};

const LONG_TIMEOUT: Duration = Duration::from_mins(1);

async fn run_checks(version: &str, key: &str, turn: Duration) -> Vec<CheckOutcome> {
    let lambda = aws::lambda(version, 1).await;
    let settings = [
        ("AWS_ENDPOINT_URL_LAMBDA", lambda.address.as_str()),
        ("CHECKED_FUNCTION", FakeLambda::FUNCTION),
        ("CHECKED_VERSION", FakeLambda::VERSION),
    ];
    let invoke =
        InvokeTransport::from_settings(&Settings::from_pairs(settings), platform::transport::build_client().unwrap())
            .unwrap();
    let close = Duration::from_millis(500);
    let timeouts = Timeouts { answer: turn, first_event: turn, turn, stop: turn.min(Duration::from_secs(6)), close };
    let options = SmokeOptions { model: Some("deployment-check".to_owned()), timeouts, strict: false };
    let mut outcomes = Vec::new();
    let passed =
        smoke::run(Target::with_transport(invoke, Secret::by_value(key)), options, |one| outcomes.push(one.clone()))
            .await;
    assert_eq!(passed, failed_checks(&outcomes).is_empty());
    outcomes
}

fn failed_checks(outcomes: &[CheckOutcome]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| matches!(outcome.status, CheckStatus::Failed(_)));
    failed.map(|outcome| outcome.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn invocation_passes_all_checks_of_the_product() {
    let product = Product::start().await;
    let outcomes = run_checks(product.app.base(), &product.key, LONG_TIMEOUT).await;
    assert!(outcomes.iter().all(|one| matches!(one.status, CheckStatus::Passed(_))), "{outcomes:#?}");
    let left = product.app.send("GET", "/api/conversations", &[("x-api-key", &product.key)], "").await.ok();
    assert_eq!(left["conversations"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn invocation_checks_detect_broken_versions() {
    let cases = [
        (ProxyFault::BuffersStream, LONG_TIMEOUT, &["streaming", "stop"] as &[&str]),
        (ProxyFault::KeepsConnectionOpen, LONG_TIMEOUT, &["end", "tool", "resume", "stop"]),
        (ProxyFault::FindsNoTurn, LONG_TIMEOUT, &["resume"]),
        (ProxyFault::IgnoresLastEventId, LONG_TIMEOUT, &["resume"]),
        (ProxyFault::IgnoresStop, LONG_TIMEOUT, &["stop"]),
        (ProxyFault::IgnoresDelete, LONG_TIMEOUT, &["deletion"]),
        (ProxyFault::NeverEnds, Duration::from_secs(12), &["end", "tool", "resume", "stop"]),
    ];
    let product = Product::start().await;
    let runs = cases.map(async |(wrong, timeout, expected)| {
        let address = FaultyProxy::start(product.app.base(), wrong).await;
        let outcomes = run_checks(&address, &product.key, timeout).await;
        assert_eq!(failed_checks(&outcomes), expected, "{wrong:?}: {outcomes:#?}");
    });
    join_all(runs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invocation_checks_detect_lost_answer_writes() {
    let product = Product::start_with_database_proxy(&database().await, async |database| {
        FaultyProxy::start_lossy_database(&database).await
    })
    .await;
    let outcomes = run_checks(product.app.base(), &product.key, LONG_TIMEOUT).await;
    assert!(failed_checks(&outcomes).starts_with(&["storage", "resume"]), "{outcomes:#?}");
}
