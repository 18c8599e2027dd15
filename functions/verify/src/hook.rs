use std::time::{Duration, SystemTime};

use secrets::Secret;
use serde::Deserialize;
use settings::{SettingError, Settings};
use smoke::{Limits, Outcome, Target, Verdict, Wish};
use tokio::time::{Instant, timeout_at};

use crate::Invoke;
use crate::code_deploy::{CodeDeploy, Untold};
use crate::invoke::LONGEST_WAIT;

/// The scripted model; `template.yaml` adds it to the checked function's models.
const MODEL: &str = "deployment-check";

/// Time of an invocation reserved for reporting the result.
const RESERVE: Duration = Duration::from_secs(15);

/// Timeout of a turn: the longest answer of the scripted model takes nine seconds.
const LONGEST_TURN: Duration = Duration::from_secs(20);

/// The event with which `CodeDeploy` invokes a hook.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Event {
    pub(crate) deployment_id: String,
    pub(crate) lifecycle_event_hook_execution_id: String,
}

/// Checks a version and reports the result to `CodeDeploy`.
pub(crate) struct Hook {
    /// An error here fails the deployment at once. `CodeDeploy` would wait one hour for a hook that does not start.
    plan: Result<Plan, SettingError>,
    code_deploy: CodeDeploy,
}

/// The version to check, and the key for it.
struct Plan {
    version: Invoke,
    key: Secret,
}

impl Hook {
    pub(crate) fn from_settings(settings: &Settings, http: transport::Client) -> Result<Self, SettingError> {
        let plan = Plan::from_settings(settings, http.clone());
        Ok(Self { plan, code_deploy: CodeDeploy::from_settings(settings, http)? })
    }

    /// Makes the checks within the invocation's time and reports their result. Anything that prevents or interrupts the
    /// checks fails the deployment.
    pub(crate) async fn called(&self, event: &Event, deadline: SystemTime) -> Result<(), Untold> {
        let left = deadline.duration_since(SystemTime::now()).unwrap_or_default().saturating_sub(RESERVE);
        let good = match &self.plan {
            Ok(plan) => plan.holds(Instant::now() + left).await,
            Err(error) => {
                tracing::error!(%error, "nothing could be checked");
                false
            }
        };
        self.code_deploy.tell(event, good).await
    }
}

impl Plan {
    fn from_settings(settings: &Settings, http: transport::Client) -> Result<Self, SettingError> {
        let key = Secret::from_settings(settings, "CHECK_API_KEY")?;
        let key = key.ok_or_else(|| SettingError::new("CHECK_API_KEY_PARAMETER", "the name of an SSM parameter"))?;
        Ok(Self { version: Invoke::from_settings(settings, http)?, key })
    }

    /// Whether every check finished by `deadline` and none failed.
    async fn holds(&self, until: Instant) -> bool {
        let target = Target::behind(self.version.clone(), self.key.clone());
        held(until, smoke::run(target, wish(), say)).await
    }
}

/// Strict options, because the answers are known. Waiting for an instance does not count as slowness of the version.
fn wish() -> Wish {
    let limits = Limits::default();
    let limits = Limits { turn: LONGEST_TURN, first_event: limits.first_event + LONGEST_WAIT, ..limits };
    Wish { model: Some(MODEL.to_owned()), limits, strict: true }
}

/// Runs the checks until `deadline`. They run in a separate task, so that a panic counts as a failure.
async fn held(until: Instant, checks: impl Future<Output = bool> + Send + 'static) -> bool {
    let checks = tokio::spawn(checks);
    let stop = checks.abort_handle();
    match timeout_at(until, checks).await {
        Ok(Ok(good)) => good,
        Ok(Err(_)) => {
            tracing::error!("the checks broke off");
            false
        }
        Err(_) => {
            stop.abort();
            tracing::error!("the checks took too long");
            false
        }
    }
}

fn say(outcome: &Outcome) {
    let check = outcome.name;
    match &outcome.verdict {
        Verdict::Passed(figures) => tracing::info!(check, outcome = "ok", figures, "checked"),
        Verdict::Skipped(reason) | Verdict::Absent(reason) => {
            tracing::warn!(check, outcome = "skipped", reason, "checked");
        }
        Verdict::Failed(fault) => tracing::error!(check, outcome = "FAILED", %fault, "checked"),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn first_event_limit_includes_instance_wait() {
        assert_eq!(wish().limits.first_event, Duration::from_secs(5 + 4));
    }

    #[tokio::test(start_paused = true)]
    async fn panicking_or_late_checks_fail() {
        let until = || Instant::now() + Duration::from_mins(1);
        assert!(held(until(), ready(true)).await);
        assert!(!held(until(), ready(false)).await);
        assert!(!held(until(), async { panic!("a check broke") }).await);
        assert!(!held(until(), pending()).await);
    }
}
