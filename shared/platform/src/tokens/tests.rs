mod google;
mod rsa_key;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use secrecy::ExposeSecret;
use tokio::net::TcpListener;

use super::*;
use crate::transport::build_client;

/// A request: method-less path, headers and body.
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn form(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }
}

/// An endpoint for credentials, which answers with what the test sets and records the requests.
#[derive(Clone)]
pub(crate) struct FakeEndpoint {
    pub(crate) url: String,
    answer: Arc<Mutex<(StatusCode, String)>>,
    requests: Arc<Mutex<Vec<Received>>>,
}

impl FakeEndpoint {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = Self { url, answer: Arc::default(), requests: Arc::default() };
        let routes = Router::new().fallback(respond).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        fake
    }

    pub(crate) fn answer_with(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (StatusCode::from_u16(status).unwrap(), body.to_owned());
    }

    fn grant(&self, token: &str, seconds: u64) {
        self.answer_with(200, &format!(r#"{{"access_token":"{token}","expires_in":{seconds},"token_type":"Bearer"}}"#));
    }

    /// Returns the requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<Received> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

async fn respond(State(fake): State<FakeEndpoint>, uri: Uri, headers: HeaderMap, body: String) -> (StatusCode, String) {
    fake.requests.lock().unwrap().push(Received { path: uri.path().to_owned(), headers, body });
    fake.answer.lock().unwrap().clone()
}

pub(crate) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_680_000 + seconds)
}

