use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use agent::TurnRecorderFactory;
use attachments::Blobs;
use aws_types::SdkConfig;
use axum::Router;
use chat::{App, Config, DOCUMENTS_DIR, DocumentRoot};
use commands::CommandError;
use local_dynamodb::{Data, EmbeddedDatabase};
use platform::secrets::Secret;
use platform::settings::Settings;
use recordings::RecordingFolder;
use search::SearchConfig;
use store::{ArticleCollection, Store};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use web::{Exposure, Origins, Platform, SourceHeader};

use crate::connections::ConnectionLimits;
use crate::store_location::attachments_folder;
use crate::{banner, connections};

/// Timeout for closing connections once their streams have ended.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Configuration of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Must be loopback if authentication is off.
    pub host: IpAddr,
    /// 0 for any free port.
    pub port: u16,
    /// Storage of the embedded database, unless the settings name a DynamoDB.
    pub data: Data,
    /// Serves the embedded DynamoDB at this address.
    pub dynamodb: Option<SocketAddr>,
    /// The environment, or a test's own.
    pub settings: Settings,
}

/// A running server; it ends with [`Server::shut_down`] or with its process.
pub struct Server {
    address: SocketAddr,
    banner: String,
    app: App,
    stop: CancellationToken,
    serve_task: JoinHandle<()>,
    _embedded: Option<EmbeddedDatabase>,
    _documents: Option<TempDir>,
    /// What a server in memory stores of files.
    _files: Option<TempDir>,
}

impl Server {
    /// Reads the settings, opens the database, creates the tables and listens.
    ///
    /// # Errors
    /// Any reason why the server cannot start, as one line for the person who started it.
    pub async fn start(options: Options) -> Result<Self, CommandError> {
        connections::raise_open_files();
        let Options { host, port, data, dynamodb, mut settings } = options;
        // Read the settings first, so that an invalid one does not leave a new folder.
        let mut config = local_config(&settings)?;
        if config.auth.is_open() {
            if !host.is_loopback() {
                return Err(CommandError::wrong_use(format!(
                    "--host {host}: without authentication the server listens on loopback only, such as 127.0.0.1; \
                     AUTH=api_key requires a key of callers"
                )));
            }
            config.exposure = Exposure::LoopbackOnly;
        }
        let recordings =
            RecordingFolder::from_settings(&settings, outgoing_keys(&config), config.redactor.clone())?.map(Arc::new);
        config.recorder = recordings.clone().map(|folder| folder as Arc<dyn TurnRecorderFactory>);
        let listener = listen(SocketAddr::new(host, port)).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let embedded = match settings.var("AWS_ENDPOINT_URL_DYNAMODB") {
            Some(_) => None,
            None => Some(EmbeddedDatabase::start(&data, dynamodb)?),
        };
        let aws = local_dynamodb::sdk_config(embedded.as_ref(), &mut settings)?;
        store::create_tables(&aws, &config.tables).await?;
        if config.articles.enabled.is_none() {
            config.articles.enabled = Some(has_articles(&config, &aws).await?);
        }
        let files = if data == Data::Memory { Some(TempDir::new()?) } else { None };
        config.attachments = config.attachments.or_else(|| folder_of_files(&data, files.as_ref()));
        let documents = add_demo_documents(&mut config, &settings)?;
        let demo_search = start_demo_endpoints(&mut config, &mut settings, &stop).await?;
        let data = embedded.as_ref().map(|embedded| (&data, embedded));
        let banner = banner::render(address, &config, demo_search, data, recordings.as_deref(), &settings);
        let pages = web::wrap_routes(scripted_model::page_routes(), config.origins.clone(), config.exposure);
        let app = App::new(config, &aws);
        let routes = if demo_search { scripted_model::with_own_addresses(app.router()) } else { app.router() };
        let source = SourceHeader::from_settings(&settings)?;
        let serve_task = serve(listener, pages.fallback_service(routes), source, &stop);
        Ok(Self { address, banner, app, serve_task, stop, _embedded: embedded, _documents: documents, _files: files })
    }

