//! Keys in an external store. These tests use real time: virtual time would exceed the timeout of reading a secret.

use llm::ModelError;

use crate::server::{Answer, Server, far_deadline, hello_prompt, read_reply};

const REFUSED: &str = r#"{"error":{"code":"AuthenticationError","message":"no"}}"#;

fn parameter(value: &str) -> Answer {
    Answer::json(200, &format!(r#"{{"Parameter":{{"Value":"{value}"}}}}"#))
}

/// Calls an endpoint with a key from an external store; returns the error and the keys that were sent.
async fn sent(endpoint: Vec<Answer>, key_store: &Server) -> (Option<ModelError>, Vec<String>) {
    let server = Server::start(endpoint).await;
    let client = server.client(&[("OPENAI_API_KEY_PARAMETER", "/chat/key"), ("AWS_ENDPOINT_URL_SSM", &key_store.root)]);
    let (_, error) = read_reply(&client, &hello_prompt(), far_deadline()).await;
    let keys =
        server.requests().into_iter().map(|request| request.header("authorization").unwrap_or_default().to_owned());
    (error, keys.collect())
}

#[tokio::test]
async fn rejected_key_is_read_again_from_store() {
    let key_store = Server::start([parameter("old"), parameter("new")]).await;
    let outcome = sent(vec![Answer::json(401, REFUSED), Answer::hello()], &key_store).await;
    assert_eq!(outcome, (None, vec!["Bearer old".to_owned(), "Bearer new".to_owned()]));
}

#[tokio::test]
async fn f007_repeatedly_rejected_key_is_read_again_once() {
    let key_store = Server::start([parameter("old")]).await;
    let (error, keys) = sent(vec![Answer::json(401, REFUSED)], &key_store).await;
    assert_eq!((error, keys.len(), key_store.requests().len()), (Some(ModelError::Auth), 2, 2));
}

#[tokio::test]
async fn unreadable_key_sends_no_request() {
    let key_store = Server::start([Answer::json(400, r#"{"__type":"AccessDeniedException"}"#)]).await;
    let (error, keys) = sent(vec![Answer::hello()], &key_store).await;
    assert_eq!((error, keys.len()), (Some(ModelError::Unavailable), 0));
}
