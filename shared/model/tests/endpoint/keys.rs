//! Keys that are kept elsewhere. Time is real here: a secret is read within a limit that virtual time would run into.

use model::ModelError;

use crate::server::{Answer, Server, ask, later, question};

const REFUSED: &str = r#"{"error":{"code":"AuthenticationError","message":"no"}}"#;

fn parameter(value: &str) -> Answer {
    Answer::json(200, &format!(r#"{{"Parameter":{{"Value":"{value}"}}}}"#))
}

/// Asks an endpoint that says this, with a key whose place says that; the error, and the keys that were sent.
async fn sent(endpoint: Vec<Answer>, place: &Server) -> (Option<ModelError>, Vec<String>) {
    let server = Server::start(endpoint).await;
    let client = server.client(&[("OPENAI_API_KEY_PARAMETER", "/chat/key"), ("AWS_ENDPOINT_URL_SSM", &place.root)]);
    let (_, error) = ask(&client, &question(), later()).await;
    let keys = server.asked().into_iter().map(|asked| asked.header("authorization").unwrap_or_default().to_owned());
    (error, keys.collect())
}

#[tokio::test]
async fn a_key_that_was_replaced_where_it_is_kept_is_read_again_when_it_is_refused() {
    let place = Server::start([parameter("old"), parameter("new")]).await;
    let outcome = sent(vec![Answer::json(401, REFUSED), Answer::hello()], &place).await;
    assert_eq!(outcome, (None, vec!["Bearer old".to_owned(), "Bearer new".to_owned()]));
}

#[tokio::test]
async fn f007_a_key_that_stays_refused_is_read_again_once() {
    let place = Server::start([parameter("old")]).await;
    let (error, keys) = sent(vec![Answer::json(401, REFUSED)], &place).await;
    assert_eq!((error, keys.len(), place.asked().len()), (Some(ModelError::Auth), 2, 2));
}

#[tokio::test]
async fn a_key_that_cannot_be_read_asks_the_model_nothing() {
    let place = Server::start([Answer::json(400, r#"{"__type":"AccessDeniedException"}"#)]).await;
    let (error, keys) = sent(vec![Answer::hello()], &place).await;
    assert_eq!((error, keys.len()), (Some(ModelError::Unavailable), 0));
}