    /// The address to open, such as `http://127.0.0.1:3000`.
    pub fn url(&self) -> String {
        banner::url(self.address)
    }

    /// The start message.
    pub fn banner(&self) -> &str {
        &self.banner
    }

    /// Interrupts running turns, stores their partial answers, ends their streams, and closes.
    pub async fn shut_down(self) {
        self.app.shut_down().await;
        self.stop.cancel();
        let _closed = timeout(CLOSE_TIMEOUT, self.serve_task).await;
    }
}

/// Reads the whole configuration of a server or a command on this machine.
pub(crate) fn local_config(settings: &Settings) -> Result<Config, CommandError> {
    Ok(Config::from_settings(settings, Platform::Local, platform::transport::build_client()?)?)
}

fn outgoing_keys(config: &Config) -> Vec<Secret> {
    let models = config.models.iter().filter_map(|model| model.config().api_key.clone());
    let search =
        config.search.iter().flat_map(|search| search.providers.iter().filter_map(|one| one.api_key().cloned()));
    let embeddings = config.articles.embeddings.iter().filter_map(|embeddings| embeddings.api_key.clone());
    models.chain(search).chain(embeddings).chain(config.tool_secrets.env_secrets()).collect()
}

/// Whether articles were ever added to the store: then models get their search without a setting.
async fn has_articles(config: &Config, aws: &SdkConfig) -> Result<bool, CommandError> {
    let articles = Store::new(aws, config.tables.clone()).articles;
    Ok(articles.revision(&ArticleCollection::Shared).await?.is_some())
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(CommandError::of_listener(address, "--port"))
}

fn serve(listener: TcpListener, routes: Router, source: SourceHeader, stop: &CancellationToken) -> JoinHandle<()> {
    tokio::spawn(connections::serve(listener, routes, source, ConnectionLimits::of_this_process(), stop.clone()))
}

/// The folder with the content of files: in the data folder, or one that ends with the server.
fn folder_of_files(data: &Data, temporary: Option<&TempDir>) -> Option<Blobs> {
    match data {
        Data::Folder(folder) => Some(attachments_folder(folder)),
        Data::Memory => temporary.map(|folder| attachments_folder(folder.path())),
    }
}

/// Gives a demo without a folder the built-in documents, which are deleted with the result.
fn add_demo_documents(config: &mut Config, settings: &Settings) -> Result<Option<TempDir>, CommandError> {
    if config.models.iter().next().is_some() || config.documents.is_some() {
        return Ok(None);
    }
    // A folder that cannot be written only costs the demo an example.
    let Ok(folder) = scripted_model::write_documents() else { return Ok(None) };
    let mut settings = settings.clone();
    settings.set(DOCUMENTS_DIR, folder.path().display().to_string());
    config.documents = DocumentRoot::from_settings(&settings, &config.http)?;
    Ok(Some(folder))
}

/// Starts demo endpoints for the model and the search if they are not configured: real HTTP on loopback, called by the
/// same clients. Returns whether the search is a demo.
pub(crate) async fn start_demo_endpoints(
    config: &mut Config,
    settings: &mut Settings,
    stop: &CancellationToken,
) -> Result<bool, CommandError> {
    let (no_model, no_search) = (config.models.iter().next().is_none(), config.search.is_none());
    if !no_model && !no_search {
        return Ok(false);
    }
    let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let base = format!("http://{}/demo", listener.local_addr()?);
    // Browsers' pages and foreign host names cannot reach it.
    let routes = web::wrap_routes(scripted_model::router(), Origins::default(), Exposure::LoopbackOnly);
    serve(listener, routes, SourceHeader::default(), stop);
    if no_model {
        config.models = config.models.clone().with_demo(&format!("{base}/model"));
    }
    if no_search {
        settings.set("TAVILY_BASE_URL", format!("{base}/search"));
        config.search = SearchConfig::from_settings(settings)?;
    }
    Ok(no_search)
}
