//! The agent that answers from documents in S3, over a bucket on loopback.

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::json;
use support::{Completion, NativeApp};
use tokio::net::TcpListener;

const LEASE: &str = "# 租赁合同\n押金一个月。\n";

/// Serves a bucket `papers` with one object below `team/`; returns the endpoint.
async fn start_bucket() -> String {
    let list = || async {
        let size = LEASE.len();
        format!(
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>team/lease.md</Key>\
             <LastModified>2026-11-23T06:00:00.000Z</LastModified><ETag>&quot;1&quot;</ETag><Size>{size}</Size></Contents>\
             </ListBucketResult>"
        )
    };
    let read = |Path(key): Path<String>| async move {
        if key == "team/lease.md" { LEASE.into_response() } else { StatusCode::NOT_FOUND.into_response() }
    };
    let router = Router::new().route("/papers/", get(list)).route("/papers/{*key}", get(read));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    endpoint
}

async fn start(endpoint: &str) -> NativeApp {
    NativeApp::start_with(&[("DOCUMENTS_DIR", "s3://papers/team"), ("AWS_ENDPOINT_URL_S3", endpoint)]).await
}

#[tokio::test]
async fn agent_answers_from_a_bucket() {
    let app = start(&start_bucket().await).await;
    let call =
        Completion::new().call(0, "c", "grep_search", r#"{"pattern":"押金"}"#).finish("tool_calls").done().reply();
    app.model.queue_replies([call, Completion::of(["一个月。"])]);
    let turn = app.chat(&json!({"message": "押金多少？", "agentId": "documents"})).await;
    assert_eq!(turn.content(), "一个月。");
    assert_eq!(turn.events_of("tool_result")[0]["summary"], "1 matches in 1 files");
    assert_eq!(app.get("/api/documents/lease.md?lines=2").await.text(), "押金一个月。\n");
    assert_eq!(app.get("/api/documents/other.md").await.status, 404);
}

#[tokio::test]
async fn unreachable_bucket_leaves_an_answer() {
    let app = start("http://127.0.0.1:1").await;
    let call = Completion::new().call(0, "c", "grep_search", r#"{"pattern":"x"}"#).finish("tool_calls").done().reply();
    app.model.queue_replies([call, Completion::of(["I cannot read them."])]);
    let turn = app.chat(&json!({"message": "What is the deposit?", "agentId": "documents"})).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("I cannot read them.", "stop"));
    let result = &turn.events_of("tool_result")[0];
    assert_eq!(
        (&result["ok"], &result["error"]["message"]),
        (&json!(false), &json!("The documents cannot be loaded."))
    );
    let refused = app.get("/api/documents/lease.md").await;
    assert_eq!(refused.error().1, "upstream_unavailable");
}
