use std::time::{Duration, SystemTime, UNIX_EPOCH};

use articles::{AddError, ArticleSearch, ArticleSource, ArticleWriter, ArticlesConfig, Format, Found, article_id};
use domain::{Groups, Membership, Owner};
use dynoxide::Database;
use platform::settings::Settings;
use store::{ArticleCollection, Store, StoredArticle, TableNames, create_tables, sdk_config};
use tokio::net::TcpListener;

use crate::embeddings_server::{EmbeddingsServer, KEY};

pub(crate) async fn store() -> Store {
    open(&database().await)
}

/// Starts an empty database; returns its endpoint.
pub(crate) async fn database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    let config = sdk_config(&settings_of(&endpoint)).unwrap();
    create_tables(&config, &table_names()).await.unwrap();
    endpoint
}

/// The store of a database.
pub(crate) fn open(endpoint: &str) -> Store {
    Store::new(&sdk_config(&settings_of(endpoint)).unwrap(), table_names())
}

fn settings_of(endpoint: &str) -> Settings {
    Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)])
}

fn table_names() -> TableNames {
    TableNames { data: "data".to_owned(), ephemeral: "ephemeral".to_owned() }
}

/// The configuration with a model of this name, or without embeddings.
pub(crate) fn config(server: Option<(&EmbeddingsServer, &str)>) -> ArticlesConfig {
    let pairs = server.map(|(server, model)| {
        [("EMBEDDINGS_BASE_URL", server.url.as_str()), ("EMBEDDINGS_MODEL", model), ("EMBEDDINGS_API_KEY", KEY)]
    });
    ArticlesConfig::from_settings(&Settings::from_pairs(pairs.into_iter().flatten())).unwrap()
}

pub(crate) fn writer(store: &Store, config: &ArticlesConfig) -> ArticleWriter {
    ArticleWriter::new(store.articles.clone(), config, &platform::transport::build_client().unwrap())
}

pub(crate) fn searcher(store: &Store, config: &ArticlesConfig) -> ArticleSearch {
    ArticleSearch::new(store.articles.clone(), config, &platform::transport::build_client().unwrap())
}

pub(crate) fn markdown(key: &str, text: &str) -> ArticleSource {
    ArticleSource {
        key: key.to_owned(),
        title: None,
        url: Some(format!("https://example.com/{key}")),
        groups: None,
        text: text.to_owned(),
        format: Format::Markdown,
    }
}

/// Adds a document as the command line does, with its stored article.
pub(crate) async fn add(
    store: &Store,
    writer: &ArticleWriter,
    collection: &ArticleCollection,
    source: &ArticleSource,
) -> Result<Option<StoredArticle>, AddError> {
    let known = store.articles.get(collection, &article_id(&source.key)).await.unwrap();
    writer.add(&ann(), collection, source.clone(), known.as_ref(), at(0)).await
}

pub(crate) fn titles(found: &Found) -> Vec<&str> {
    found.articles.iter().map(|article| article.title.as_str()).collect()
}

/// A caller in these groups.
pub(crate) fn member(groups: &[&str]) -> Membership {
    let groups = Groups::new(groups.iter().map(|name| (*name).to_owned())).unwrap();
    Membership { groups, is_administrator: false }
}

pub(crate) fn ann() -> Owner {
    Owner::key_holder("ann")
}

/// A time, in seconds after the tests' epoch.
pub(crate) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}
