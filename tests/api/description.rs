//! `GET /openapi.json`: the description of the API, with which `support` compares each exchange of these tests.

use std::path::Path;

use openapi::{DOCUMENT, TYPES, document, page_types, render};
use support::TestApp;

/// The function has a limit for all of its code.
const MAX_COMPRESSED_BYTES: usize = 14 * 1024;

fn committed(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

#[test]
fn page_has_the_types_of_the_table() {
    assert!(committed(TYPES) == page_types(), "run `cargo run -p openapi`");
}

#[tokio::test]
async fn description_is_served_as_the_table_has_it() {
    let committed = committed(DOCUMENT);
    assert!(committed == render(&document()), "run `cargo run -p openapi`");
    let app = TestApp::start().await;
    let served = app.get("/openapi.json").await;
    assert_eq!((served.status, served.header("content-type")), (200, "application/json"));
    assert!(served.text() == committed, "run `cargo run -p openapi`");
}

#[tokio::test]
async fn description_is_compressed_and_revalidated() {
    let app = TestApp::start().await;
    let plain = app.get("/openapi.json").await;
    let gzip = app.get_raw("/openapi.json", "accept-encoding: gzip").await;
    assert_eq!((gzip.header("content-encoding"), gzip.header("cache-control")), ("gzip", "no-cache"));
    assert!(gzip.body.len() <= MAX_COMPRESSED_BYTES, "{} bytes", gzip.body.len());
    assert_ne!(gzip.header("etag"), plain.header("etag"));
    let known = app.get_raw("/openapi.json", &format!("if-none-match: {}", plain.header("etag"))).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
}
