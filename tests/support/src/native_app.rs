use std::ops::Deref;

use serde_json::{Value, json};

use crate::{FakeModel, MODEL, MODEL_KEY, TestApp};

/// The product with the default model `native`, whose settings choose native tools.
pub struct NativeApp {
    /// The product.
    pub app: TestApp,
    /// The endpoint of the model `native`.
    pub model: FakeModel,
}

impl NativeApp {
    /// Starts the product with an empty store in memory.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Like [`NativeApp::start`], with additional settings; a later one of the same name wins.
    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        let model = FakeModel::start().await;
        let entries = native_models_setting(&model, MODEL);
        let own = [("MODELS", &*entries), ("NATIVE_KEY", MODEL_KEY), ("DEFAULT_MODEL", "native")];
        let app = TestApp::start_with(&[&own, settings].concat()).await;
        Self { app, model }
    }

    /// The messages of the last request after the system prompt.
    pub fn last_messages(&self) -> Vec<Value> {
        let request = self.model.requests().pop().expect("the model received a request");
        request.body["messages"].as_array().expect("a request has messages")[1..].to_vec()
    }
}

/// Tests call the client directly on the app.
impl Deref for NativeApp {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

/// A `MODELS` setting with this model as `native`, with native tools.
pub fn native_models_setting(model: &FakeModel, id: &str) -> String {
    let entry =
        json!({ "name": "native", "baseUrl": model.url(), "model": id, "apiKeyVar": "NATIVE_KEY", "tools": "native" });
    json!([entry]).to_string()
}
