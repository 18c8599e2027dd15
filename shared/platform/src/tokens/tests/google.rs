use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde_json::{Value, json};

use super::*;

const AWS: [(&str, &str); 4] = [
    ("AWS_REGION", "eu-central-1"),
    ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
    ("AWS_SECRET_ACCESS_KEY", "canary-secret"),
    ("AWS_SESSION_TOKEN", "session"),
];

fn source(name: &str, file: &Value) -> Result<TokenSource, String> {
    let path = write_file(name, &file.to_string());
    let settings = Settings::from_pairs(AWS.into_iter().chain([("GOOGLE_APPLICATION_CREDENTIALS", &*path)]));
    let http = build_client().unwrap();
    let aws = Arc::new(AwsCredentials::from_settings(&settings));
    TokenSource::google(&settings, &http, aws).map_err(|error| error.to_string())
}

fn service_account(fake: &FakeEndpoint, key: &str) -> Value {
    json!({
        "type": "service_account", "project_id": "p", "private_key_id": "kid1", "private_key": key,
        "client_email": "chat@p.iam.gserviceaccount.com", "token_uri": format!("{}/token", fake.url),
    })
}

fn external_account(fake: &FakeEndpoint, credential_source: &Value) -> Value {
    json!({
        "type": "external_account", "audience": "//iam.googleapis.com/pool/provider",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": format!("{}/v1/token", fake.url),
        "credential_source": credential_source,
    })
}

