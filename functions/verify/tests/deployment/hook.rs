//! Tests of the hook: its reports to `CodeDeploy` in every case, and its log.

use std::time::Duration;

use futures_util::future::join_all;
use runtime_api::{Answer, Function, RuntimeApi};
use serde_json::{Value, json};
use support::{Broken, FakeLambda, Wrong};

use crate::aws::{self, CodeDeploy};
use crate::world::{Product, binary, database};

/// The time limit of a hook on Lambda.
const WHOLE: Duration = Duration::from_mins(5);

/// The reported status, the failed checks, and all lines of the log.
struct Report {
    status: Value,
    failed: Vec<String>,
    log: Vec<Value>,
}

impl Report {
    fn says(&self, message: &str) -> bool {
        self.log.iter().any(|line| line["message"] == message)
    }
}

/// Calls the hook once, as `CodeDeploy` does; waits for this number of report attempts.
async fn called(
    settings: &[(&str, &str)],
    code_deploy: &CodeDeploy,
    remaining: Duration,
    attempts: usize,
) -> (Answer, Vec<Value>) {
    let api = RuntimeApi::start().await;
    let own = [
        ("AWS_ENDPOINT_URL_CODEDEPLOY", code_deploy.address.as_str()),
        ("CHECKED_FUNCTION", FakeLambda::FUNCTION),
        ("CHECKED_VERSION", FakeLambda::VERSION),
    ];
    let hook = Function::start(binary(), &api.address(), own.into_iter().chain(settings.iter().copied()));
    let event = json!({"DeploymentId": "d-ABCDEF123", "LifecycleEventHookExecutionId": "eyJlbmNyeXB0ZWREYXRhIjoi"});
    let answer = api.invoke(&event, remaining).answer().await;
    hook.lines(attempts, |line| line.contains("CodeDeploy was ")).await;
    let log = hook.log().iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (answer, log)
}

async fn report(settings: &[(&str, &str)], remaining: Duration) -> Report {
    let code_deploy = CodeDeploy::start(0).await;
    let (answer, log) = called(settings, &code_deploy, remaining, 1).await;
    assert_eq!(answer.whole(), Value::Null);
    let told = code_deploy.told();
    let [told] = told.as_slice() else { panic!("it was told {told:?}") };
    assert_eq!(told["deploymentId"], "d-ABCDEF123");
    assert_eq!(told["lifecycleEventHookExecutionId"], "eyJlbmNyeXB0ZWREYXRhIjoi");
    let failed = log.iter().filter(|line| line["outcome"] == "FAILED");
    let failed = failed.map(|line| line["check"].as_str().unwrap().to_owned()).collect();
    Report { status: told["status"].clone(), failed, log }
}

async fn of_version(version: &str, key: &str, remaining: Duration) -> Report {
    let lambda = aws::lambda(version, 0).await;
    let report = report(&[("AWS_ENDPOINT_URL_LAMBDA", &lambda.address), ("CHECK_API_KEY", key)], remaining).await;
    assert!(report.log.iter().all(|line| !line.to_string().contains(key)), "{:#?}", report.log);
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_version_is_approved() {
    let product = Product::start().await;
    let report = of_version(product.app.base(), &product.key, WHOLE).await;
    assert_eq!((&report.status, &report.failed), (&json!("Succeeded"), &Vec::new()), "{:#?}", report.log);
    let good = report.log.iter().filter(|line| line["outcome"] == "ok").count();
    assert_eq!(good, 11, "{:#?}", report.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_version_is_rejected_with_logged_reason() {
    let cases = [
        (Wrong::Collects, &["streaming", "stop"] as &[&str]),
        (Wrong::ResumesNothing, &["resume"]),
        (Wrong::DeafToStops, &["stop"]),
        (Wrong::CallsNoTool, &["tool"]),
        (Wrong::JoinsPieces, &["streaming"]),
    ];
    let product = Product::start().await;
    let visits = cases.map(async |(wrong, caught)| {
        let address = Broken::start(product.app.base(), wrong).await;
        let report = of_version(&address, &product.key, WHOLE).await;
        assert_eq!(report.status, "Failed", "{wrong:?}");
        // A buffered answer may leave nothing to resume.
        let failed = report.failed.iter().filter(|name| wrong != Wrong::Collects || *name != "resume");
        assert!(failed.eq(caught), "{wrong:?}: {:#?}", report.log);
    });
    join_all(visits).await;
    let losing = Product::over(&database().await, async |database| Broken::database(&database).await).await;
    let report = of_version(losing.app.base(), &losing.key, WHOLE).await;
    assert!(report.status == "Failed" && report.failed[0] == "storage", "{:#?}", report.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_turns_fail_before_hook_deadline() {
    let product = Product::start().await;
    let address = Broken::start(product.app.base(), Wrong::NeverEnds).await;
    // The hook reserves 15 seconds for its report; the rest is too short for the second turn.
    let report = of_version(&address, &product.key, Duration::from_secs(15 + 25)).await;
    assert_eq!(
        (&report.status, report.failed.as_slice()),
        (&json!("Failed"), &["end".to_owned(), "storage".to_owned()][..])
    );
    assert!(report.says("the checks took too long"), "{:#?}", report.log);
}

#[tokio::test]
async fn uninvocable_version_is_rejected() {
    let lambda = aws::forbidding_lambda().await;
    let report = report(&[("AWS_ENDPOINT_URL_LAMBDA", &lambda), ("CHECK_API_KEY", "sk")], WHOLE).await;
    assert_eq!(report.status, "Failed");
    let fault = report.log.iter().find(|line| line["check"] == "health").unwrap()["fault"].clone();
    assert_eq!(fault, "expected an answer, got a refusal of Lambda (403 AccessDeniedException)");
}

#[tokio::test]
async fn missing_setting_or_time_fails_the_deployment() {
    let lambda = aws::forbidding_lambda().await;
    let without = report(&[("AWS_ENDPOINT_URL_LAMBDA", &lambda)], WHOLE).await;
    assert!(without.status == "Failed" && without.says("nothing could be checked"), "{:#?}", without.log);
    let settings = [("AWS_ENDPOINT_URL_LAMBDA", lambda.as_str()), ("CHECK_API_KEY", "sk")];
    let late = report(&settings, Duration::from_secs(3)).await;
    assert!(late.status == "Failed" && late.says("the checks took too long"), "{:#?}", late.log);
}

#[tokio::test]
async fn report_is_retried_then_fails_the_invocation() {
    let settings = [("CHECK_API_KEY", "sk")];
    let deaf = CodeDeploy::start(2).await;
    let (answer, _) = called(&settings, &deaf, WHOLE, 3).await;
    assert_eq!((answer.whole(), deaf.told().len()), (Value::Null, 1));
    let gone = CodeDeploy::start(3).await;
    let (answer, _) = called(&settings, &gone, WHOLE, 3).await;
    assert!(matches!(answer, Answer::Error(_)) && gone.told().is_empty());
}
