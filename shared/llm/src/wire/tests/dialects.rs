//! The operator's options as every provider receives them: the cases of `fixtures/dialects.jsonl`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use platform::settings::Settings;
use serde_json::{Map, Value, json};

use super::super::*;
use crate::providers::{self, PROVIDERS};
use crate::{Cloud, GenerationParams, ModelConfig, Models};

#[derive(serde::Deserialize)]
struct Case {
    /// The name of the row; `null` for an unknown endpoint.
    provider: Option<String>,
    model: String,
    /// As in `MODELS`, if it is not that of the row.
    wire: Option<Wire>,
    /// As in `MODEL_OPTIONS`.
    options: Map<String, Value>,
    /// The expected fields of the request.
    sent: Value,
}

fn cases() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialects.jsonl");
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Case {
    fn config(&self) -> ModelConfig {
        let row = PROVIDERS.iter().find(|row| Some(row.name) == self.provider.as_deref());
        let wire = self.wire.or(row.map(|row| row.wire)).unwrap_or_default();
        // A cloud is named in the model's row.
        let cloud: Option<Cloud> = serde_json::from_value(json!(self.provider)).ok();
        let mut models = json!([{"name": "x", "baseUrl": "http://localhost", "wire": wire, "model": self.model}]);
        if cloud.is_some() {
            (models[0]["provider"], models[0]["apiKeyVar"]) = (json!(cloud), json!("KEY"));
        }
        let mut options = self.options.clone();
        options.extend(row.filter(|_| cloud.is_none()).map(|row| ("provider".to_owned(), row.name.into())));
        let options = json!({ "x": options });
        let pairs = [("MODELS", models.to_string()), ("MODEL_OPTIONS", options.to_string()), ("KEY", "k".to_owned())];
        let settings = Settings::from_pairs(pairs);
        let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
        models.default_model().unwrap().config().clone()
    }

    /// Returns the fields of a request except the conversation.
    fn sent(&self) -> Value {
        let config = self.config();
        let quirks = Quirks::new(providers::provider_of(&config), &config, &GenerationParams::default());
        let request = WireRequest { model: "m", origin: "o", prompt: &Prompt::default(), quirks };
        let encoded = encode(request).unwrap();
        let mut fields: Map<String, Value> = serde_json::from_slice(&encoded.body).unwrap();
        for name in ["model", "messages", "contents", "input", "store", "stream", "stream_options"] {
            fields.remove(name);
        }
        fields.into()
    }
}

#[test]
fn every_provider_receives_options_in_its_dialect() {
    for case in cases() {
        assert_eq!(case.sent(), case.sent, "{:?} {} {:?}", case.provider, case.model, case.options);
    }
}

#[test]
fn every_provider_has_cases() {
    let covered: BTreeSet<_> = cases().into_iter().filter_map(|case| case.provider).collect();
    let rows: BTreeSet<_> = PROVIDERS.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(covered, rows);
}