fn decoded(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[tokio::test]
async fn service_account_signs_its_request_for_a_token() {
    let fake = FakeEndpoint::start().await;
    fake.grant("ya29.1", 3599);
    let key = format!("-----BEGIN {0}-----\n{1}\n-----END {0}-----\n", "PRIVATE KEY", rsa_key::PKCS8);
    let source = source("service", &service_account(&fake, &key)).unwrap();
    assert_eq!(read(&source, 0).await.as_deref(), Ok("ya29.1"));
    let request = fake.take_requests().remove(0);
    let form = request.form();
    assert_eq!((&*request.path, &*form["grant_type"]), ("/token", "urn:ietf:params:oauth:grant-type:jwt-bearer"));
    let (message, signature) = form["assertion"].rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    assert_eq!(decoded(header), json!({"alg": "RS256", "typ": "JWT", "kid": "kid1"}));
    let expected = json!({
        "iss": "chat@p.iam.gserviceaccount.com", "scope": "https://www.googleapis.com/auth/cloud-platform",
        "aud": format!("{}/token", fake.url), "iat": 1_795_680_000, "exp": 1_795_683_600,
    });
    assert_eq!(decoded(claims), expected);
    let public = RsaPublicKeyComponents { n: URL_SAFE_NO_PAD.decode(rsa_key::MODULUS).unwrap(), e: vec![1, 0, 1] };
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    public.verify(&RSA_PKCS1_2048_8192_SHA256, message.as_bytes(), &signature).unwrap();
}

#[tokio::test]
async fn unusable_private_key_is_reported_without_it() {
    let fake = FakeEndpoint::start().await;
    let source = source("bad-key", &service_account(&fake, "canary")).unwrap();
    let error = read(&source, 0).await.unwrap_err();
    assert_eq!(error, "GOOGLE_APPLICATION_CREDENTIALS: the private key cannot be used");
    assert!(fake.take_requests().is_empty());
}

#[tokio::test]
async fn file_of_other_form_or_address_is_refused() {
    let fake = FakeEndpoint::start().await;
    let mut unprotected = service_account(&fake, "canary");
    unprotected["token_uri"] = json!("http://token.example.com");
    let mut impersonating = external_account(&fake, &json!({"file": "/canary"}));
    impersonating["service_account_impersonation_url"] = json!("http://iam.example.com");
    for file in [json!({"type": "authorized_user"}), json!("canary"), unprotected, impersonating] {
        let error = source("other", &file).unwrap_err();
        assert!(error.starts_with("GOOGLE_APPLICATION_CREDENTIALS: expected the path of a JSON file"), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn federation_exchanges_token_in_file() {
    let fake = FakeEndpoint::start().await;
    fake.grant("ya29.2", 3600);
    let (plain, named) = (write_file("plain", "jwt-1\n"), write_file("named", r#"{"id_token":"jwt-2"}"#));
    let format = json!({"type": "json", "subject_token_field_name": "id_token"});
    for (credential_source, expected) in
        [(json!({"file": plain}), "jwt-1"), (json!({"file": named, "format": format}), "jwt-2")]
    {
        let source = source("external", &external_account(&fake, &credential_source)).unwrap();
        assert_eq!(read(&source, 0).await.as_deref(), Ok("ya29.2"));
        let form = fake.take_requests().remove(0).form();
        assert_eq!(form["subject_token"], expected);
        assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:token-exchange");
        assert_eq!(form["audience"], "//iam.googleapis.com/pool/provider");
        assert_eq!(form["subject_token_type"], "urn:ietf:params:oauth:token-type:jwt");
        assert_eq!(form["requested_token_type"], "urn:ietf:params:oauth:token-type:access_token");
    }
}

/// The signature is that of botocore 1.43.11 for the same request.
#[tokio::test]
async fn federation_proves_the_role_by_signed_request() {
    let fake = FakeEndpoint::start().await;
    fake.grant("ya29.3", 3600);
    let url = "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15";
    let aws = json!({"environment_id": "aws1", "regional_cred_verification_url": url});
    let source = source("aws", &external_account(&fake, &aws)).unwrap();
    assert_eq!(read(&source, 0).await.as_deref(), Ok("ya29.3"));
    let form = fake.take_requests().remove(0).form();
    let encoded = &form["subject_token"];
    assert!(!encoded.contains([' ', '+', '"']), "{encoded}");
    let json = form_urlencoded::parse(format!("x={encoded}").as_bytes()).next().unwrap().1.into_owned();
    let token: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(token["method"], "POST");
    assert_eq!(token["url"], "https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15");
    let headers = token["headers"].as_array().unwrap();
    let header = |name: &str| headers.iter().find(|one| one["key"] == name).unwrap()["value"].as_str().unwrap();
    assert_eq!(header("host"), "sts.eu-central-1.amazonaws.com");
    assert_eq!(header("x-goog-cloud-target-resource"), "//iam.googleapis.com/pool/provider");
    let signed = "SignedHeaders=host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource, Signature=a67951e93d221d9d0a1c918280e6be2ca35aa2661290e014b687d6ab776cd4d4";
    assert!(header("authorization").ends_with(signed), "{}", header("authorization"));
    assert!(!json.contains("canary"));
}

#[tokio::test]
async fn federation_becomes_service_account_if_file_names_it() {
    let (fake, iam) = (FakeEndpoint::start().await, FakeEndpoint::start().await);
    fake.grant("federated", 3600);
    iam.answer_with(200, r#"{"accessToken":"ya29.4","expireTime":"2026-11-26T08:06:00Z"}"#);
    let mut file = external_account(&fake, &json!({"file": write_file("impersonate", "jwt")}));
    file["service_account_impersonation_url"] = json!(format!("{}/sa:generateAccessToken", iam.url));
    let source = source("impersonating", &file).unwrap();
    assert_eq!(read(&source, 0).await.as_deref(), Ok("ya29.4"));
    let request = iam.take_requests().remove(0);
    assert_eq!(
        (&*request.path, request.headers["authorization"].to_str().unwrap()),
        ("/sa:generateAccessToken", "Bearer federated")
    );
    assert_eq!(request.body, r#"{"scope":["https://www.googleapis.com/auth/cloud-platform"]}"#);
    assert_eq!(read(&source, 59).await.as_deref(), Ok("ya29.4"));
    assert!(iam.take_requests().is_empty());
    assert_eq!(read(&source, 60).await.as_deref(), Ok("ya29.4"));
    assert_eq!(iam.take_requests().len(), 1, "five minutes before its end");
}
