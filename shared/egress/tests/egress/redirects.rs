//! Tests of redirects: off unless enabled, and each one checked.

use egress::{EgressError, PolicyViolation};
use http::Method;

use crate::support::{FakeNetwork, OPEN, Server, fetch, get, ok, redirect_to};

async fn start_pair(first: &str, second: &str) -> (Server, Server, FakeNetwork) {
    let servers = (Server::start(first).await, Server::start(second).await);
    let names =
        FakeNetwork::default().with("a.example.com", &[&["93.184.215.1"]]).with("b.example.com", &[&["93.184.215.2"]]);
    let names = names.with_route("93.184.215.1", &servers.0).with_route("93.184.215.2", &servers.1);
    (servers.0, servers.1, names)
}

#[tokio::test]
async fn f128_redirects_are_off_by_default() {
    let (_, other, names) = start_pair(&redirect_to("http://b.example.com/"), &ok("b")).await;
    let egress = names.egress(OPEN);
    assert_eq!(fetch(&egress, get("http://a.example.com/")).await, Ok((302, String::new())));
    assert_eq!(other.received(), [""; 0]);
    assert_eq!(fetch(&egress, get("http://a.example.com/").redirects(1)).await, Ok((200, "b".to_owned())));
}

#[tokio::test]
async fn f128_redirect_target_receives_no_secret() {
    let (first, other, names) = start_pair(&redirect_to("http://b.example.com/next"), &ok("b")).await;
    let request = get("http://a.example.com/").header("x-kind", "plain").unwrap();
    let request = request.secret("authorization", &"Bearer canary-1".into()).unwrap();
    let request = request.secret("x-api-key", &"canary-2".into()).unwrap().redirects(3);
    let response = names.egress(OPEN).send(request).await.unwrap();
    assert_eq!(response.url.as_str(), "http://b.example.com/next");
    let (at_first, at_other) = (first.received().concat(), other.received().concat());
    assert!(at_first.contains("authorization: Bearer canary-1\r\n") && at_first.contains("x-api-key: canary-2\r\n"));
    assert!(at_other.contains("x-kind: plain\r\n") && !at_other.contains("canary"), "{at_other}");
    assert!(!at_other.contains("authorization") && !at_other.contains("referer"), "{at_other}");
}

#[tokio::test]
async fn f128_redirect_to_loopback_reaches_nothing() {
    let canary = Server::start(ok("canary")).await;
    let port = canary.port();
    for host in ["127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "localhost", "evil.example.com"] {
        let (_, _, names) = start_pair(&redirect_to(&format!("http://{host}:{port}/")), "").await;
        let names = names.with("evil.example.com", &[&["127.0.0.1"]]);
        let refused = fetch(&names.egress(OPEN), get("http://a.example.com/").redirects(3)).await;
        assert!(
            matches!(refused, Err(EgressError::Refused(PolicyViolation::Address | PolicyViolation::Name))),
            "{host}: {refused:?}"
        );
    }
    assert_eq!(canary.received(), [""; 0]);
}

#[tokio::test]
async fn f128_redirect_to_same_name_is_rechecked() {
    let (first, _, names) = start_pair(&redirect_to("/again"), "").await;
    let names = names.with("a.example.com", &[&["93.184.215.1"], &["127.0.0.1"]]);
    let refused = fetch(&names.egress(OPEN), get("http://a.example.com/").redirects(3)).await;
    assert_eq!(refused, Err(EgressError::Refused(PolicyViolation::Address)));
    assert_eq!((names.lookups().len(), first.received().len()), (2, 1));
}

#[tokio::test]
async fn f128_redirect_loop_ends_after_three() {
    let (first, _, names) = start_pair(&redirect_to("/again"), "").await;
    let egress = names.egress(OPEN);
    assert_eq!(fetch(&egress, get("http://a.example.com/").redirects(200)).await, Err(EgressError::TooManyRedirects));
    assert_eq!(first.received().len(), 4);
}

#[tokio::test]
async fn f059_f128_post_follows_no_redirect() {
    let (first, other, names) = start_pair(&redirect_to("http://b.example.com/"), &ok("b")).await;
    let post = egress::Request::new(Method::POST, "http://a.example.com/".parse().unwrap()).redirects(3);
    assert_eq!(fetch(&names.egress(OPEN), post.body(b"x".to_vec())).await, Ok((302, String::new())));
    assert_eq!((first.received().len(), other.received().len()), (1, 0));
}
