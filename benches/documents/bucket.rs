use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use documents::{BucketAddress, BucketMirror, DocumentSource, HiddenFiles, MirrorLimits};
use platform::aws::Service;
use platform::settings::Settings;
use serde_json::json;
use tokio::net::TcpListener;

use crate::millis;
use crate::tool::DocumentTools;

/// Numbers of objects of 4 KiB.
const OBJECTS: [usize; 3] = [100, 1000, 10_000];

const OBJECT_BYTES: usize = 4096;

/// Objects of a page, as S3 lists them.
const PAGE: usize = 1000;

/// Copies buckets of several sizes.
pub(crate) async fn measure() {
    println!("{:>8} {:>10} {:>14} {:>14}", "objects", "first ms", "unchanged ms", "one changed ms");
    for objects in OBJECTS {
        let changes = Arc::new(AtomicUsize::new(0));
        let tools = DocumentTools::new(&source(&serve(objects, Arc::clone(&changes)).await));
        let first = time_call(&tools).await;
        let unchanged = time_call(&tools).await;
        changes.store(1, Ordering::SeqCst);
        let after_change = time_call(&tools).await;
        println!("{objects:>8} {first:>10.0} {unchanged:>14.0} {after_change:>14.0}");
    }
}

/// The time of a call that reads one file, in ms.
async fn time_call(tools: &DocumentTools) -> f64 {
    let begun = Instant::now();
    tools.call("read_file", json!({"file_path": "00000.md"})).await;
    millis(begun.elapsed())
}

fn source(endpoint: &str) -> DocumentSource {
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_S3", endpoint)]);
    let address = BucketAddress::parse("s3://docs").expect("an address");
    let service = Service::of_bucket(&settings, address.bucket()).expect("the settings are complete");
    let http = platform::transport::build_client().expect("a client");
    let wait = Duration::from_mins(5);
    let limits = MirrorLimits {
        refresh_interval: Duration::ZERO,
        first_wait: wait,
        refresh_wait: wait,
        ..MirrorLimits::default()
    };
    BucketMirror::new(http, service, address, HiddenFiles::Skip, limits).into()
}

/// Serves a bucket; the first object has another version after each change. Returns the endpoint.
async fn serve(objects: usize, changes: Arc<AtomicUsize>) -> String {
    let list = move |State(changes): State<Arc<AtomicUsize>>, Query(query): Query<Vec<(String, String)>>| async move {
        let token = query.iter().find(|(name, _)| name == "continuation-token");
        let from = token.and_then(|(_, token)| token.parse().ok()).unwrap_or(0);
        page(objects, from, changes.load(Ordering::SeqCst))
    };
    let router = Router::new()
        .route("/docs/", get(list))
        .route("/docs/{key}", get(|| async { vec![b'x'; OBJECT_BYTES] }))
        .with_state(changes);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    endpoint
}

fn page(objects: usize, from: usize, changes: usize) -> String {
    let next = from + PAGE;
    let mut page = format!("<ListBucketResult><IsTruncated>{}</IsTruncated>", next < objects);
    let _ = write!(page, "<NextContinuationToken>{next}</NextContinuationToken>");
    for number in from..next.min(objects) {
        let version = if number == 0 { changes } else { 0 };
        let _ = write!(
            page,
            "<Contents><Key>{number:05}.md</Key><LastModified>2026-11-23T06:00:00.000Z</LastModified>\
             <ETag>&quot;{number}-{version}&quot;</ETag><Size>{OBJECT_BYTES}</Size></Contents>"
        );
    }
    page + "</ListBucketResult>"
}
