//! Tests of the hook: its reports to `CodeDeploy` in every case, and its log.

use std::time::Duration;

use futures_util::future::join_all;
use runtime_api::{Function, FunctionResponse, RuntimeApi};
use serde_json::{Value, json};
use support::{FakeLambda, FaultyProxy, ProxyFault};

use crate::aws::{self, CodeDeploy};
use crate::world::{Product, binary, database};

/// The time limit of a hook on Lambda.
const HOOK_TIMEOUT: Duration = Duration::from_mins(5);

/// The reported status, the failed checks, and all lines of the log.
struct Report {
    status: Value,
    failed: Vec<String>,
    log: Vec<Value>,
}

impl Report {
    fn has_message(&self, message: &str) -> bool {
        self.log.iter().any(|line| line["message"] == message)
    }
}

/// Calls the hook once, as `CodeDeploy` does; waits for this number of report attempts.
async fn run_hook(
    settings: &[(&str, &str)],
    code_deploy: &CodeDeploy,
    remaining: Duration,
    attempts: usize,
) -> (FunctionResponse, Vec<Value>) {
    let api = RuntimeApi::start().await;
    let own = [
        ("AWS_ENDPOINT_URL_CODEDEPLOY", code_deploy.address.as_str()),
        ("CHECKED_FUNCTION", FakeLambda::FUNCTION),
        ("CHECKED_VERSION", FakeLambda::VERSION),
    ];
    let hook = Function::start(binary(), &api.address(), own.into_iter().chain(settings.iter().copied()));
    let event = json!({"DeploymentId": "d-ABCDEF123", "LifecycleEventHookExecutionId": "eyJlbmNyeXB0ZWREYXRhIjoi"});
    let answer = api.invoke(&event, remaining).answer().await;
    hook.wait_for_lines(attempts, |line| line.contains("CodeDeploy received ")).await;
    let log = hook.log().iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (answer, log)
}

async fn run_and_report(settings: &[(&str, &str)], remaining: Duration) -> Report {
    let code_deploy = CodeDeploy::start(0).await;
    let (answer, log) = run_hook(settings, &code_deploy, remaining, 1).await;
    assert_eq!(answer.expect_buffered(), Value::Null);
    let reports = code_deploy.reports();
    let [sent] = reports.as_slice() else { panic!("it received {reports:?}") };
    assert_eq!(sent["deploymentId"], "d-ABCDEF123");
    assert_eq!(sent["lifecycleEventHookExecutionId"], "eyJlbmNyeXB0ZWREYXRhIjoi");
    let failed = log.iter().filter(|line| line["outcome"] == "FAILED");
    let failed = failed.map(|line| line["check"].as_str().unwrap().to_owned()).collect();
    Report { status: sent["status"].clone(), failed, log }
}

async fn report_for_version(version: &str, key: &str, remaining: Duration) -> Report {
    let lambda = aws::lambda(version, 0).await;
    let report =
        run_and_report(&[("AWS_ENDPOINT_URL_LAMBDA", &lambda.address), ("CHECK_API_KEY", key)], remaining).await;
    assert!(report.log.iter().all(|line| !line.to_string().contains(key)), "{:#?}", report.log);
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_version_is_approved() {
    let product = Product::start().await;
    let report = report_for_version(product.app.base(), &product.key, HOOK_TIMEOUT).await;
    assert_eq!((&report.status, &report.failed), (&json!("Succeeded"), &Vec::new()), "{:#?}", report.log);
    let passed = report.log.iter().filter(|line| line["outcome"] == "ok").count();
    assert_eq!(passed, 11, "{:#?}", report.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_version_is_rejected_with_logged_reason() {
    let cases = [
        (ProxyFault::BuffersStream, &["streaming", "stop"] as &[&str]),
        (ProxyFault::FindsNoTurn, &["resume"]),
        (ProxyFault::IgnoresStop, &["stop"]),
        (ProxyFault::DropsToolCalls, &["tool"]),
        (ProxyFault::MergesDeltas, &["streaming"]),
    ];
    let product = Product::start().await;
    let runs = cases.map(async |(wrong, expected)| {
        let address = FaultyProxy::start(product.app.base(), wrong).await;
        let report = report_for_version(&address, &product.key, HOOK_TIMEOUT).await;
        assert_eq!(report.status, "Failed", "{wrong:?}");
        // A buffered answer may leave nothing to resume.
        let failed = report.failed.iter().filter(|name| wrong != ProxyFault::BuffersStream || *name != "resume");
        assert!(failed.eq(expected), "{wrong:?}: {:#?}", report.log);
    });
    join_all(runs).await;
    let lossy = Product::start_with_database_proxy(&database().await, async |database| {
        FaultyProxy::start_lossy_database(&database).await
    })
    .await;
    let report = report_for_version(lossy.app.base(), &lossy.key, HOOK_TIMEOUT).await;
    assert!(report.status == "Failed" && report.failed[0] == "storage", "{:#?}", report.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_turns_fail_before_hook_deadline() {
    let product = Product::start().await;
    let address = FaultyProxy::start(product.app.base(), ProxyFault::NeverEnds).await;
    // The hook reserves 15 seconds for its report; the rest is too short for the second turn.
    let report = report_for_version(&address, &product.key, Duration::from_secs(15 + 25)).await;
    assert_eq!(
        (&report.status, report.failed.as_slice()),
        (&json!("Failed"), &["end".to_owned(), "storage".to_owned()][..])
    );
    assert!(report.has_message("the checks took too long"), "{:#?}", report.log);
}

#[tokio::test]
async fn uninvocable_version_is_rejected() {
    let lambda = aws::forbidding_lambda().await;
    let report = run_and_report(&[("AWS_ENDPOINT_URL_LAMBDA", &lambda), ("CHECK_API_KEY", "sk")], HOOK_TIMEOUT).await;
    assert_eq!(report.status, "Failed");
    let fault = report.log.iter().find(|line| line["check"] == "health").unwrap()["fault"].clone();
    assert_eq!(fault, "expected an answer, got a refusal of Lambda (403 AccessDeniedException)");
}

#[tokio::test]
async fn missing_setting_or_time_fails_the_deployment() {
    let lambda = aws::forbidding_lambda().await;
    let without = run_and_report(&[("AWS_ENDPOINT_URL_LAMBDA", &lambda)], HOOK_TIMEOUT).await;
    assert!(without.status == "Failed" && without.has_message("nothing could be checked"), "{:#?}", without.log);
    let settings = [("AWS_ENDPOINT_URL_LAMBDA", lambda.as_str()), ("CHECK_API_KEY", "sk")];
    let late = run_and_report(&settings, Duration::from_secs(3)).await;
    assert!(late.status == "Failed" && late.has_message("the checks took too long"), "{:#?}", late.log);
}

#[tokio::test]
async fn report_is_retried_then_fails_the_invocation() {
    let settings = [("CHECK_API_KEY", "sk")];
    let failing = CodeDeploy::start(2).await;
    let (answer, _) = run_hook(&settings, &failing, HOOK_TIMEOUT, 3).await;
    assert_eq!((answer.expect_buffered(), failing.reports().len()), (Value::Null, 1));
    let unreachable = CodeDeploy::start(3).await;
    let (answer, _) = run_hook(&settings, &unreachable, HOOK_TIMEOUT, 3).await;
    assert!(matches!(answer, FunctionResponse::Error(_)) && unreachable.reports().is_empty());
}
