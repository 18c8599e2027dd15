//! Tests of the hosts a request can reach, for any result of name resolution.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;
use egress::{Egress, EgressError, Network, Policy, PolicyViolation};

use crate::support::{FakeNetwork, OPEN, Server, fetch, get, ok};

const REFUSED: Result<(u16, String), EgressError> = Err(EgressError::Refused(PolicyViolation::Address));

#[tokio::test]
async fn f127_name_is_resolved_once_and_connection_pinned() {
    let server = Server::start(ok("hello")).await;
    let names = FakeNetwork::default().with("api.example.com", &[&["93.184.215.14"], &["127.0.0.1"]]);
    let names = names.with_route("93.184.215.14", &server);
    let egress = names.egress(OPEN);
    assert_eq!(fetch(&egress, get("http://api.example.com/a?b=c")).await, Ok((200, "hello".to_owned())));
    assert_eq!(names.lookups(), ["api.example.com"]);
    let request = server.received().concat();
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("host: api.example.com\r\n"), "{request}");
    assert!(request.contains("accept-encoding: identity\r\n"), "{request}");
}

#[tokio::test]
async fn f127_rebinding_to_private_address_is_refused() {
    let canary = Server::start(ok("canary")).await;
    let public = Server::start(ok("hello")).await;
    let names = FakeNetwork::default().with("api.example.com", &[&["93.184.215.14"], &["127.0.0.1"]]);
    let egress = names.with_route("93.184.215.14", &public).egress(OPEN);
    let url = format!("http://api.example.com:{}/", canary.port());
    // An explicit port bypasses the test's server: this test only checks that the canary receives nothing.
    let _ = fetch(&egress, get("http://api.example.com/")).await;
    assert_eq!(fetch(&egress, get(&url)).await, REFUSED);
    assert_eq!(canary.received(), [""; 0]);
    assert_eq!(public.received().len(), 1);
}

#[tokio::test]
async fn f126_one_private_address_among_public_is_refused() {
    let canary = Server::start(ok("canary")).await;
    let url = format!("http://api.example.com:{}/", canary.port());
    for addresses in [
        &["93.184.215.14", "127.0.0.1"][..],
        &["127.0.0.1", "93.184.215.14"],
        &["2606:4700::1111", "::1"],
        &["2606:4700::1111", "::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["2002:7f00:1::"],
        &["0.0.0.0"],
        &["10.0.0.1", "169.254.169.254"],
    ] {
        let egress = FakeNetwork::default().with("api.example.com", &[addresses]).egress(OPEN);
        assert_eq!(fetch(&egress, get(&url)).await, REFUSED, "{addresses:?}");
    }
    assert_eq!(canary.received(), [""; 0]);
}

#[tokio::test]
async fn f126_names_with_embedded_address_are_resolved() {
    let canary = Server::start(ok("canary")).await;
    for name in ["127.0.0.1.nip.io", "7f000001.sslip.io", "localtest.me"] {
        let egress = FakeNetwork::default().with(name, &[&["127.0.0.1"]]).egress(OPEN);
        assert_eq!(fetch(&egress, get(&format!("http://{name}:{}/", canary.port()))).await, REFUSED, "{name}");
    }
    assert_eq!(canary.received(), [""; 0]);
}

#[tokio::test]
async fn f126_ipv6_only_host_is_reached() {
    let server = Server::start(ok("six")).await;
    let names = FakeNetwork::default().with("six.example.com", &[&["2606:4700::1111"]]);
    let egress = names.with_route("2606:4700::1111", &server).egress(OPEN);
    assert_eq!(fetch(&egress, get("http://six.example.com/")).await, Ok((200, "six".to_owned())));
}

#[tokio::test]
async fn f125_no_spelling_of_loopback_reaches_a_listener() {
    let canary = Server::start(ok("canary")).await;
    let names = FakeNetwork::default();
    let egress = names.egress(OPEN);
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "0177.1",
        "127.0.0.1.",
        "127%2e0%2e0%2e1",
        "%31%32%37.0.0.1",
        "１２７.０.０.１",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[2002:7f00:1::]",
        "[0:0:0:0:0:0:0:1]",
        "127.255.255.254",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "ｌocalhost",
    ] {
        let refused = fetch(&egress, get(&format!("http://{host}:{}/", canary.port()))).await;
        assert!(
            matches!(refused, Err(EgressError::Refused(PolicyViolation::Address | PolicyViolation::Name))),
            "{host}: {refused:?}"
        );
    }
    assert_eq!((canary.received(), names.lookups()), (vec![], vec![]));
}

#[tokio::test]
async fn f129_disallowed_url_is_not_resolved() {
    let names = FakeNetwork::default().with("api.example.com", &[&["93.184.215.14"]]);
    let egress = names.egress(Policy::public());
    for (url, refusal) in [
        ("http://api.example.com/", PolicyViolation::Scheme),
        ("https://api.example.com:9001/", PolicyViolation::Port),
        ("https://user:canary@api.example.com/", PolicyViolation::UserInfo),
    ] {
        assert_eq!(fetch(&egress, get(url)).await, Err(EgressError::Refused(refusal)));
    }
    assert_eq!(names.lookups(), [""; 0]);
}

#[tokio::test]
async fn f127_tls_connects_to_checked_address_with_sni() {
    let server = Server::start("no TLS").await;
    let names = FakeNetwork::default().with("api.example.com", &[&["93.184.215.14"], &["127.0.0.1"]]);
    let egress = names.with_route("93.184.215.14", &server).egress(Policy::public());
    assert_eq!(fetch(&egress, get("https://api.example.com/")).await, Err(EgressError::Unreachable));
    let hello = server.received().concat();
    assert!(hello.starts_with('\u{16}') && hello.contains("api.example.com"), "a TLS greeting");
}

#[tokio::test]
async fn loopback_policy_allows_only_loopback_names() {
    let server = Server::start(ok("here")).await;
    let names = FakeNetwork::default().with("localhost", &[&["127.0.0.1"]]).with("a.example.com", &[&["127.0.0.1"]]);
    let egress = names.with("b.localhost", &[&["93.184.215.14"]]).egress(OPEN.with_loopback());
    let fetch = async |host: &str| fetch(&egress, get(&format!("http://{host}:{}/", server.port()))).await;
    assert_eq!(fetch("127.0.0.1").await, Ok((200, "here".to_owned())));
    assert_eq!(fetch("localhost").await, Ok((200, "here".to_owned())));
    assert_eq!(fetch("a.example.com").await, REFUSED);
    assert_eq!(fetch("b.localhost").await, REFUSED);
}

#[tokio::test]
async fn unresolved_and_unreachable_are_distinct_errors() {
    struct EmptyNetwork;
    #[async_trait]
    impl Network for EmptyNetwork {
        async fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Ok(Vec::new())
        }
    }
    let egress = Egress::new(OPEN, EmptyNetwork);
    assert_eq!(fetch(&egress, get("http://a.example.com/")).await, Err(EgressError::Unresolved));
    assert_eq!(
        fetch(&FakeNetwork::default().egress(OPEN), get("http://a.example.com/")).await,
        Err(EgressError::Unresolved)
    );
    let gone = FakeNetwork::default().with("localhost", &[&["127.0.0.1"]]).egress(OPEN.with_loopback());
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    assert_eq!(fetch(&gone, get(&format!("http://localhost:{free}/"))).await, Err(EgressError::Unreachable));
}
