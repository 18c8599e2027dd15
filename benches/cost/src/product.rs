use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use chat::{App, Config, Metrics};
use platform::settings::Settings;
use secrecy::ExposeSecret;
use serde_json::Value;
use store::{ApiKey, NewKey, Store, TableNames};
use support::{ApiResponse, Client, FakeModel, FakeTavily, MODEL, MODEL_KEY, SEARCH_KEY};
use tokio::net::TcpListener;
use web::Platform;

use crate::CountingDatabase;

/// The function as deployed, in this process, with default settings and API keys.
pub struct Product {
    /// The model `openai`.
    pub model: FakeModel,
    /// The search provider.
    pub search: FakeTavily,
    /// Its tables.
    pub tables: CountingDatabase,
    settings: Settings,
    client: Client,
    key: String,
    log: Log,
}

/// Totals of outgoing requests.
pub(crate) struct OutgoingTotals {
    pub(crate) searches: usize,
    /// Bytes of all request bodies.
    pub(crate) bytes: usize,
}

/// The function's log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Product {
    /// Starts it with empty tables.
    pub async fn start() -> Self {
        let (model, search, tables) =
            (FakeModel::start().await, FakeTavily::start().await, CountingDatabase::start().await);
        let settings = Settings::from_pairs([
            ("AUTH", "api_key"),
            // Earlier turns must not delay a turn: for a caller at human pace the limiter is idle.
            ("CHAT_RATE_LIMIT", "1000000/60s"),
            ("SEARCH_RATE_LIMIT", "1000000/60s"),
            ("AWS_ENDPOINT_URL_DYNAMODB", &tables.address),
            ("AWS_REGION", "local"),
            ("AWS_ACCESS_KEY_ID", "local"),
            ("AWS_SECRET_ACCESS_KEY", "local"),
            ("OPENAI_BASE_URL", &model.url()),
            ("OPENAI_MODEL", MODEL),
            ("OPENAI_API_KEY", MODEL_KEY),
            ("TITLE_MODEL", "none"),
            ("TAVILY_BASE_URL", &search.url()),
            ("TAVILY_API_KEY", SEARCH_KEY),
        ]);
        let aws = store::sdk_config(&settings).expect("an endpoint is enough");
        let names = TableNames::from_settings(&settings).expect("the default names are names");
        store::create_tables(&aws, &names).await.expect("tables can be made");
        let key = ApiKey::generate().expect("there is randomness");
        let owner = NewKey { owner: "ann".to_owned(), administrator: false, ..NewKey::default() };
        Store::new(&aws, names).keys.create(&key, &owner, SystemTime::now()).await.expect("a key can be stored");
        let key = key.text().expose_secret().to_owned();
        let (log, client) = (Log::default(), Client::new(""));
        let mut product = Self { model, search, tables, settings, client, key, log };
        product.restart().await;
        product
    }

    /// Replaces the running instance with a new one on the same tables.
    pub async fn restart(&mut self) {
        let http = platform::transport::build_client().expect("the HTTP client builds");
        let mut config = Config::from_settings(&self.settings, Platform::Local, http).expect("the settings are right");
        // Function names that CloudFormation generates have about this length.
        config.metrics = Metrics::to("lambda-chat-ChatFunction-0123456789ab", "1", self.log.clone());
        let app = App::new(config, &store::sdk_config(&self.settings).expect("an endpoint is enough"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let routes = app.router().into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        self.client = Client::new(&format!("http://{address}"));
    }

    /// Sends a request with the caller's API key, optionally with an idempotency key, and reads the whole response.
    pub async fn post(&self, path: &str, body: &Value, idempotency_key: Option<&str>) -> ApiResponse {
        let mut headers = vec![("x-api-key", self.key.as_str()), ("content-type", "application/json")];
        headers.extend(idempotency_key.map(|key| ("idempotency-key", key)));
        let answer = self.client.send("POST", path, &headers, body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    }

    /// Totals of the requests to models and the search so far.
    pub(crate) fn outgoing_totals(&self) -> OutgoingTotals {
        let of_model: usize = self.model.requests().iter().map(|request| request.request.body.len()).sum();
        let searches = self.search.requests();
        let of_search: usize = searches.iter().map(|body| body.to_string().len()).sum();
        OutgoingTotals { searches: searches.len(), bytes: of_model + of_search }
    }

    /// Takes the log output since the last call.
    pub fn take_log(&self) -> Vec<u8> {
        std::mem::take(&mut *self.log.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
