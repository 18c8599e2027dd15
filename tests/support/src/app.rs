use std::net::Ipv4Addr;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use platform::settings::Settings;
use server::{Data, Options, Server};
use tempfile::TempDir;

use crate::{Client, FakeModel, FakeTavily, MODEL, MODEL_KEY, SEARCH_KEY, with_timeout};

/// A rate limit that no test reaches by default.
const NO_LIMIT: &str = "1000000/60s";

/// The whole product in the test's process, on its own port, with a fake model and a fake search as upstreams.
///
/// It dereferences to the [`Client`] of the caller `local`; [`Client::as_user`] gives clients of other callers.
pub struct TestApp {
    /// The endpoint of the model `openai`.
    pub model: FakeModel,
    /// The endpoint of the search.
    pub search: FakeTavily,
    client: Client,
    server: Option<Server>,
    settings: Vec<(String, String)>,
    folder: Option<TempDir>,
}

impl TestApp {
    /// Starts the product with an empty store in memory.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts the product with additional settings; a later one of the same name wins.
    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::launch(settings, None).await
    }

    /// Starts the product with a store in its own folder, which survives [`TestApp::restart`].
    pub async fn start_on_disk() -> Self {
        Self::start_on_disk_with(&[]).await
    }

    /// Like [`TestApp::start_on_disk`], with additional settings.
    pub async fn start_on_disk_with(settings: &[(&str, &str)]) -> Self {
        Self::launch(settings, Some(TempDir::new().expect("a temporary folder can be made"))).await
    }

    async fn launch(more: &[(&str, &str)], folder: Option<TempDir>) -> Self {
        let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
        let mut settings = default_settings(&model, &search);
        settings.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let server = start_server(&settings, folder.as_ref()).await;
        Self { client: Client::new(&server.url()), model, search, server: Some(server), settings, folder }
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        self.folder.as_ref().expect("the store is kept on disk").path()
    }

    /// A clone of the client of the caller `local`, for another task.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Shuts the server down gracefully.
    pub async fn shut_down(&mut self) {
        if let Some(server) = self.server.take() {
            with_timeout("the server to shut down", server.shut_down()).await;
        }
    }

    /// Shuts the server down and starts another one on the same data.
    pub async fn restart(&mut self) {
        self.restart_with(&[]).await;
    }

    /// Like [`TestApp::restart`], with additional settings.
    pub async fn restart_with(&mut self, more: &[(&str, &str)]) {
        self.settings.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.shut_down().await;
        let server = start_server(&self.settings, self.folder.as_ref()).await;
        self.client = Client::new(&server.url());
        self.server = Some(server);
    }
}

/// Tests call the client directly on the app.
impl Deref for TestApp {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

fn default_settings(model: &FakeModel, search: &FakeTavily) -> Vec<(String, String)> {
    let (model, search) = (model.url(), search.url());
    let settings = [
        ("OPENAI_BASE_URL", model.as_str()),
        ("OPENAI_MODEL", MODEL),
        ("OPENAI_API_KEY", MODEL_KEY),
        // Tests script the requests to the model one by one.
        ("TITLE_MODEL", "none"),
        ("TAVILY_BASE_URL", &search),
        ("TAVILY_API_KEY", SEARCH_KEY),
        ("CHAT_RATE_LIMIT", NO_LIMIT),
        ("SEARCH_RATE_LIMIT", NO_LIMIT),
    ];
    settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

async fn start_server(settings: &[(String, String)], folder: Option<&TempDir>) -> Server {
    let data = folder.map_or(Data::Memory, |folder| Data::Folder(PathBuf::from(folder.path())));
    let options = Options {
        host: Ipv4Addr::LOCALHOST.into(),
        port: 0,
        data,
        dynamodb: None,
        settings: Settings::from_pairs(settings.iter().cloned()),
    };
    // The future of a whole server is too large to lie on the stack of each test.
    with_timeout("the server to start", Box::pin(Server::start(options))).await.expect("the product starts")
}