/// Writes a file for one test; returns its path.
pub(crate) fn write_file(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("lambda-chat-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn entra(fake: &FakeEndpoint, proof: (&str, &str)) -> TokenSource {
    let settings = Settings::from_pairs([
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_AUTHORITY_HOST", &format!("{}/", fake.url)),
        proof,
    ]);
    TokenSource::entra(&settings, &build_client().unwrap()).unwrap().unwrap()
}

async fn read(source: &TokenSource, seconds: u64) -> Result<String, String> {
    source.get(at(seconds)).await.map(|token| token.expose_secret().to_owned()).map_err(|error| error.to_string())
}

#[tokio::test]
async fn entra_grants_token_for_client_secret() {
    let fake = FakeEndpoint::start().await;
    fake.grant("t1", 3600);
    assert_eq!(read(&entra(&fake, ("AZURE_CLIENT_SECRET", "canary~1")), 0).await.as_deref(), Ok("t1"));
    let requests = fake.take_requests();
    assert_eq!(requests[0].path, "/tenant-1/oauth2/v2.0/token");
    assert_eq!(requests[0].headers["content-type"], "application/x-www-form-urlencoded");
    let expected = [
        ("client_id", "client-1"),
        ("client_secret", "canary~1"),
        ("grant_type", "client_credentials"),
        ("scope", "https://cognitiveservices.azure.com/.default"),
    ];
    assert_eq!(requests[0].form(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
}

#[tokio::test]
async fn entra_reads_federated_token_each_time() {
    let fake = FakeEndpoint::start().await;
    fake.grant("t1", 400);
    let path = write_file("federated", "first\n");
    let source = entra(&fake, ("AZURE_FEDERATED_TOKEN_FILE", &path));
    assert_eq!(read(&source, 0).await.as_deref(), Ok("t1"));
    write_file("federated", "second\n");
    fake.grant("t2", 3600);
    assert_eq!(read(&source, 101).await.as_deref(), Ok("t2"));
    let forms: Vec<_> = fake.take_requests().iter().map(Received::form).collect();
    let assertions: Vec<_> = forms.iter().map(|form| &*form["client_assertion"]).collect();
    assert_eq!(assertions, ["first", "second"]);
    assert_eq!(forms[0]["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    std::fs::remove_file(&path).unwrap();
    assert!(source.invalidate(at(200)));
    assert_eq!(read(&source, 200).await.as_deref(), Ok("t2"), "it is valid still");
    let error = read(&source, 3800).await.unwrap_err();
    assert_eq!(error, "AZURE_FEDERATED_TOKEN_FILE: the file cannot be read");
}

#[tokio::test]
async fn token_is_renewed_early_by_one_request() {
    let fake = FakeEndpoint::start().await;
    fake.grant("t1", 3600);
    let source = entra(&fake, ("AZURE_CLIENT_SECRET", "s"));
    let (a, b, c) = tokio::join!(read(&source, 0), read(&source, 0), read(&source, 1));
    assert_eq!([a, b, c], [(); 3].map(|()| Ok("t1".to_owned())));
    assert_eq!(fake.take_requests().len(), 1);
    fake.grant("t2", 3600);
    assert_eq!(read(&source, 3299).await.as_deref(), Ok("t1"));
    assert!(fake.take_requests().is_empty());
    let (a, b) = tokio::join!(read(&source, 3300), read(&source, 3300));
    assert_eq!([a.as_deref(), b.as_deref()], [Ok("t2"); 2]);
    assert_eq!(fake.take_requests().len(), 1);
}

#[tokio::test]
async fn valid_token_is_used_while_renewals_fail() {
    let fake = FakeEndpoint::start().await;
    fake.grant("t1", 3600);
    let source = entra(&fake, ("AZURE_CLIENT_SECRET", "s"));
    assert_eq!(read(&source, 0).await.as_deref(), Ok("t1"));
    fake.answer_with(503, "canary");
    for seconds in [3300, 3310, 3329, 3599] {
        assert_eq!(read(&source, seconds).await.as_deref(), Ok("t1"), "{seconds}");
    }
    assert_eq!(fake.take_requests().len(), 3, "one, and one more after half a minute");
    let error = source.get(at(3600)).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.is_transient), ("AZURE_CLIENT_SECRET: status 503", true));
    fake.grant("t2", 3600);
    assert_eq!(read(&source, 3601).await.as_deref(), Ok("t2"), "without a token nothing waits");
}

#[tokio::test]
async fn rejected_token_is_renewed_at_limited_rate() {
    let fake = FakeEndpoint::start().await;
    fake.grant("t1", 3600);
    let source = entra(&fake, ("AZURE_CLIENT_SECRET", "s"));
    assert_eq!(read(&source, 0).await.as_deref(), Ok("t1"));
    fake.grant("t2", 3600);
    assert!(source.invalidate(at(10)));
    assert_eq!(read(&source, 10).await.as_deref(), Ok("t2"));
    assert!(!source.invalidate(at(39)));
    assert!(source.invalidate(at(40)));
}

#[tokio::test]
async fn refusal_names_setting_and_code_without_description() {
    let fake = FakeEndpoint::start().await;
    let source = entra(&fake, ("AZURE_CLIENT_SECRET", "canary"));
    for (status, body, expected) in [
        (401, r#"{"error":"invalid_client","error_description":"canary"}"#, "status 401, invalid_client"),
        (400, r#"{"error":"The Canary"}"#, "status 400"),
        (200, r#"{"token":"canary"}"#, "the answer has no credential"),
    ] {
        fake.answer_with(status, body);
        let error = source.get(at(0)).await.unwrap_err();
        assert_eq!((error.to_string(), error.is_transient), (format!("AZURE_CLIENT_SECRET: {expected}"), false));
    }
    assert!(!format!("{source:?}").contains("canary"));
}

#[test]
fn entra_needs_tenant_client_and_proof() {
    let entra = |pairs: &[(&str, &str)]| {
        let found = TokenSource::entra(&Settings::from_pairs(pairs.iter().copied()), &build_client().unwrap());
        found.map(|found| found.is_some()).map_err(|error| error.variable)
    };
    let all = [("AZURE_TENANT_ID", "t"), ("AZURE_CLIENT_ID", "c"), ("AZURE_CLIENT_SECRET", "s")];
    assert_eq!(entra(&all), Ok(true));
    for omitted in 0..3 {
        let some: Vec<_> = (0..3).filter(|at| *at != omitted).map(|at| all[at]).collect();
        assert_eq!(entra(&some), Ok(false));
    }
    for (host, accepted) in [("https://login.chinacloudapi.cn/", true), ("http://login.example.com", false)] {
        let found = entra(&[&all[..], &[("AZURE_AUTHORITY_HOST", host)]].concat());
        assert_eq!(found.is_ok(), accepted, "{host}");
    }
    assert_eq!(entra(&[("AZURE_TENANT_ID", "a/b")]), Err("AZURE_TENANT_ID".to_owned()));
}
