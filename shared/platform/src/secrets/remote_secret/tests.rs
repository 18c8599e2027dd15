use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use crate::settings::Settings;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use tokio::net::TcpListener;

use super::*;

/// Responds like the service with what the test sets, and records the requests.
#[derive(Clone)]
struct FakeService {
    response: Arc<Mutex<(StatusCode, String)>>,
    requests: Arc<Mutex<Vec<(HeaderMap, String)>>>,
}

impl FakeService {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = Self { response: Arc::default(), requests: Arc::default() };
        let routes = Router::new().fallback(respond).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (fake, url)
    }

    fn respond_with(&self, status: u16, body: &str) {
        *self.response.lock().unwrap() = (StatusCode::from_u16(status).unwrap(), body.to_owned());
    }

    fn store_parameter(&self, value: &str) {
        self.respond_with(200, &format!(r#"{{"Parameter":{{"Value":"{value}"}}}}"#));
    }

    fn request_count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

async fn respond(State(fake): State<FakeService>, headers: HeaderMap, body: String) -> (StatusCode, String) {
    fake.requests.lock().unwrap().push((headers, body));
    fake.response.lock().unwrap().clone()
}

fn remote_secret(service: SecretService, url: &str) -> RemoteSecret {
    let endpoint = match service {
        SecretService::Parameters => "AWS_ENDPOINT_URL_SSM",
        SecretService::Secrets => "AWS_ENDPOINT_URL_SECRETS_MANAGER",
    };
    let settings = Settings::from_pairs([
        ("PLACE", "/chat/ark"),
        (endpoint, url),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "canary-aws"),
        ("AWS_SESSION_TOKEN", "session"),
    ]);
    let accepts = |value: &str| !value.is_empty();
    RemoteSecret::from_settings(&settings, "PLACE", service, accepts).unwrap().unwrap()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

async fn read(secret: &RemoteSecret, seconds: u64) -> Option<String> {
    secret.get(at(seconds)).await.ok().map(|value| value.expose_secret().to_owned())
}

#[tokio::test]
async fn parameter_request_is_signed_and_sets_decryption() {
    let (fake, url) = FakeService::start().await;
    fake.store_parameter("sk-1");
    assert_eq!(read(&remote_secret(SecretService::Parameters, &url), 0).await.as_deref(), Some("sk-1"));
    let (headers, body) = fake.requests.lock().unwrap().remove(0);
    assert_eq!(body, r#"{"Name":"/chat/ark","WithDecryption":true}"#);
    assert_eq!(headers["x-amz-target"], "AmazonSSM.GetParameter");
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    assert_eq!(headers["x-amz-date"], "20270115T080000Z");
    assert_eq!(headers["x-amz-security-token"], "session");
    let authorisation = headers["authorization"].to_str().unwrap();
    let (signed, signature) = authorisation.rsplit_once("Signature=").unwrap();
    assert_eq!(
        signed,
        "AWS4-HMAC-SHA256 Credential=AKIA/20270115/eu-west-1/ssm/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, "
    );
    assert_eq!(signature.len(), 64);
}

#[tokio::test]
async fn secret_is_requested_by_id() {
    let (fake, url) = FakeService::start().await;
    fake.respond_with(200, r#"{"SecretString":"sk-2"}"#);
    assert_eq!(read(&remote_secret(SecretService::Secrets, &url), 0).await.as_deref(), Some("sk-2"));
    let (headers, body) = fake.requests.lock().unwrap().remove(0);
    assert_eq!(
        (body.as_str(), &headers["x-amz-target"]),
        (r#"{"SecretId":"/chat/ark"}"#, &"secretsmanager.GetSecretValue".parse().unwrap())
    );
    assert!(headers["authorization"].to_str().unwrap().contains("/eu-west-1/secretsmanager/aws4_request"));
}

#[tokio::test]
async fn value_is_read_again_after_five_minutes() {
    let (fake, url) = FakeService::start().await;
    let secret = remote_secret(SecretService::Parameters, &url);
    fake.store_parameter("sk-1");
    assert_eq!(read(&secret, 0).await.as_deref(), Some("sk-1"));
    fake.store_parameter("sk-2");
    assert_eq!(read(&secret, 299).await.as_deref(), Some("sk-1"));
    assert_eq!(read(&secret, 300).await.as_deref(), Some("sk-2"));
    assert_eq!(fake.request_count(), 2);
}

#[tokio::test]
async fn rejected_value_is_reread_at_limited_rate() {
    let (fake, url) = FakeService::start().await;
    let secret = remote_secret(SecretService::Parameters, &url);
    fake.store_parameter("sk-1");
    read(&secret, 0).await;
    fake.store_parameter("sk-2");
    assert_eq!((read(&secret, 1).await.as_deref(), fake.request_count()), (Some("sk-1"), 1));
    assert!(secret.invalidate(at(1)));
    assert_eq!((read(&secret, 1).await.as_deref(), fake.request_count()), (Some("sk-2"), 2));
    assert!(!secret.invalidate(at(30)));
    assert_eq!((read(&secret, 30).await.as_deref(), fake.request_count()), (Some("sk-2"), 2));
    assert!(secret.invalidate(at(31)));
    assert_eq!((read(&secret, 31).await.as_deref(), fake.request_count()), (Some("sk-2"), 3));
}

#[tokio::test]
async fn f095_failed_first_read_is_retried_next_time() {
    let (fake, url) = FakeService::start().await;
    let secret = remote_secret(SecretService::Parameters, &url);
    fake.respond_with(400, r#"{"__type":"AccessDeniedException","message":"canary"}"#);
    let error = secret.get(at(0)).await.unwrap_err();
    assert_eq!(error.to_string(), "the secret of PLACE could not be read: status 400, AccessDeniedException");
    fake.store_parameter("sk-1");
    assert_eq!(read(&secret, 0).await.as_deref(), Some("sk-1"));
}

#[tokio::test]
async fn stale_value_serves_one_hour_during_outage() {
    let (fake, url) = FakeService::start().await;
    let secret = remote_secret(SecretService::Parameters, &url);
    fake.store_parameter("sk-1");
    read(&secret, 0).await;
    fake.respond_with(500, "");
    assert_eq!((read(&secret, 300).await.as_deref(), fake.request_count()), (Some("sk-1"), 2));
    assert_eq!(
        (read(&secret, 329).await.as_deref(), fake.request_count()),
        (Some("sk-1"), 2),
        "a failure is not repeated at once"
    );
    assert!(!secret.invalidate(at(329)));
    assert_eq!((read(&secret, 330).await.as_deref(), fake.request_count()), (Some("sk-1"), 3));
    assert_eq!(read(&secret, 3599).await.as_deref(), Some("sk-1"));
    assert_eq!(read(&secret, 3600).await, None);
}

#[tokio::test]
async fn concurrent_callers_cause_one_read() {
    let (fake, url) = FakeService::start().await;
    let secret = remote_secret(SecretService::Parameters, &url);
    fake.store_parameter("sk-1");
    let values = tokio::join!(read(&secret, 0), read(&secret, 0), read(&secret, 0), read(&secret, 0));
    assert_eq!(<[_; 4]>::from(values), [0; 4].map(|_| Some("sk-1".to_owned())));
    assert_eq!(fake.request_count(), 1);
    fake.respond_with(500, "");
    let failed = tokio::join!(read(&secret, 9000), read(&secret, 9000));
    assert_eq!((failed, fake.request_count()), ((None, None), 2));
}

#[test]
fn secret_must_be_a_valid_header_value() {
    let read = |text: &str| parse_value(text.as_bytes(), is_sendable).map(|value| value.expose_secret().to_owned());
    assert_eq!(read(r#"{"Parameter":{"Value":"sk-1\n"}}"#).as_deref(), Some("sk-1"));
    assert_eq!(read(r#"{"SecretString":"sk-2"}"#).as_deref(), Some("sk-2"));
    for bad in [r#"{"SecretString":""}"#, r#"{"SecretString":"a b"}"#, r#"{"SecretBinary":"AA=="}"#, "{}", ""] {
        assert_eq!(read(bad), None, "{bad}");
    }
}
