//! Documents of a bucket, over a server for S3 on loopback.

mod server;

use std::sync::Arc;
use std::time::Duration;

use documents::{BucketAddress, BucketMirror, DocumentGroups, DocumentSource, HiddenFiles, MirrorLimits};
use domain::Language;
use platform::aws::Service;
use platform::settings::Settings;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tools::{Tool, ToolError};

use self::server::{Fault, S3Server};
use crate::support::context;

/// Lists the bucket at every call.
const ALWAYS: MirrorLimits = MirrorLimits {
    objects: 6,
    bytes: 1000,
    refresh_interval: Duration::ZERO,
    first_wait: Duration::from_mins(1),
    refresh_wait: Duration::from_mins(1),
};

fn source(endpoint: &str, limits: MirrorLimits) -> DocumentSource {
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_S3", endpoint)]);
    let address = BucketAddress::parse("s3://docs/team").unwrap();
    let service = Service::of_bucket(&settings, address.bucket()).unwrap();
    let http = platform::transport::build_client().unwrap();
    BucketMirror::new(http, service, address, HiddenFiles::Skip, limits).into()
}

async fn call(source: &DocumentSource, name: &str, arguments: Value) -> Result<Value, String> {
    let tools = documents::tools(source);
    let tool: &dyn Tool = tools.iter().find(|tool| tool.spec(Language::En).name == name).unwrap().as_ref();
    match tool.call(arguments, &context(Language::En)).await {
        Ok(output) => Ok(serde_json::from_str(&output.content).unwrap()),
        Err(ToolError::Model(error)) => Err(error.content),
        Err(ToolError::Fatal(error)) => unreachable!("{error}"),
    }
}

async fn files(source: &DocumentSource) -> Result<Vec<String>, String> {
    let result = call(source, "glob_search", json!({"pattern": "*"})).await?;
    let mut files: Vec<String> = serde_json::from_value(result["files"].clone()).unwrap();
    files.sort();
    Ok(files)
}

async fn text(source: &DocumentSource, path: &str) -> String {
    let result = call(source, "read_file", json!({"file_path": path})).await.unwrap();
    result["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn objects_of_all_pages_are_documents() {
    let (server, endpoint) = S3Server::start(&[
        ("other/secret.md", b"no"),
        ("team/", b""),
        ("team/a b+c&d.md", b"one"),
        ("team/deep/er/x.md", b"two"),
        ("team/../../etc/passwd", b"no"),
        ("team/\u{8ba1}\u{5212}.md", b"three"),
    ])
    .await;
    let source = source(&endpoint, ALWAYS);
    assert_eq!(server.take_requests(), [""; 0], "nothing is read before the first call");
    assert_eq!(files(&source).await.unwrap(), ["a b+c&d.md", "deep/er/x.md", "\u{8ba1}\u{5212}.md"]);
    assert_eq!(text(&source, "a b+c&d.md").await, "1:one");
    let requests = server.take_requests();
    assert!(!requests.iter().any(|key| key.contains("passwd") || key.contains("secret")), "{requests:?}");
    let found = call(&source, "grep_search", json!({"pattern": "tw."})).await.unwrap();
    assert_eq!(found["matches"][0]["file"], "deep/er/x.md");
}

#[tokio::test]
async fn objects_of_other_groups_do_not_exist() {
    let objects: [(&str, &[u8]); 3] =
        [("team/legal/plan.md", b"canary"), ("team/legal/open.md", b"two"), ("team/x.md", b"three")];
    let (_server, endpoint) = S3Server::start(&objects).await;
    let groups = |rules| source(&endpoint, ALWAYS).with_groups(DocumentGroups::parse(rules).unwrap());
    let limited = groups(r#"{"legal": ["legal"]}"#);
    assert_eq!(files(&limited).await.unwrap(), ["x.md"]);
    for (tool, foreign, missing) in [
        ("read_file", json!({"file_path": "legal/plan.md"}), json!({"file_path": "gone/plan.md"})),
        ("grep_search", json!({"pattern": "can", "path": "legal"}), json!({"pattern": "can", "path": "gone"})),
        ("grep_search", json!({"pattern": "can"}), json!({"pattern": "cannot"})),
        ("glob_search", json!({"pattern": "*plan*"}), json!({"pattern": "*gone*"})),
        ("list_directory", json!({"path": "legal"}), json!({"path": "gone"})),
    ] {
        assert_eq!(call(&limited, tool, foreign).await, call(&limited, tool, missing).await, "{tool}");
    }
    let tree = call(&limited, "list_directory", json!({})).await.unwrap();
    assert_eq!(tree["tree"].as_str().unwrap().lines().count(), 2, "{tree}");
    let within = groups(r#"{"legal": ["legal"], "legal/open.md": []}"#);
    assert_eq!(files(&within).await.unwrap(), ["legal/open.md", "x.md"]);
    assert_eq!(text(&within, "legal/open.md").await, "1:two");
}

#[tokio::test]
async fn only_changed_objects_are_read_again() {
    let (server, endpoint) =
        S3Server::start(&[("team/a.md", b"one"), ("team/b.md", b"two"), ("team/c.md", b"3")]).await;
    let source = source(&endpoint, ALWAYS);
    files(&source).await.unwrap();
    server.take_requests();
    files(&source).await.unwrap();
    assert_eq!(server.take_requests(), ["list", "list"]);
    server.put("team/b.md", b"changed");
    server.delete("team/c.md");
    server.put("team/d.md", b"new");
    assert_eq!(files(&source).await.unwrap(), ["a.md", "b.md", "d.md"]);
    assert_eq!(server.take_requests(), ["list", "list", "team/b.md", "team/d.md"]);
    assert_eq!([text(&source, "a.md").await, text(&source, "b.md").await], ["1:one", "1:changed"]);
}

#[tokio::test]
async fn fresh_tree_needs_no_request() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one")]).await;
    let source = source(&endpoint, MirrorLimits { refresh_interval: Duration::from_hours(1), ..ALWAYS });
    files(&source).await.unwrap();
    assert_eq!(server.take_requests(), ["list", "team/a.md"]);
    server.put("team/a.md", b"changed");
    assert_eq!(text(&source, "a.md").await, "1:one");
    assert_eq!(server.take_requests(), [""; 0]);
}

#[tokio::test]
async fn denied_access_keeps_an_older_tree() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one")]).await;
    server.deny(true);
    let source = source(&endpoint, ALWAYS);
    let failure = files(&source).await.unwrap_err();
    assert!(failure.contains("cannot be loaded now") && !failure.contains("AccessDenied"), "{failure}");
    server.deny(false);
    assert_eq!(files(&source).await.unwrap(), ["a.md"]);
    server.deny(true);
    assert_eq!(text(&source, "a.md").await, "1:one");
}

#[tokio::test]
async fn documents_over_a_limit_are_not_copied() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one")]).await;
    let small = source(&endpoint, MirrorLimits { bytes: 2, ..ALWAYS });
    assert!(files(&small).await.unwrap_err().contains("cannot be loaded now"));
    let many = source(&endpoint, ALWAYS);
    for number in 0..6 {
        server.put(&format!("team/{number}.md"), b"x");
    }
    assert!(files(&many).await.unwrap_err().contains("cannot be loaded now"));
    assert!(server.take_requests().iter().all(|request| request == "list"));
}

