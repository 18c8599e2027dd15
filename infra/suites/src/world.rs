use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::SystemTime;

use dynoxide::Database;
use platform::settings::Settings;
use secrecy::ExposeSecret;
use store::{ApiKey, NewKey, Store, TableNames};
use support::{FakeModel, FakeTavily, MODEL, MODEL_KEY, SEARCH_KEY};
use tokio::net::{TcpListener, TcpStream};

use crate::tool::LOOPBACK;

/// Fake environment of a function: a scripted model, a scripted search and an empty database.
pub struct FakeEnvironment {
    /// The model `openai`.
    pub model: FakeModel,
    /// The search provider.
    pub search: FakeTavily,
    /// Endpoint of its DynamoDB; both tables exist.
    pub database: String,
}

impl FakeEnvironment {
    /// Starts all servers on loopback.
    pub async fn start() -> Self {
        Self { model: FakeModel::start().await, search: FakeTavily::start().await, database: start_database().await }
    }

    /// Settings of a function in this environment, without authentication.
    pub fn settings(&self) -> HashMap<String, String> {
        let settings = [
            ("AUTH", "none"),
            ("AUTH_NONE_ON_LAMBDA", "yes"),
            ("ALLOW_PRIVATE_UPSTREAMS", "yes"),
            ("AWS_ENDPOINT_URL_DYNAMODB", &self.database),
            ("OPENAI_BASE_URL", &self.model.url()),
            ("OPENAI_MODEL", MODEL),
            ("OPENAI_API_KEY", MODEL_KEY),
            ("TITLE_MODEL", "none"),
            ("TAVILY_BASE_URL", &self.search.url()),
            ("TAVILY_API_KEY", SEARCH_KEY),
        ];
        settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    /// Creates an administrator's key as the command line does; the function itself may not.
    pub async fn new_key(&self, owner: &str) -> String {
        let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", &self.database)]);
        let names = TableNames::from_settings(&settings).expect("the default names are names");
        let store = Store::new(&store::sdk_config(&settings).expect("an endpoint is enough"), names);
        let key = ApiKey::generate().expect("there is randomness");
        let owner = NewKey { owner: owner.to_owned(), administrator: true, ..NewKey::default() };
        store.keys.create(&key, &owner, SystemTime::now()).await.expect("a key can be stored");
        key.text().expose_secret().to_owned()
    }
}

async fn start_database() -> String {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.expect("loopback has a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("a bound listener has an address"));
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().expect("a database in memory opens")));
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", &endpoint)]);
    let names = TableNames::from_settings(&settings).expect("the default names are names");
    let config = store::sdk_config(&settings).expect("an endpoint is enough");
    store::create_tables(&config, &names).await.expect("tables can be made");
    endpoint
}

/// Forwards connections from a free port of `host` to `target`, for programs that cannot reach loopback.
pub async fn forward(host: IpAddr, target: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind((host, 0)).await.expect("the host has a free port");
    let address = listener.local_addr().expect("a bound listener has an address");
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut to = TcpStream::connect(target).await?;
                tokio::io::copy_bidirectional(&mut from, &mut to).await
            });
        }
    });
    address
}
