use llm::{Effort, ModelClient, Options, Thinking, Wire};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The default provider, which a replay assumes for any address.
const DEFAULT_PROVIDER: &str = "openai-compatible";

const MILLION: u64 = 1_000_000;

/// A model of the turn with its settings, without address and key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedModel {
    pub(crate) name: String,
    /// The endpoint's own name for it.
    #[serde(rename = "model")]
    id: String,
    wire: Wire,
    pub(crate) options: RecordedOptions,
}

/// A value of `MODEL_OPTIONS`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedOptions {
    /// Name of its row in the provider table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<Effort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_byte_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
}

/// Prices as decimal numbers, as written in the settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Price {
    input: Box<RawValue>,
    cached_input: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_write: Option<Box<RawValue>>,
    output: Box<RawValue>,
}

impl RecordedModel {
    pub(super) fn of(client: &ModelClient) -> Self {
        let config = client.config();
        let provider = Some(client.provider()).filter(|name| *name != DEFAULT_PROVIDER).map(str::to_owned);
        // A replay reads no list of a provider.
        let context_tokens = client.discovered_context_tokens().or(config.options.context_tokens);
        Self {
            name: config.name.clone(),
            id: config.model.clone(),
            wire: client.wire(),
            options: RecordedOptions { context_tokens, ..RecordedOptions::new(provider, &config.options) },
        }
    }

    /// Returns the element of `MODELS` for the same model at another address, without options.
    pub(crate) fn at(&self, base_url: &str) -> Value {
        json!({ "name": self.name, "model": self.id, "wire": self.wire, "baseUrl": base_url })
    }
}

impl RecordedOptions {
    fn new(provider: Option<String>, options: &Options) -> Self {
        Self {
            provider,
            thinking: options.thinking,
            effort: options.effort,
            temperature: options.temperature,
            top_p: options.top_p,
            max_tokens: options.max_tokens,
            context_tokens: options.context_tokens,
            first_byte_seconds: options.first_byte_timeout.map(|wait| wait.as_secs()),
            price: options.price.and_then(|price| Price::of(price).ok()),
        }
    }
}

impl Price {
    fn of(price: llm::Price) -> serde_json::Result<Self> {
        let decimal =
            |millionths| RawValue::from_string(format!("{}.{:06}", millionths / MILLION, millionths % MILLION));
        let (input, cached_input) = (decimal(price.input)?, decimal(price.cached_input)?);
        let cache_write = (price.cache_write != price.input).then(|| decimal(price.cache_write)).transpose()?;
        Ok(Self { input, cached_input, cache_write, output: decimal(price.output)? })
    }
}

#[cfg(test)]
mod tests {
    use llm::{ModelConfig, Models};
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
            "b": { "thinking": "on", "effort": "low", "price": { "input": 0.15, "cachedInput": 0, "output": 12.5 } }
        }"#;
        let before = configs(&models.to_string(), options);
        let elements: Vec<Value> = before.iter().map(|(model, _)| model.at("http://127.0.0.1:9")).collect();
        let options: std::collections::BTreeMap<_, _> =
            before.iter().map(|(model, _)| (&model.name, &model.options)).collect();
        let after = configs(&Value::from(elements).to_string(), &serde_json::to_string(&options).unwrap());
        for ((_, before), (model, after)) in before.iter().zip(&after) {
            assert_eq!((after.wire, &after.model, &after.name), (before.wire, &before.model, &before.name));
            let provider = model.options.provider.as_deref();
            assert_eq!(after.options.provider, provider);
            assert_eq!(Options { provider: None, ..after.options.clone() }, before.options);
        }
    }
}
