use std::time::SystemTime;

use domain::Groups;
use platform::settings::Settings;
use secrecy::ExposeSecret;
use store::{ApiKey, NewKey, Store, TableNames};
use support::{ApiResponse, Client, TestApp};
use tokio::net::TcpListener;

/// The product and the store on its database.
pub(crate) struct AppWithStore {
    pub(crate) app: TestApp,
    pub(crate) store: Store,
}

pub(crate) async fn start_with_store(settings: &[(&str, &str)]) -> AppWithStore {
    let endpoint = start_database().await;
    let endpoint = ("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str());
    let app = TestApp::start_with(&[settings, &[endpoint]].concat()).await;
    let settings = Settings::from_pairs([endpoint]);
    let names = TableNames::from_settings(&settings).unwrap();
    AppWithStore { app, store: Store::new(&store::sdk_config(&settings).unwrap(), names) }
}

pub(crate) async fn start_with_api_keys() -> AppWithStore {
    start_with_api_keys_and(&[]).await
}

pub(crate) async fn start_with_api_keys_and(settings: &[(&str, &str)]) -> AppWithStore {
    start_with_store(&[settings, &[("AUTH", "api_key")]].concat()).await
}

/// Serves an empty database; returns its URL.
pub(crate) async fn start_database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()));
    endpoint
}

impl AppWithStore {
    pub(crate) async fn create_key(&self, owner: &str, expires: Option<SystemTime>) -> ApiKey {
        let key = ApiKey::generate().unwrap();
        let new = NewKey { owner: owner.to_owned(), administrator: false, expires, ..NewKey::default() };
        self.store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
        key
    }

    /// The product for the holder of a new key with these groups.
    pub(crate) async fn member(&self, owner: &str, administrator: bool, groups: &[&str]) -> Client {
        let key = ApiKey::generate().unwrap();
        let groups = Groups::new(groups.iter().map(|name| (*name).to_owned())).unwrap();
        let new = NewKey { owner: owner.to_owned(), administrator, groups, ..NewKey::default() };
        self.store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
        self.app.with_key(&expose_key(&key))
    }

    /// The text of a new key.
    pub(crate) async fn create_key_text(&self, owner: &str) -> String {
        expose_key(&self.create_key(owner, None).await)
    }

    pub(super) async fn send_request(
        &self,
        (method, path, body): (&str, &str, &str),
        id: &str,
        headers: &[(&str, &str)],
    ) -> ApiResponse {
        let json = [("content-type", "application/json")];
        self.app.send(method, &path.replace("{id}", id), &[headers, &json].concat(), body).await
    }
}

pub(super) fn expose_key(key: &ApiKey) -> String {
    key.text().expose_secret().to_owned()
}
