use std::time::{Duration, SystemTime};

use platform::aws::{Call, JSON_CONTENT_TYPE, Method};
use platform::settings::{SettingError, Settings};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{sleep, timeout};

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(4);

/// The backoff before each attempt.
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

    /// Calls `PutLifecycleEventHookExecutionStatus`.
    async fn put_status(&self, event: &HookEvent, status: &str) -> Result<(), String> {
        let body = json!({
            "deploymentId": event.deployment_id,
            "lifecycleEventHookExecutionId": event.lifecycle_event_hook_execution_id,
            "status": status,
        });
        let target = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
        let headers = [("content-type", JSON_CONTENT_TYPE), ("x-amz-target", target)];
        let call = Call { method: Method::POST, path: "/", headers: &headers, body: body.to_string().into_bytes() };
        let request =
            self.service.signed_request(&self.http, call, SystemTime::now()).map_err(|error| error.to_string())?;
        let response = request.send().await.map_err(|_| "no connection".to_owned())?;
        if response.status().is_success() { Ok(()) } else { Err(format!("status {}", response.status().as_u16())) }
    }
}
