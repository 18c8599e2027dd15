use std::time::SystemTime;

use secrecy::ExposeSecret;
use settings::Settings;
use store::{ApiKey, NewKey, Store, TableNames};
use support::{Answer, TestApp};
use tokio::net::TcpListener;

/// The product and the store on its database.
pub(crate) struct Product {
    pub(crate) app: TestApp,
    pub(crate) store: Store,
}

pub(crate) async fn product(settings: &[(&str, &str)]) -> Product {
    let endpoint = database().await;
    let endpoint = ("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str());
    let app = TestApp::with(&[settings, &[endpoint]].concat()).await;
    let settings = Settings::from_pairs([endpoint]);
    let names = TableNames::from_settings(&settings).unwrap();
    Product { app, store: Store::new(&store::sdk_config(&settings).unwrap(), names) }
}

pub(crate) async fn with_keys() -> Product {
    with_keys_and(&[]).await
}

pub(crate) async fn with_keys_and(settings: &[(&str, &str)]) -> Product {
    product(&[settings, &[("AUTH", "api_key")]].concat()).await
}

/// Serves an empty database; returns its URL.
pub(crate) async fn database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()));
    endpoint
}

impl Product {
    pub(crate) async fn key(&self, owner: &str, expires: Option<SystemTime>) -> ApiKey {
        let key = ApiKey::generate().unwrap();
        let new = NewKey { owner: owner.to_owned(), administrator: false, expires };
        self.store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
        key
    }

    /// The text of a new key.
    pub(crate) async fn key_text(&self, owner: &str) -> String {
        text(&self.key(owner, None).await)
    }

    pub(super) async fn ask(
        &self,
        (method, path, body): (&str, &str, &str),
        id: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let json = [("content-type", "application/json")];
        self.app.send(method, &path.replace("{id}", id), &[headers, &json].concat(), body).await
    }
}

pub(super) fn text(key: &ApiKey) -> String {
    key.text().expose_secret().to_owned()
}
