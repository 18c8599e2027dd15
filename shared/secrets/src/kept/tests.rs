use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use secrecy::ExposeSecret;
use settings::Settings;
use tokio::net::TcpListener;

use super::*;
use crate::vault::Service;

/// Responds like the service with what the test sets, and records the requests.
#[derive(Clone)]
struct Fake {
    answer: Arc<Mutex<(StatusCode, String)>>,
    asked: Arc<Mutex<Vec<(HeaderMap, String)>>>,
}

impl Fake {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = Self { answer: Arc::default(), asked: Arc::default() };
        let routes = Router::new().fallback(answer).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (fake, url)
    }

    fn says(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (StatusCode::from_u16(status).unwrap(), body.to_owned());
    }

    fn holds(&self, value: &str) {
        self.says(200, &format!(r#"{{"Parameter":{{"Value":"{value}"}}}}"#));
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

async fn answer(State(fake): State<Fake>, headers: HeaderMap, body: String) -> (StatusCode, String) {
    fake.asked.lock().unwrap().push((headers, body));
    fake.answer.lock().unwrap().clone()
}

fn kept(service: Service, url: &str) -> Kept {
    let endpoint = match service {
        Service::Parameters => "AWS_ENDPOINT_URL_SSM",
        Service::Secrets => "AWS_ENDPOINT_URL_SECRETS_MANAGER",
    };
    let settings = Settings::from_pairs([
        ("PLACE", "/chat/ark"),
        (endpoint, url),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "canary-aws"),
        ("AWS_SESSION_TOKEN", "session"),
    ]);
    Kept::new(Vault::from_settings(&settings, "PLACE", service).unwrap().unwrap())
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

async fn read(kept: &Kept, seconds: u64) -> Option<String> {
    kept.reveal(at(seconds)).await.ok().map(|value| value.expose_secret().to_owned())
}

#[tokio::test]
async fn parameter_request_is_signed_and_sets_decryption() {
    let (fake, url) = Fake::start().await;
    fake.holds("sk-1");
    assert_eq!(read(&kept(Service::Parameters, &url), 0).await.as_deref(), Some("sk-1"));
    let (headers, body) = fake.asked.lock().unwrap().remove(0);
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
    let (fake, url) = Fake::start().await;
    fake.says(200, r#"{"SecretString":"sk-2"}"#);
    assert_eq!(read(&kept(Service::Secrets, &url), 0).await.as_deref(), Some("sk-2"));
    let (headers, body) = fake.asked.lock().unwrap().remove(0);
    assert_eq!(
        (body.as_str(), &headers["x-amz-target"]),
        (r#"{"SecretId":"/chat/ark"}"#, &"secretsmanager.GetSecretValue".parse().unwrap())
    );
    assert!(headers["authorization"].to_str().unwrap().contains("/eu-west-1/secretsmanager/aws4_request"));
}

#[tokio::test]
async fn value_is_read_again_after_five_minutes() {
    let (fake, url) = Fake::start().await;
    let kept = kept(Service::Parameters, &url);
    fake.holds("sk-1");
    assert_eq!(read(&kept, 0).await.as_deref(), Some("sk-1"));
    fake.holds("sk-2");
    assert_eq!(read(&kept, 299).await.as_deref(), Some("sk-1"));
    assert_eq!(read(&kept, 300).await.as_deref(), Some("sk-2"));
    assert_eq!(fake.count(), 2);
}

#[tokio::test]
async fn rejected_value_is_reread_at_limited_rate() {
    let (fake, url) = Fake::start().await;
    let kept = kept(Service::Parameters, &url);
    fake.holds("sk-1");
    read(&kept, 0).await;
    fake.holds("sk-2");
    assert_eq!((read(&kept, 1).await.as_deref(), fake.count()), (Some("sk-1"), 1));
    assert!(kept.refused(at(1)));
    assert_eq!((read(&kept, 1).await.as_deref(), fake.count()), (Some("sk-2"), 2));
    assert!(!kept.refused(at(30)));
    assert_eq!((read(&kept, 30).await.as_deref(), fake.count()), (Some("sk-2"), 2));
    assert!(kept.refused(at(31)));
    assert_eq!((read(&kept, 31).await.as_deref(), fake.count()), (Some("sk-2"), 3));
}

#[tokio::test]
async fn f095_failed_first_read_is_retried_next_time() {
    let (fake, url) = Fake::start().await;
    let kept = kept(Service::Parameters, &url);
    fake.says(400, r#"{"__type":"AccessDeniedException","message":"canary"}"#);
    let error = kept.reveal(at(0)).await.unwrap_err();
    assert_eq!(error.to_string(), "the secret of PLACE could not be read");
    fake.holds("sk-1");
    assert_eq!(read(&kept, 0).await.as_deref(), Some("sk-1"));
}

#[tokio::test]
async fn stale_value_serves_one_hour_during_outage() {
    let (fake, url) = Fake::start().await;
    let kept = kept(Service::Parameters, &url);
    fake.holds("sk-1");
    read(&kept, 0).await;
    fake.says(500, "");
    assert_eq!((read(&kept, 300).await.as_deref(), fake.count()), (Some("sk-1"), 2));
    assert_eq!(
        (read(&kept, 329).await.as_deref(), fake.count()),
        (Some("sk-1"), 2),
        "a failure is not repeated at once"
    );
    assert!(!kept.refused(at(329)));
    assert_eq!((read(&kept, 330).await.as_deref(), fake.count()), (Some("sk-1"), 3));
    assert_eq!(read(&kept, 3599).await.as_deref(), Some("sk-1"));
    assert_eq!(read(&kept, 3600).await, None);
}

#[tokio::test]
async fn concurrent_callers_cause_one_read() {
    let (fake, url) = Fake::start().await;
    let kept = kept(Service::Parameters, &url);
    fake.holds("sk-1");
    let values = tokio::join!(read(&kept, 0), read(&kept, 0), read(&kept, 0), read(&kept, 0));
    assert_eq!(<[_; 4]>::from(values), [0; 4].map(|_| Some("sk-1".to_owned())));
    assert_eq!(fake.count(), 1);
    fake.says(500, "");
    let failed = tokio::join!(read(&kept, 9000), read(&kept, 9000));
    assert_eq!((failed, fake.count()), ((None, None), 2));
}
