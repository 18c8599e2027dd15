use std::collections::BTreeMap;
use std::time::Duration;

use agent::{Agent, PreSearch, Turn};
use domain::{HistoryTurn, Language, Source, Summary, ToolChoice, ToolExample, ToolSpec};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use platform::settings::Settings;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tools::{ToolBinding, ToolRegistry};

use super::model::RecordedModel;

/// The version of the format that this program writes and reads.
pub(crate) const VERSION: u32 = 1;

/// Numeric settings that a replay needs in addition to the fields of the head.
const TIMEOUT_SETTINGS: [&str; 3] = ["MODEL_FIRST_BYTE_SECONDS", "MODEL_IDLE_SECONDS", "MODEL_PROGRESS_SECONDS"];

/// First line of a recording: the inputs of a turn, without any key, address or user name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the format")]
pub(crate) struct Head {
    /// [`VERSION`].
    pub(crate) recording: u32,
    /// The product's version.
    pub(crate) product: String,
    /// Time of the recording, as in RFC 3339: UTC, with as many digits after the second as it has.
    pub(crate) at: String,
    /// Whether personal data was masked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) masked: bool,
    /// Maximum length of recorded tool results in characters, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result_chars: Option<usize>,
    /// The turn's id.
    pub(crate) turn: String,
    /// The first model, then the failover models.
    pub(crate) models: Vec<RecordedModel>,
    /// Timeout settings of model calls, if set.
    pub(crate) timers: BTreeMap<String, String>,
    /// Time until the turn's deadline, in milliseconds.
    pub(crate) left_ms: u64,
    pub(crate) system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) added_prompt: Option<String>,
    /// The language of the prompts; Chinese in recordings without one.
    #[serde(default)]
    pub(crate) language: Language,
    /// The IANA name of the user's time zone; UTC in recordings without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time_zone: Option<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) max_rounds: Option<u32>,
    pub(crate) history_tokens: u64,
    pub(crate) summarise: bool,
    /// Whether prefetch was on, so that credits may include a search that no call used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pre_search: bool,
    /// Whether the results of a search were in the first prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) search_context: bool,
    pub(crate) today: String,
    pub(crate) summary: Option<Summary>,
    /// The pages of earlier turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<Source>,
    /// The highest number of a page of earlier turns.
    #[serde(default)]
    pub(crate) last_source: usize,
    pub(crate) history: Vec<HistoryTurn>,
    pub(crate) question: String,
}

/// A tool as described to the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tool {
    #[serde(flatten)]
    spec: ToolSpec,
    examples: Vec<ToolExample>,
    /// Whether its result is the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    direct: bool,
}

impl Head {
    pub(super) fn of(agent: &Agent, turn: &Turn<'_>, settings: &Settings) -> Self {
        let earlier_sources = turn.context.sources.all();
        let left = turn.context.deadline.saturating_duration_since(Instant::now());
        Self {
            recording: VERSION,
            product: env!("CARGO_PKG_VERSION").to_owned(),
            at: Timestamp::now().to_string(),
            masked: false,
            result_chars: None,
            turn: turn.id.clone(),
            models: turn.models.iter().map(RecordedModel::of).collect(),
            timers: timers(settings),
            left_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            system_prompt: agent.system_prompt_in(turn.context.language).map(str::to_owned),
            added_prompt: agent.added_prompt.clone(),
            language: turn.context.language,
            time_zone: turn.context.time_zone.iana_name().map(str::to_owned),
            tools: Tool::all(&agent.tools, turn.context.language),
            tool_choice: turn.tool_choice.clone(),
            max_rounds: agent.max_rounds,
            history_tokens: agent.history_tokens,
            summarise: agent.summarise,
            pre_search: agent.pre_search == PreSearch::Concurrent,
            search_context: agent.pre_search == PreSearch::Context,
            today: turn.today.clone(),
            summary: turn.summary.clone(),
            sources: earlier_sources.sources,
            last_source: earlier_sources.last,
            history: turn.history.clone(),
            question: turn.text.clone(),
        }
    }

    /// The user's time zone.
    pub(crate) fn time_zone(&self) -> TimeZone {
        self.time_zone.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
    }

    /// Time until the turn's deadline.
    pub(crate) fn left(&self) -> Duration {
        Duration::from_millis(self.left_ms)
    }
}

fn timers(settings: &Settings) -> BTreeMap<String, String> {
    TIMEOUT_SETTINGS.iter().filter_map(|name| Some(((*name).to_owned(), settings.var(name)?.to_owned()))).collect()
}

impl Tool {
    fn all(registry: &ToolRegistry, language: Language) -> Vec<Self> {
        let tool = |spec: &ToolSpec| Self {
            examples: spec.examples.clone(),
            direct: registry.is_direct(&spec.name),
            spec: spec.clone(),
        };
        registry.specs(language).iter().map(tool).collect()
    }

    /// The tool's declaration.
    pub(crate) fn spec(&self) -> ToolSpec {
        ToolSpec { examples: self.examples.clone(), ..self.spec.clone() }
    }

    /// The tool's binding to the agent.
    pub(crate) fn binding(&self) -> ToolBinding {
        ToolBinding { name: self.spec.name.clone(), direct: self.direct, ..ToolBinding::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_recording_is_in_rfc_3339() {
        for (nanoseconds, expected) in [
            (0, "2027-01-15T08:00:00Z"),
            (120_000_000, "2027-01-15T08:00:00.12Z"),
            (123_456_789, "2027-01-15T08:00:00.123456789Z"),
            (7, "2027-01-15T08:00:00.000000007Z"),
        ] {
            assert_eq!(Timestamp::new(1_800_000_000, nanoseconds).unwrap().to_string(), expected);
        }
    }
}
