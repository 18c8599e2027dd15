//! Keys in an external store. These tests use real time: virtual time would exceed the timeout of reading a secret.

use model::ModelError;

use crate::server::{Answer, Server, ask, later, question};

const REFUSED: &str = r#"{"error":{"code":"AuthenticationError","message":"no"}}"#;

fn parameter(value: &str) -> Answer {
    Answer::json(200, &format!(r#"{{"Parameter":{{"Value":"{value}"}}}}"#))
}

/// Calls an endpoint with a key from an external store; returns the error and the keys that were sent.
async fn sent(endpoint: Vec<Answer>, place: &Server) -> (Option<ModelError>, Vec<String>) {
    let server = Server::start(endpoint).await;
    let client = server.client(&[("OPENAI_API_KEY_PARAMETER", "/chat/key"), ("AWS_ENDPOINT_URL_SSM", &place.root)]);
    let (_, error) = ask(&client, &question(), later()).await;
    let keys = server.asked().into_iter().map(|asked| asked.header("authorization").unwrap_or_default().to_owned());
    (error, keys.collect())
}

#[tokio::test]
async fn rejected_key_is_read_again_from_store() {
    let place = Server::start([parameter("old"), parameter("new")]).await;
    let outcome = sent(vec![Answer::json(401, REFUSED), Answer::hello()], &place).await;
    assert_eq!(outcome, (None, vec!["Bearer old".to_owned(), "Bearer new".to_owned()]));
}

#[tokio::test]
async fn f007_repeatedly_rejected_key_is_read_again_once() {
    let place = Server::start([parameter("old")]).await;
    let (error, keys) = sent(vec![Answer::json(401, REFUSED)], &place).await;
    assert_eq!((error, keys.len(), place.asked().len()), (Some(ModelError::Auth), 2, 2));
}

#[tokio::test]
async fn unreadable_key_sends_no_request() {
    let place = Server::start([Answer::json(400, r#"{"__type":"AccessDeniedException"}"#)]).await;
    let (error, keys) = sent(vec![Answer::hello()], &place).await;
    assert_eq!((error, keys.len()), (Some(ModelError::Unavailable), 0));
}
