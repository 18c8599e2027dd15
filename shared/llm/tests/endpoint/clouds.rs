//! How requests to models of clouds are authenticated. These tests use real time, as those of keys do.

use llm::{ModelClient, ModelError, Models};
use platform::settings::Settings;

use crate::server::{Answer, Server, far_deadline, hello_prompt, read_reply};

const EXPIRED: &str = r#"{"message":"The security token included in the request is expired"}"#;

/// The model of one row, with more settings.
fn client(row: &str, more: &[(&str, &str)]) -> ModelClient {
    let json = format!(r#"[{{"name":"x","model":"m",{row}}}]"#);
    let settings = Settings::from_pairs(more.iter().copied().chain([("MODELS", &*json), ("KEY", "test-key")]));
    let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
    models.default_model().unwrap().clone()
}

async fn error_of(client: &ModelClient) -> Option<ModelError> {
    read_reply(client, &hello_prompt(), far_deadline()).await.1
}

/// Returns the headers with keys of the requests so far.
fn keys(server: &Server) -> Vec<String> {
    let names = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
    let keys = |request: &crate::server::ReceivedRequest| {
        let set = names.iter().filter_map(|name| Some(format!("{name}: {}", request.header(name)?)));
        set.collect::<Vec<_>>().join(", ")
    };
    server.requests().iter().map(keys).collect()
}

fn credentials(id: &str) -> Answer {
    let end = "2100-01-01T00:00:00Z";
    Answer::json(200, &format!(r#"{{"AccessKeyId":"{id}","SecretAccessKey":"s","Token":"t","Expiration":"{end}"}}"#))
}

#[tokio::test]
async fn key_is_in_the_header_of_the_cloud() {
    let server = Server::start([Answer::json(400, "{}")]).await;
    for (fields, expected) in [
        (r#""provider":"azure","apiKeyVar":"KEY""#, "api-key: test-key"),
        (r#""provider":"azure","wire":"anthropic","apiKeyVar":"KEY""#, "api-key: test-key"),
        (r#""provider":"bedrock","wire":"anthropic","apiKeyVar":"KEY""#, "authorization: Bearer test-key"),
        (r#""provider":"vertex","wire":"gemini","apiKeyVar":"KEY""#, "x-goog-api-key: test-key"),
        (r#""apiKeyVar":"KEY""#, "authorization: Bearer test-key"),
    ] {
        error_of(&client(&format!(r#""baseUrl":"{}",{fields}"#, server.root), &[])).await;
        assert_eq!(keys(&server).last().unwrap(), expected, "{fields}");
    }
}

#[tokio::test]
async fn expired_credentials_are_read_again() {
    let container = Server::start([credentials("FIRST"), credentials("SECOND")]).await;
    let server = Server::start([Answer::json(403, EXPIRED), Answer::hello()]).await;
    let row = format!(r#""baseUrl":"{}","auth":"aws","region":"eu-central-1""#, server.root);
    let client = client(&row, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container.root)]);
    assert_eq!(error_of(&client).await, None);
    let ids: Vec<_> =
        keys(&server).iter().map(|key| key.split(['=', '/']).nth(1).unwrap_or_default().to_owned()).collect();
    assert_eq!(ids, ["FIRST", "SECOND"]);
    let request = &server.requests()[0];
    assert!(request.header("authorization").unwrap().contains("/eu-central-1/bedrock/aws4_request, SignedHeaders="));
    assert_eq!(request.header("x-amz-security-token"), Some("t"));
}

#[tokio::test]
async fn denied_permission_reads_no_credentials_again() {
    let container = Server::start([credentials("FIRST")]).await;
    let denied = r#"{"error":{"code":"AccessDeniedException","message":"no"}}"#;
    let server = Server::start([Answer::json(403, denied)]).await;
    let row = format!(r#""baseUrl":"{}","auth":"aws","region":"eu-central-1""#, server.root);
    let client = client(&row, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container.root)]);
    assert_eq!(error_of(&client).await, Some(ModelError::Auth));
    assert_eq!((server.requests().len(), container.requests().len()), (1, 1));
}

#[tokio::test]
async fn missing_credentials_send_no_request() {
    let server = Server::start([Answer::hello()]).await;
    let row = format!(r#""baseUrl":"{}","auth":"aws","region":"eu-central-1""#, server.root);
    assert_eq!(error_of(&client(&row, &[])).await, Some(ModelError::Auth));
    let container = Server::start([Answer::json(503, "{}"), credentials("ID")]).await;
    let client = client(&row, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container.root)]);
    assert!(server.requests().is_empty());
    assert_eq!(error_of(&client).await, None, "the second attempt had credentials");
    assert_eq!((server.requests().len(), container.requests().len()), (1, 2));
}

#[tokio::test]
async fn rejected_token_is_replaced_for_one_more_attempt() {
    let token = |token: &str| Answer::json(200, &format!(r#"{{"access_token":"{token}","expires_in":3600}}"#));
    let authority = Server::start([token("first"), token("second")]).await;
    let refused = r#"{"statusCode":401,"message":"Unauthorized."}"#;
    let server = Server::start([Answer::json(401, refused), Answer::hello()]).await;
    let entra = [
        ("AZURE_TENANT_ID", "t"),
        ("AZURE_CLIENT_ID", "c"),
        ("AZURE_CLIENT_SECRET", "s"),
        ("AZURE_AUTHORITY_HOST", &*authority.root),
    ];
    let client = client(&format!(r#""baseUrl":"{}","provider":"azure""#, server.root), &entra);
    assert_eq!(error_of(&client).await, None);
    assert_eq!(keys(&server), ["authorization: Bearer first", "authorization: Bearer second"]);
}
