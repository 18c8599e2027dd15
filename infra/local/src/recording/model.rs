use model::{ModelClient, Wire};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A model of the turn: what an element of `MODELS` says of it, without address and key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Model {
    pub(crate) name: String,
    /// The endpoint's own name for it.
    #[serde(rename = "model")]
    id: String,
    wire: Wire,
    /// The row of particulars.
    provider: String,
}

impl Model {
    pub(super) fn of(client: &ModelClient) -> Self {
        let config = client.config();
        Self {
            name: config.name.clone(),
            id: config.model.clone(),
            wire: config.wire,
            provider: client.provider().to_owned(),
        }
    }

    /// The element of `MODELS` that gives the same model at another address.
    pub(crate) fn at(&self, base_url: &str) -> Value {
        json!({ "name": self.name, "model": self.id, "wire": self.wire, "baseUrl": base_url })
    }
}
