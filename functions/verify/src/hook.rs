use std::time::{Duration, SystemTime};

use platform::aws::{Call, JSON_CONTENT_TYPE, Method};
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use serde::Deserialize;
use serde_json::json;
use smoke::{CheckOutcome, CheckStatus, SmokeOptions, Target, Timeouts};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::InvokeTransport;
use crate::invoke::MAX_INSTANCE_WAIT;
use crate::model::check_key;

/// The scripted model; `template.yaml` adds it to the checked function's models.
const MODEL: &str = "deployment-check";

/// Time of an invocation reserved for reporting the result.
const REPORT_RESERVE: Duration = Duration::from_secs(15);

/// Timeout of a turn: the longest answer of the scripted model takes nine seconds.
const TURN_TIMEOUT: Duration = Duration::from_secs(20);

/// Checks a version and reports the result to `CodeDeploy`.
pub(crate) struct Hook {
    /// An error here fails the deployment at once. `CodeDeploy` would wait one hour for a hook that does not start.
    checked: Result<(InvokeTransport, Secret), SettingError>,
    code_deploy: CodeDeploy,
}

impl Hook {
    pub(crate) fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        let version = InvokeTransport::from_settings(settings, http.clone());
        let checked = check_key(settings).and_then(|key| Ok((version?, key)));
        Ok(Self { checked, code_deploy: CodeDeploy::from_settings(settings, http)? })
    }

    /// Makes the checks within the invocation's time and reports their result. Anything that prevents or interrupts the
    /// checks fails the deployment.
    pub(crate) async fn on_event(&self, event: &HookEvent, deadline: SystemTime) -> Result<(), ReportError> {
        let left = deadline.duration_since(SystemTime::now()).unwrap_or_default().saturating_sub(REPORT_RESERVE);
        let passed = match &self.checked {
            Ok((version, key)) => {
                let target = Target::with_transport(version.clone(), key.clone());
                passed_by(Instant::now() + left, smoke::run(target, strict_options(), log_outcome)).await
            }
            Err(error) => {
                tracing::error!(%error, "nothing could be checked");
                false
            }
        };
        self.code_deploy.report(event, passed).await
    }
}

/// Strict options, because the answers are known. Waiting for an instance does not count as slowness of the version.
fn strict_options() -> SmokeOptions {
    let timeouts = Timeouts::default();
    let timeouts = Timeouts { turn: TURN_TIMEOUT, first_event: timeouts.first_event + MAX_INSTANCE_WAIT, ..timeouts };
    SmokeOptions { model: Some(MODEL.to_owned()), timeouts, strict: true }
}

/// Runs the checks until `deadline`. They run in a separate task, so that a panic counts as a failure.
async fn passed_by(deadline: Instant, checks: impl Future<Output = bool> + Send + 'static) -> bool {
    let checks = tokio::spawn(checks);
    let abort_handle = checks.abort_handle();
    match timeout_at(deadline, checks).await {
        Ok(Ok(good)) => good,
        Ok(Err(_)) => {
            tracing::error!("the checks broke off");
            false
        }
        Err(_) => {
            abort_handle.abort();
            tracing::error!("the checks took too long");
            false
        }
    }
}

fn log_outcome(outcome: &CheckOutcome) {
    let check = outcome.name;
    match &outcome.status {
        CheckStatus::Passed(figures) => tracing::info!(check, outcome = "ok", figures, "checked"),
        CheckStatus::Skipped(reason) | CheckStatus::Absent(reason) => {
            tracing::warn!(check, outcome = "skipped", reason, "checked");
        }
        CheckStatus::Failed(fault) => tracing::error!(check, outcome = "FAILED", %fault, "checked"),
    }
}

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(4);

const BACKOFF: [Duration; 3] = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(1)];

/// The event with which `CodeDeploy` invokes a hook.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct HookEvent {
    pub(crate) deployment_id: String,
    pub(crate) lifecycle_event_hook_execution_id: String,
}

/// A client of `CodeDeploy`, which waits for the result before it routes callers to a new version.
pub(crate) struct CodeDeploy {
    http: platform::transport::Client,
    service: platform::aws::Service,
}

/// The report to `CodeDeploy` failed; without one it fails the deployment after one hour.
#[derive(Debug, thiserror::Error)]
#[error("CodeDeploy received no result")]
pub(crate) struct ReportError;

impl CodeDeploy {
    pub(crate) fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        let service = platform::aws::Service::from_settings(settings, "codedeploy", "AWS_ENDPOINT_URL_CODEDEPLOY")?;
        Ok(Self { http, service })
    }

    /// Reports the result, in up to three attempts.
    pub(crate) async fn report(&self, event: &HookEvent, passed: bool) -> Result<(), ReportError> {
        let status = if passed { "Succeeded" } else { "Failed" };
        for pause in BACKOFF {
            sleep(pause).await;
            match timeout(ATTEMPT_TIMEOUT, self.put_status(event, status))
                .await
                .unwrap_or_else(|_| Err("no answer in time".to_owned()))
            {
                Ok(()) => {
                    tracing::info!(status, "CodeDeploy received the result");
                    return Ok(());
                }
                Err(reason) => tracing::error!(status, reason, "CodeDeploy received no result"),
            }
        }
        Err(ReportError)
    }

    async fn put_status(&self, event: &HookEvent, status: &str) -> Result<(), String> {
        let body = json!({
            "deploymentId": event.deployment_id,
            "lifecycleEventHookExecutionId": event.lifecycle_event_hook_execution_id,
            "status": status,
        });
        let target = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
        let headers = [("content-type", JSON_CONTENT_TYPE), ("x-amz-target", target)];
        let call = Call { method: Method::POST, path: "/", headers: &headers, body: body.to_string().into_bytes() };
        let request = self.service.signed_request(&self.http, call, SystemTime::now()).await;
        let request = request.map_err(|error| error.to_string())?;
        let response = request.send().await.map_err(|_| "no connection".to_owned())?;
        if response.status().is_success() { Ok(()) } else { Err(format!("status {}", response.status().as_u16())) }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn first_event_limit_includes_instance_wait() {
        assert_eq!(strict_options().timeouts.first_event, Duration::from_secs(5 + 4));
    }

    #[tokio::test(start_paused = true)]
    async fn panicking_or_late_checks_fail() {
        let deadline = || Instant::now() + Duration::from_mins(1);
        assert!(passed_by(deadline(), ready(true)).await);
        assert!(!passed_by(deadline(), ready(false)).await);
        assert!(!passed_by(deadline(), async { panic!("a check broke") }).await);
        assert!(!passed_by(deadline(), pending()).await);
    }
}