#[tokio::test]
async fn passing_faults_are_retried() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one"), ("team/b.md", b"a longer text")]).await;
    server.fail("team/a.md", Fault::Status(503, "SlowDown", 2));
    server.fail("team/b.md", Fault::Cut(2));
    let source = source(&endpoint, ALWAYS);
    assert_eq!(files(&source).await.unwrap(), ["a.md", "b.md"]);
    assert_eq!(text(&source, "b.md").await, "1:a longer text");
}

#[tokio::test]
async fn half_of_a_change_is_never_served() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one"), ("team/b.md", b"a longer text")]).await;
    let source = source(&endpoint, ALWAYS);
    files(&source).await.unwrap();
    server.put("team/a.md", b"two");
    server.put("team/b.md", b"another text");
    server.fail("team/b.md", Fault::Cut(usize::MAX));
    assert_eq!([text(&source, "a.md").await, text(&source, "b.md").await], ["1:one", "1:a longer text"]);
    server.fail("team/b.md", Fault::Cut(0));
    server.take_requests();
    assert_eq!([text(&source, "a.md").await, text(&source, "b.md").await], ["1:two", "1:another text"]);
    let read = server.take_requests().into_iter().filter(|request| request != "list").collect::<Vec<_>>();
    assert_eq!(read, ["team/b.md"], "what was complete is not read again");
}

#[tokio::test]
async fn cancelled_copy_continues_where_it_stopped() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one"), ("team/b.md", b"a longer text")]).await;
    let gate = Arc::new(Semaphore::new(0));
    server.fail("team/b.md", Fault::Gate(Arc::clone(&gate)));
    let source = source(&endpoint, MirrorLimits { first_wait: Duration::from_millis(300), ..ALWAYS });
    let failure = files(&source).await.unwrap_err();
    assert!(failure.contains("still being loaded"), "{failure}");
    gate.add_permits(100);
    let mut outcome = Err(failure);
    for _ in 0..100 {
        outcome = files(&source).await;
        if outcome.is_ok() {
            break;
        }
    }
    assert_eq!(outcome.unwrap(), ["a.md", "b.md"]);
}

#[tokio::test]
async fn calls_at_once_copy_once() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one"), ("team/b.md", b"two")]).await;
    server.set_page(1000);
    let source = source(&endpoint, MirrorLimits { refresh_interval: Duration::from_hours(1), ..ALWAYS });
    let calls = futures_util::future::join_all((0..20).map(|_| files(&source))).await;
    assert!(calls.iter().all(|files| files.as_ref().is_ok_and(|files| files.len() == 2)));
    assert_eq!(server.take_requests(), ["list", "team/a.md", "team/b.md"]);
}

#[tokio::test]
async fn call_keeps_the_tree_it_began_with() {
    let (server, endpoint) = S3Server::start(&[("team/a.md", b"one")]).await;
    let source = source(&endpoint, ALWAYS);
    files(&source).await.unwrap();
    for number in 0..20 {
        server.put("team/a.md", number.to_string().as_bytes());
        let both = futures_util::future::join(text(&source, "a.md"), files(&source)).await;
        assert!(both.0.starts_with("1:") && both.1.unwrap() == ["a.md"]);
    }
}
