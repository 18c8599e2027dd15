use std::time::{Duration, SystemTime};

use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use smoke::{CheckOutcome, CheckStatus, SmokeOptions, Target, Timeouts};
use tokio::time::{Instant, timeout_at};

use crate::InvokeTransport;
use crate::code_deploy::{CodeDeploy, HookEvent, ReportError};
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
    plan: Result<CheckPlan, SettingError>,
    code_deploy: CodeDeploy,
}

/// The version to check, and the key for it.
struct CheckPlan {
    version: InvokeTransport,
    key: Secret,
}

impl Hook {
    pub(crate) fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        let plan = CheckPlan::from_settings(settings, http.clone());
        Ok(Self { plan, code_deploy: CodeDeploy::from_settings(settings, http)? })
    }

    /// Makes the checks within the invocation's time and reports their result. Anything that prevents or interrupts the
    /// checks fails the deployment.
    pub(crate) async fn on_event(&self, event: &HookEvent, deadline: SystemTime) -> Result<(), ReportError> {
        let left = deadline.duration_since(SystemTime::now()).unwrap_or_default().saturating_sub(REPORT_RESERVE);
        let passed = match &self.plan {
            Ok(plan) => plan.run_checks(Instant::now() + left).await,
            Err(error) => {
                tracing::error!(%error, "nothing could be checked");
                false
            }
        };
        self.code_deploy.report(event, passed).await
    }
}

impl CheckPlan {
    fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        Ok(Self { key: check_key(settings)?, version: InvokeTransport::from_settings(settings, http)? })
    }

    /// Whether every check finished by `deadline` and none failed.
    async fn run_checks(&self, deadline: Instant) -> bool {
        let target = Target::with_transport(self.version.clone(), self.key.clone());
        passed_by(deadline, smoke::run(target, strict_options(), log_outcome)).await
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
