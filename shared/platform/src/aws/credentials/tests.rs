use reqwest::Method;

use super::*;
use crate::aws::{Call, Service};
use crate::tokens::tests::{FakeEndpoint, at, write_file};
use crate::transport::build_client;

const SCOPE: Scope<'_> = Scope { service: "bedrock", region: "eu-central-1" };

fn credentials(pairs: &[(&str, &str)]) -> AwsCredentials {
    AwsCredentials::from_settings(&Settings::from_pairs(pairs.iter().copied()))
}

fn request(url: &str) -> Request {
    let mut request = Request::new(Method::POST, url.parse().unwrap());
    request.headers_mut().insert(CONTENT_TYPE, "application/json".parse().unwrap());
    *request.body_mut() = Some(r#"{"messages":[]}"#.into());
    request
}

/// Signs a request; returns its header `authorization` or the error.
async fn sign(credentials: &AwsCredentials, url: &str, seconds: u64) -> Result<String, String> {
    let mut request = request(url);
    credentials
        .sign(&build_client().unwrap(), &mut request, SCOPE, at(seconds))
        .await
        .map_err(|error| error.to_string())?;
    Ok(request.headers()[AUTHORIZATION].to_str().unwrap().to_owned())
}

/// The signatures are those of botocore 1.43.11 for the same requests.
#[tokio::test]
async fn model_requests_are_signed_as_botocore_signs_them() {
    let environment = credentials(&[
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        ("AWS_SESSION_TOKEN", "session/token=="),
    ]);
    let host = "https://bedrock-runtime.eu-central-1.amazonaws.com";
    let arn = "arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc";
    for (url, signature) in [
        (
            format!("{host}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"),
            "ff77af00b6999238acc1ef023de30c05ef0132d7ef748a89d2dacf351d4c5bbe",
        ),
        (
            format!("{host}/model/{arn}/converse-stream"),
            "3d2d13768b7560a1d5583e8f123012ff48a7d8734b7911ed4c05219d66135407",
        ),
        (
            format!("{host}/openai/v1/chat/completions?b=2&a=x%20y"),
            "6a3532d3bb546a366fc074e1bf9e27caac0a741498c6ebd041fd9a8e6abe1220",
        ),
        (
            "http://127.0.0.1:3604/anthropic/v1/messages".to_owned(),
            "1730e3d4215ea7b7d11fce28264dccdffa35e7173939ae801b54820a5e712f50",
        ),
    ] {
        let expected = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261126/eu-central-1/bedrock/aws4_request, \
                        SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
        assert_eq!(sign(&environment, &url, 0).await, Ok(format!("{expected}{signature}")), "{url}");
    }
    assert!(!environment.invalidate(at(0)), "the environment does not change");
}

fn answer(id: &str, end: &str) -> String {
    format!(r#"{{"AccessKeyId":"{id}","SecretAccessKey":"canary","Token":"t","Expiration":"2026-11-26T{end}Z"}}"#)
}

#[tokio::test]
async fn container_credentials_are_renewed_before_their_end() {
    let fake = FakeEndpoint::start().await;
    fake.answer_with(200, &answer("FIRST", "09:00:00"));
    let path = write_file("container-token", "pod-token\n");
    let container = credentials(&[
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/v1/credentials", fake.url)),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &path),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "unused"),
    ]);
    let used = async |seconds| {
        let header = sign(&container, "https://model.example", seconds).await.unwrap();
        header.split_once("Credential=").unwrap().1.split_once('/').unwrap().0.to_owned()
    };
    let (a, b) = tokio::join!(used(0), used(0));
    assert_eq!((&*a, &*b, &*used(3299).await), ("FIRST", "FIRST", "FIRST"));
    let requests = fake.take_requests();
    assert_eq!((requests.len(), &*requests[0].path), (1, "/v1/credentials"));
    assert_eq!(requests[0].headers[AUTHORIZATION], "pod-token");
    fake.answer_with(200, &answer("SECOND", "10:00:00"));
    assert_eq!(used(3300).await, "SECOND");
    fake.answer_with(200, &answer("THIRD", "11:00:00"));
    assert!(container.invalidate(at(3400)));
    assert_eq!(used(3400).await, "THIRD");
    assert_eq!(fake.take_requests().len(), 2);
    assert!(!format!("{container:?}").contains("canary"));
}

#[tokio::test]
async fn services_use_the_credentials_of_a_container() {
    let fake = FakeEndpoint::start().await;
    fake.answer_with(200, &answer("CONTAINER", "09:00:00"));
    let uri = format!("{}/credentials", fake.url);
    let settings =
        Settings::from_pairs([("AWS_REGION", "eu-west-1"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri.as_str())]);
    let service = Service::from_settings(&settings, "bedrock-agentcore", "SEARCH_ENDPOINT").unwrap();
    let call = Call { method: Method::POST, path: "/", headers: &[], body: Vec::new() };
    let request = service.signed_request(&build_client().unwrap(), call, at(0)).await.unwrap().build().unwrap();
    let authorization = request.headers()[AUTHORIZATION].to_str().unwrap();
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=CONTAINER/20261126/eu-west-1/bedrock-agentcore/"));
}

#[test]
fn service_without_credentials_names_what_is_missing() {
    let missing = |pairs: &[(&str, &str)]| {
        let settings = Settings::from_pairs([&[("AWS_REGION", "eu-west-1")], pairs].concat());
        Service::from_settings(&settings, "ssm", "AT").map(|_| ()).map_err(|error| error.variable)
    };
    assert_eq!(missing(&[]), Err("AWS_ACCESS_KEY_ID".to_owned()));
    assert_eq!(missing(&[("AWS_ACCESS_KEY_ID", "a")]), Err("AWS_SECRET_ACCESS_KEY".to_owned()));
    assert_eq!(missing(&[("AT", "http://127.0.0.1:9")]), Ok(()), "a substitute needs none");
}

#[tokio::test]
async fn missing_credentials_name_their_settings() {
    let error = |pairs: &'static [(&str, &str)]| async move {
        sign(&credentials(pairs), "https://model.example", 0).await.unwrap_err()
    };
    assert_eq!(
        error(&[("AWS_ACCESS_KEY_ID", "canary")]).await,
        "AWS_ACCESS_KEY_ID: neither it with AWS_SECRET_ACCESS_KEY nor AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor \
         AWS_CONTAINER_CREDENTIALS_FULL_URI is set"
    );
    assert_eq!(
        error(&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://canary.example.com/")]).await,
        "AWS_CONTAINER_CREDENTIALS_FULL_URI: neither an https URL nor an address of a container"
    );
    assert_eq!(
        error(&[
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "https://127.0.0.1:9/"),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/canary"),
        ])
        .await,
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: the file cannot be read"
    );
}

#[test]
fn relative_address_is_that_of_ecs() {
    let settings = Settings::from_pairs([("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/x")]);
    let container = Container::from_settings(&settings).unwrap();
    assert_eq!(container.url, "http://169.254.170.2/v2/credentials/x");
}
