use std::collections::BTreeMap;
use std::future::ready;
use std::time::{Duration, SystemTime};

use agent::ToolModes;
use commands::CommandError;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use llm::{AttemptEnd, EndpointHealth, ModelClient, Models, ToolMode};
use platform::settings::Settings;
use serde_json::Value;

use super::Speed;
use super::script::Script;
use super::server::Server;
use crate::recording::{Entry, RecordedTurn};

/// How long a skipped endpoint counts as down: the maximum.
const DOWN_TIME: Duration = Duration::from_secs(119);

/// How long ago the down time of a probed endpoint ended.
const PROBE_AGE: Duration = Duration::from_secs(1);

impl ToolModes for Script {
    fn tool_mode<'a>(&'a self, model: &'a ModelClient) -> BoxFuture<'a, ToolMode> {
        let path = self.paths.get(&model.config().name).copied().unwrap_or(ToolMode::Prompted);
        ready(path).boxed()
    }
}

/// Creates clients of the recorded models; each has its own path on the server.
pub(super) fn clients(
    recorded: &RecordedTurn,
    server: &Server,
    speed: Speed,
) -> Result<Vec<ModelClient>, CommandError> {
    let mut models = recorded.head.models.clone();
    let entries: Vec<Value> = models.iter().enumerate().map(|(at, model)| model.at(&server.url(at))).collect();
    let mut settings = Settings::from_pairs(recorded.head.timers.clone());
    settings.set("MODELS", Value::from(entries).to_string());
    if speed == Speed::Fast {
        shorten_timeouts(recorded, &mut settings);
        for model in &mut models {
            model.options.remove("firstByteSeconds");
        }
    }
    let options: BTreeMap<_, _> = models.iter().map(|model| (&model.name, &model.options)).collect();
    settings.set("MODEL_OPTIONS", serde_json::to_string(&options).unwrap_or_default());
    let all = Models::from_settings(&settings, platform::transport::build_client()?)
        .map_err(|error| CommandError::wrong_use(format!("the recording's models cannot be set up: {error}")))?;
    Ok(models.iter().filter_map(|model| all.get(&model.name).cloned()).collect())
}

/// Sets timeouts that no response on loopback reaches, or short ones if a recorded attempt timed out.
fn shorten_timeouts(recorded: &RecordedTurn, settings: &mut Settings) {
    let silent = |entry: &Entry| matches!(entry, Entry::End { how: AttemptEnd::TimedOut, .. });
    let seconds = if recorded.lines.iter().any(|line| silent(&line.entry)) { "2" } else { "30" };
    settings.set("MODEL_FIRST_BYTE_SECONDS", seconds);
    settings.set("MODEL_IDLE_SECONDS", seconds);
}

/// Sets the recorded health of the clients' endpoints: skipped ones are down, and those attempted only once are being
/// probed.
pub(super) async fn set_endpoint_health(clients: &[ModelClient], script: &Script) {
    let was_called = |client: &ModelClient| script.paths.contains_key(&client.config().name);
    let last = clients.iter().rposition(was_called).unwrap_or_default();
    let changed = SystemTime::now();
    for (at, client) in clients.iter().enumerate() {
        let down_until = match was_called(client) {
            false if at < last => changed + DOWN_TIME,
            true if script.is_attempted_once(&client.config().name) => changed - PROBE_AGE,
            _ => continue,
        };
        let health = EndpointHealth { changed_at: changed, down_until: Some(down_until) };
        client.refresh_health(changed, ready(Some(health))).await;
    }
}
