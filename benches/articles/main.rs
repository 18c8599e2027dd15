//! Measures the search of articles: time to add, first and further searches, and the memory of the copy.
//!
//! `cargo bench -p benches --bench articles`; numbers of chunks may follow after `--`, by default 10,000 and 100,000.
//! Database, embeddings endpoint and search run in this process, over loopback: a first search reads the collection
//! through DynamoDB's protocol, but without a network.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement that fails ends the program, and its result is printed"
)]

use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime};

use articles::{ArticleSearch, ArticleSource, ArticleWriter, ArticlesConfig, Format};
use axum::routing::post;
use axum::{Json, Router};
use domain::Owner;
use platform::settings::Settings;
use serde_json::{Value, json};
use store::{ArticleCollection, Store, TableNames, create_tables, sdk_config};
use tokio::net::TcpListener;

const CHUNKS: [usize; 2] = [10_000, 100_000];

/// The length of the vectors.
const DIMENSIONS: u32 = 1024;

/// The number of chunks of an article.
const CHUNKS_OF_ARTICLE: usize = 20;

/// The number of sentences of about 44 characters that fill a chunk.
const SENTENCES_OF_CHUNK: usize = 15;

/// The number of different terms in the texts.
const TERMS: u64 = 20_000;

/// The number of searches after the first.
const SEARCHES: u32 = 20;

/// A linear congruential generator, so that each run has the same texts.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A term; low numbers are frequent.
    fn term(&mut self) -> String {
        let (one, other) = (self.next() % TERMS, self.next() % TERMS);
        format!("t{:05}", one * other / TERMS)
    }
}

fn main() {
    let chosen: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let counts = if chosen.is_empty() { CHUNKS.to_vec() } else { chosen };
    let runtime = tokio::runtime::Runtime::new().expect("threads can be made");
    println!(
        "{:>8} {:>10} {:>10} {:>12} {:>12} {:>12}",
        "chunks", "add s", "first ms", "terms ms", "both ms", "copy MiB"
    );
    for count in counts {
        runtime.block_on(measure(count));
    }
}

async fn measure(count: usize) {
    let (store, config) = (start_store().await, start_embeddings().await);
    let plain = ArticlesConfig { embeddings: None, ..config.clone() };
    let begun = Instant::now();
    let chunks = fill(&store, &config, count).await;
    let added = begun.elapsed();
    let before = resident_mib();
    let search = searcher(&store, &config);
    let first = time_search(&search, "t00017 t04000").await;
    let copy = resident_mib() - before;
    let both = median(&search).await;
    let by_terms = searcher(&store, &plain);
    time_search(&by_terms, "t00017").await;
    let terms = median(&by_terms).await;
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{chunks:>8} {:>10.1} {:>10.0} {:>12.1} {:>12.1} {copy:>12.0}",
        added.as_secs_f64(),
        millis(first),
        millis(terms),
        millis(both)
    );
}

async fn start_store() -> Store {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    let database = dynoxide::Database::memory().expect("a database");
    tokio::spawn(dynoxide::server::serve_on(listener, database));
    let names = TableNames { data: "data".to_owned(), ephemeral: "ephemeral".to_owned() };
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)]);
    let aws = sdk_config(&settings).expect("the settings are complete");
    create_tables(&aws, &names).await.expect("tables can be made");
    Store::new(&aws, names)
}

/// Serves vectors that depend on the length of a text alone.
async fn start_embeddings() -> ArticlesConfig {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let router = Router::new().route("/embeddings", post(embed));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let pairs = [("EMBEDDINGS_MODEL", "m"), ("EMBEDDINGS_BASE_URL", url.as_str())];
    let config = ArticlesConfig::from_settings(&Settings::from_pairs(pairs)).expect("the settings are complete");
    ArticlesConfig { max_bytes: u64::MAX, ..config }
}

async fn embed(Json(request): Json<Value>) -> Json<Value> {
    let row = |text: &Value| {
        let seed = text.as_str().map_or(1, str::len);
        let mut random = Random(u64::try_from(seed).unwrap_or_default());
        let vector: Vec<u64> = (0..DIMENSIONS).map(|_| random.next() % 1000).collect();
        json!({ "embedding": vector })
    };
    let rows: Vec<Value> = request["input"].as_array().into_iter().flatten().map(row).collect();
    Json(json!({ "data": rows }))
}

/// Adds articles of about `count` chunks; returns the number of chunks.
async fn fill(store: &Store, config: &ArticlesConfig, count: usize) -> u32 {
    let http = platform::transport::build_client().expect("a client");
    let writer = ArticleWriter::new(store.articles.clone(), config, &http);
    let (mut random, owner) = (Random(7), domain::Owner::new("bench"));
    for number in 0..count / CHUNKS_OF_ARTICLE {
        let key = format!("article {number}");
        let text = text(&mut random);
        let source = ArticleSource { key, title: None, url: None, groups: None, text, format: Format::Text };
        let added = writer.add(&owner, &ArticleCollection::Shared, source, None, SystemTime::now()).await;
        added.expect("an article is added");
    }
    let stored = store.articles.list(&ArticleCollection::Shared).await.expect("articles are listed");
    stored.iter().map(|article| article.chunks).sum()
}

fn text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..CHUNKS_OF_ARTICLE * SENTENCES_OF_CHUNK {
        for _ in 0..6 {
            // Writing to a String cannot fail.
            let _ = write!(text, "{} ", random.term());
        }
        text.push_str("so. ");
    }
    text
}

fn searcher(store: &Store, config: &ArticlesConfig) -> ArticleSearch {
    let http = platform::transport::build_client().expect("a client");
    ArticleSearch::new(store.articles.clone(), config, &http)
}

async fn time_search(search: &ArticleSearch, query: &str) -> Duration {
    let begun = Instant::now();
    let found = search.search((&Owner::new("ann"), &domain::Membership::default()), query, 5).await.expect("a result");
    assert!(!found.articles.is_empty(), "{query} is found");
    begun.elapsed()
}

/// The median time of further searches.
async fn median(search: &ArticleSearch) -> Duration {
    let (mut random, mut times) = (Random(11), Vec::new());
    for _ in 0..SEARCHES {
        let query: Vec<String> = (0..6).map(|_| random.term()).collect();
        times.push(time_search(search, &query.join(" ")).await);
    }
    times.sort_unstable();
    times.swap_remove(times.len() / 2)
}

/// The resident memory of this process.
fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
