//! A filling that is killed at any write leaves nothing half, and the next one completes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use articles::{ArticleSource, ArticleWriter, article_id};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use store::{ArticleCollection, Store, StoredArticle};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::support::{ann, at, config, database, markdown, member, open, searcher, writer};

const SHARED: ArticleCollection = ArticleCollection::Shared;

/// The longest time of a filling.
const LIMIT: Duration = Duration::from_mins(1);

/// A way to the database on which no write passes from one on.
#[derive(Clone)]
struct CutConnection {
    database: String,
    http: platform::transport::Client,
    writes: Arc<AtomicUsize>,
    /// The first write that gets no answer.
    cut_at: usize,
    /// Whether the database executes that write.
    is_executed: bool,
    reached: Arc<Notify>,
}

impl CutConnection {
    /// Starts it; returns its endpoint too.
    async fn start(database: &str, cut_at: usize, is_executed: bool) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (writes, reached) = (Arc::default(), Arc::default());
        let http = platform::transport::build_client().unwrap();
        let connection = Self { database: database.to_owned(), http, writes, cut_at, is_executed, reached };
        let router = Router::new().fallback(pass).with_state(connection.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (connection, endpoint)
    }

    async fn send(&self, headers: HeaderMap, body: Vec<u8>) -> Response {
        let request = self.http.post(&self.database).headers(headers).body(body);
        let response = request.send().await.unwrap();
        let (status, body) = (response.status(), response.bytes().await.unwrap());
        Response::builder().status(status).body(Body::from(body)).unwrap()
    }
}

async fn pass(State(connection): State<CutConnection>, request: Request) -> Response {
    let mut headers = request.headers().clone();
    headers.remove("host");
    let target = headers["x-amz-target"].to_str().unwrap().to_owned();
    let body = to_bytes(request.into_body(), usize::MAX).await.unwrap().to_vec();
    let is_write = ["Put", "Update", "Delete", "Write"].iter().any(|verb| target.contains(verb));
    if is_write {
        let number = connection.writes.fetch_add(1, Ordering::SeqCst);
        if number >= connection.cut_at {
            if number == connection.cut_at && connection.is_executed {
                connection.send(headers, body).await;
            }
            connection.reached.notify_one();
            return std::future::pending().await;
        }
    }
    connection.send(headers, body).await
}

/// A document of this many lines, which are about its own subject.
fn document(key: &str, version: u32, lines: usize) -> ArticleSource {
    let line = format!("Sentence of version {version} about the subject{key}, which has some sixty characters.\n");
    markdown(key, &format!("# Title {key} {version}\n{}", line.repeat(lines)))
}

/// Adds documents as the command line does.
async fn fill(
    store: &Store,
    writer: &ArticleWriter,
    documents: &[ArticleSource],
    seconds: u64,
) -> Vec<Option<StoredArticle>> {
    writer.prepare(&SHARED, at(seconds)).await.unwrap();
    let known = store.articles.list(&SHARED).await.unwrap();
    let mut outcomes = Vec::new();
    for source in documents {
        let known = known.iter().find(|article| article.id == article_id(&source.key));
        outcomes.push(writer.add(&ann(), &SHARED, source.clone(), known, at(seconds)).await.unwrap());
    }
    outcomes
}

/// Every article is stored once, whole, and of version 1 or 2; the second only if `is_complete`.
async fn check(store: &Store, is_complete: bool, case: &str) {
    let stored = store.articles.list(&SHARED).await.unwrap();
    let mut keys: Vec<&str> = stored.iter().filter_map(|article| article.title.split(' ').nth(1)).collect();
    keys.sort_unstable();
    let expected = ["long", "new", "same", "short"];
    assert!(
        if is_complete { keys == expected } else { keys.iter().all(|key| expected.contains(key)) },
        "{case}: {keys:?}"
    );
    keys.dedup();
    assert_eq!(keys.len(), stored.len(), "{case}: each article once");
    for article in &stored {
        let chunks = store.articles.chunks(&SHARED, article).await.unwrap();
        let version = article.title.rsplit(' ').next().unwrap();
        assert_eq!(u32::try_from(chunks.len()).unwrap(), article.chunks, "{case}: {}", article.title);
        let is_whole = chunks.iter().all(|chunk| chunk.text.contains(&format!("version {version}")));
        assert!(is_whole, "{case}: {} has chunks of one version", article.title);
        assert!(!is_complete || version == "2" || article.title == "Title same 1", "{case}: {}", article.title);
    }
}

#[tokio::test]
async fn filling_killed_at_any_write_is_completed() {
    let earlier = [document("same", 1, 2), document("long", 1, 300), document("short", 1, 2)];
    let later = [document("same", 1, 2), document("long", 2, 250), document("short", 2, 2), document("new", 2, 200)];
    let mut cuts = 0;
    for cut_at in 0.. {
        let mut ended = false;
        for is_executed in [false, true] {
            let case = format!("write {cut_at}, executed: {is_executed}");
            let database = database().await;
            let direct = open(&database);
            let first_writer = writer(&direct, &config(None));
            fill(&direct, &first_writer, &earlier, 0).await;
            let (connection, endpoint) = CutConnection::start(&database, cut_at, is_executed).await;
            let killed = open(&endpoint);
            let killed_writer = writer(&killed, &config(None));
            ended = timeout(LIMIT, async {
                tokio::select! {
                    _ = fill(&killed, &killed_writer, &later, 10) => true,
                    () = connection.reached.notified() => false,
                }
            })
            .await
            .unwrap();
            check(&direct, ended, &case).await;
            // A later command also deletes what the killed one left.
            let outcomes = fill(&direct, &first_writer, &later, 2 * 3_600).await;
            assert_eq!(outcomes[0], None, "{case}");
            check(&direct, true, &case).await;
            let found = searcher(&direct, &config(None)).search((&ann(), &member(&[])), "version 1", 20).await.unwrap();
            let old = found
                .articles
                .iter()
                .flat_map(|article| &article.chunks)
                .filter(|chunk| chunk.text.contains("version 1"));
            assert!(old.count() <= 1, "{case}: only the unchanged article has the first version");
            let again = fill(&direct, &first_writer, &later, 2 * 3_600 + 1).await;
            assert!(again.iter().all(Option::is_none), "{case}");
            cuts += usize::from(!ended);
        }
        if ended {
            break;
        }
    }
    assert!(cuts >= 12, "only {cuts} cuts were tried");
}
