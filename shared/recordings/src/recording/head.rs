use std::collections::BTreeMap;
use std::time::Duration;

use agent::{Agent, PreSearch, Turn};
use commands::decimal;
use domain::{HistoryTurn, Language, Source, Summary, ToolChoice, ToolExample, ToolSpec};
use jiff::Timestamp;
use llm::{ModelClient, Price, Wire};
use platform::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::time::Instant;
use tools::{TimeZone, ToolBinding, ToolRegistry};

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
    pub(crate) product: String,
    /// Time of the recording, as in RFC 3339: UTC, with as many digits after the second as it has.
    pub(crate) at: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) masked: bool,
    /// Maximum length of recorded tool results in characters, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result_chars: Option<usize>,
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
    #[serde(default)]
    pub(crate) searches_deeply: bool,
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
            searches_deeply: agent.searches_deeply,
            language: turn.context.language,
            time_zone: Some(turn.context.time_zone.name().to_owned()),
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

    pub(crate) fn time_zone(&self) -> TimeZone {
        self.time_zone.as_deref().and_then(TimeZone::find).unwrap_or(TimeZone::UTC)
    }

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

    pub(crate) fn spec(&self) -> ToolSpec {
        ToolSpec { examples: self.examples.clone(), ..self.spec.clone() }
    }

    pub(crate) fn binding(&self) -> ToolBinding {
        ToolBinding { name: self.spec.name.clone(), direct: self.direct, ..ToolBinding::default() }
    }
}

/// The default provider, which a replay assumes for any address.
const DEFAULT_PROVIDER: &str = "openai-compatible";

/// A model of the turn with its settings, without address and key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedModel {
    pub(crate) name: String,
    /// The endpoint's own name for it.
    #[serde(rename = "model")]
    id: String,
    wire: Wire,
    /// Its value in `MODEL_OPTIONS`.
    pub(crate) options: BTreeMap<String, Box<RawValue>>,
}

impl RecordedModel {
    pub(super) fn of(client: &ModelClient) -> Self {
        let config = client.config();
        let options = &config.options;
        let provider = Some(client.provider()).filter(|name| *name != DEFAULT_PROVIDER);
        // A replay reads no list of a provider.
        let context_tokens = client.discovered_context_tokens().or(options.context_tokens);
        let fields = [
            ("provider", raw(provider)),
            ("thinking", raw(options.thinking)),
            ("thinkingOpen", raw(options.thinking_open)),
            ("effort", raw(options.effort)),
            ("temperature", raw(options.temperature)),
            ("topP", raw(options.top_p)),
            ("maxTokens", raw(options.max_tokens)),
            ("contextTokens", raw(context_tokens)),
            ("firstByteSeconds", raw(options.first_byte_timeout.map(|wait| wait.as_secs()))),
            ("price", options.price.and_then(raw_price)),
        ];
        let options = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        Self { name: config.name.clone(), id: config.model.clone(), wire: client.wire(), options }
    }

    /// Returns the element of `MODELS` for the same model at another address, without options.
    pub(crate) fn at(&self, base_url: &str) -> Value {
        json!({ "name": self.name, "model": self.id, "wire": self.wire, "baseUrl": base_url })
    }
}

fn raw(value: Option<impl Serialize>) -> Option<Box<RawValue>> {
    to_raw_value(&value?).ok()
}

/// Prices as decimal numbers, as written in the settings: a binary fraction would not be the exact amount.
fn raw_price(price: Price) -> Option<Box<RawValue>> {
    let [input, cached, write, output] =
        [price.input, price.cached_input, price.cache_write, price.output].map(decimal);
    let fields = format!(r#"{{"input":{input},"cachedInput":{cached},"cacheWrite":{write},"output":{output}}}"#);
    RawValue::from_string(fields).ok()
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

#[cfg(test)]
mod model_tests {
    use llm::{ModelConfig, Models, Options};
    use platform::settings::Settings;

    use super::*;

    fn configs(models: &str, options: &str) -> Vec<(RecordedModel, ModelConfig)> {
        let settings = Settings::from_pairs([("MODELS", models), ("MODEL_OPTIONS", options)]);
        let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
        models.iter().map(|client| (RecordedModel::of(client), client.config().clone())).collect()
    }

    #[test]
    fn recorded_model_is_configured_with_the_same_options() {
        let models = json!([
            { "name": "a", "model": "m", "baseUrl": "https://api.openai.com/v1" },
            { "name": "b", "model": "m", "baseUrl": "https://id.example", "wire": "anthropic" },
            { "name": "c", "model": "m", "baseUrl": "https://id.example" },
        ]);
        let options = r#"{
            "a": { "temperature": 0.3, "topP": 1, "maxTokens": 9, "contextTokens": 10, "firstByteSeconds": 7,
                   "price": { "input": 2, "output": 0.000001 } },
            "b": { "thinking": "on", "thinkingOpen": true, "effort": "low", "price": { "input": 0.15, "cachedInput": 0, "output": 12.5 } }
        }"#;
        let before = configs(&models.to_string(), options);
        let elements: Vec<Value> = before.iter().map(|(model, _)| model.at("http://127.0.0.1:9")).collect();
        let options: BTreeMap<_, _> = before.iter().map(|(model, _)| (&model.name, &model.options)).collect();
        let after = configs(&Value::from(elements).to_string(), &serde_json::to_string(&options).unwrap());
        for ((_, before), (model, after)) in before.iter().zip(&after) {
            assert_eq!((after.wire, &after.model, &after.name), (before.wire, &before.model, &before.name));
            let provider = model.options.get("provider").map(|name| serde_json::from_str(name.get()).unwrap());
            assert_eq!(after.options.provider, provider);
            assert_eq!(Options { provider: None, ..after.options.clone() }, before.options);
        }
    }
}
