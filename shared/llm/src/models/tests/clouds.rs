use super::*;
use crate::{Auth, Cloud};

const REGION: (&str, &str) = ("AWS_REGION", "eu-central-1");
const AWS: [(&str, &str); 3] = [REGION, ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
const ENTRA: [(&str, &str); 3] = [("AZURE_TENANT_ID", "t"), ("AZURE_CLIENT_ID", "c"), ("AZURE_CLIENT_SECRET", "s")];

/// The models of a row with the given fields; `KEY` and all identities but Google's are set.
fn row(fields: &str) -> Result<Models, SettingError> {
    let json = format!(r#"[{{"name":"x","model":"m",{fields}}}]"#);
    read(&[&AWS[..], &ENTRA, &[("MODELS", &*json), ("KEY", "k")]].concat())
}

/// Authentication, cloud, region, base URL and whether there is a key.
fn access(models: &Models) -> (Auth, Option<Cloud>, Option<&str>, &str, bool) {
    let config = models.default_model().unwrap().config();
    (config.auth, config.cloud, config.region.as_deref(), &config.base_url, config.api_key.is_some())
}

#[test]
fn bedrock_model_alone_is_a_signed_default() {
    for id in [
        "amazon.nova-2-lite-v1:0",
        "eu.anthropic.claude-sonnet-5",
        "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc",
    ] {
        let models = read(&[&AWS[..], &[("BEDROCK_MODEL", id)]].concat()).unwrap();
        let base = "https://bedrock-runtime.eu-central-1.amazonaws.com";
        let expected = (Auth::Aws, Some(Cloud::Bedrock), Some("eu-central-1"), base, false);
        assert_eq!(access(&models), expected);
        let ModelConfig { name, model, wire, .. } = models.default_model().unwrap().config();
        assert_eq!((&**name, &**model, *wire), ("bedrock", id, Wire::Converse));
    }
}

#[test]
fn bedrock_model_comes_after_other_built_in_models() {
    let local = [("OLLAMA_API_URL", "http://localhost"), ("OLLAMA_MODEL", "m")];
    let row = [("MODELS", r#"[{"name":"x","model":"m","baseUrl":"http://localhost"}]"#)];
    let models = read(&[&AWS[..], &local, &row, &[("BEDROCK_MODEL", "id")]].concat()).unwrap();
    let names: Vec<_> = models.iter().map(|client| &*client.config().name).collect();
    assert_eq!(names, ["local", "bedrock", "x"]);
    assert!(read(&[("MODEL_OPTIONS", r#"{"bedrock":{}}"#)]).is_ok(), "a note, as for the other built-in models");
}

#[test]
fn bearer_key_of_bedrock_replaces_missing_credentials() {
    let bedrock = [REGION, ("BEDROCK_MODEL", "id"), ("AWS_BEARER_TOKEN_BEDROCK", "k")];
    assert!(access(&read(&bedrock).unwrap()).4);
    for credentials in [("AWS_ACCESS_KEY_ID", "a"), ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x")] {
        assert!(!access(&read(&[&bedrock[..], &[credentials]].concat()).unwrap()).4);
    }
}

#[test]
fn region_is_that_of_row_url_or_process() {
    let region = |fields: &str| access(&row(fields).unwrap()).2.map(str::to_owned);
    let base = r#""auth":"aws","baseUrl":"https://bedrock-mantle.us-west-2.api.aws/v1""#;
    assert_eq!(region(base).as_deref(), Some("us-west-2"));
    assert_eq!(region(&format!(r#"{base},"region":"us-east-1""#)).as_deref(), Some("us-east-1"));
    assert_eq!(region(r#""auth":"aws","baseUrl":"https://x.example""#).as_deref(), Some("eu-central-1"));
    let china = row(r#""wire":"converse","region":"cn-north-1""#).unwrap();
    assert_eq!(access(&china).3, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn");
    let fallback = read(&[("AWS_DEFAULT_REGION", "eu-west-1"), ("BEDROCK_MODEL", "id")]).unwrap();
    assert_eq!(access(&fallback).2, Some("eu-west-1"));
    let error = read(&[("BEDROCK_MODEL", "id")]).err().unwrap().to_string();
    assert_eq!(
        error,
        "AWS_REGION: expected the name of an AWS region, such as eu-central-1, or \"region\" in the row of `bedrock`"
    );
    let error = row(r#""wire":"converse","region":"a/b""#).err().unwrap().to_string();
    assert_eq!(error, "MODELS[0].region: expected the name of an AWS region, such as eu-central-1");
}

#[test]
fn cloud_and_authentication_follow_host_and_key() {
    let (aws, azure) = (Some(Cloud::Bedrock), Some(Cloud::Azure));
    for (fields, expected) in [
        (r#""baseUrl":"https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1""#, (Auth::Aws, aws)),
        (r#""baseUrl":"https://bedrock-mantle.eu-west-1.api.aws/v1","apiKeyVar":"KEY""#, (Auth::Key, aws)),
        (r#""baseUrl":"https://bedrock-runtime.example.com/v1""#, (Auth::Key, None)),
        (r#""baseUrl":"https://x.example","provider":"bedrock""#, (Auth::Aws, aws)),
        (r#""baseUrl":"https://x.example","auth":"aws","wire":"anthropic""#, (Auth::Aws, aws)),
        (r#""wire":"converse","apiKeyVar":"KEY""#, (Auth::Key, aws)),
        (r#""baseUrl":"https://n.openai.azure.com/openai/v1","apiKeyVar":"KEY""#, (Auth::Azure, azure)),
        (r#""baseUrl":"https://n.services.ai.azure.com/openai/v1""#, (Auth::Azure, azure)),
        (r#""baseUrl":"https://n.openai.azure.com/v1","auth":"key","apiKeyVar":"KEY""#, (Auth::Key, azure)),
        (r#""baseUrl":"https://x.example","provider":"azure""#, (Auth::Azure, azure)),
    ] {
        let models = row(fields).unwrap();
        assert_eq!((access(&models).0, access(&models).1), expected, "{fields}");
    }
    // A key of Vertex AI's express mode.
    let hosts = ["aiplatform.googleapis.com", "us-east5-aiplatform.googleapis.com", "aiplatform.eu.rep.googleapis.com"];
    for host in hosts {
        let fields = format!(r#""wire":"gemini","baseUrl":"https://{host}/v1","apiKeyVar":"KEY""#);
        let models = row(&fields).unwrap();
        assert_eq!((access(&models).0, access(&models).1), (Auth::Key, Some(Cloud::Vertex)));
        let fields = format!(r#""wire":"gemini","baseUrl":"https://{host}/v1""#);
        assert_eq!(row(&fields).err().unwrap().variable, "GOOGLE_APPLICATION_CREDENTIALS");
    }
    assert_eq!(access(&row(r#""baseUrl":"https://aiplatform.googleapis.com.example/v1""#).unwrap()).1, None);
}

#[test]
fn option_provider_leaves_the_cloud() {
    let json = r#"[{"name":"x","model":"m","provider":"azure","baseUrl":"https://x.example","apiKeyVar":"KEY"}]"#;
    let options = ("MODEL_OPTIONS", r#"{"x":{"provider":"openai"}}"#);
    let models = read(&[("MODELS", json), ("KEY", "k"), options]).unwrap();
    assert_eq!(access(&models), (Auth::Azure, Some(Cloud::Azure), None, "https://x.example", true));
    assert_eq!(models.default_model().unwrap().provider(), "openai");
}

#[test]
fn error_names_what_a_row_accepts() {
    let accepted = |fields: &str| row(fields).err().map(|error| error.to_string()).unwrap_or_default();
    for (fields, part) in [
        (r#""auth":"token","baseUrl":"https://x""#, "MODELS[0].auth: expected key, aws, azure or google"),
        (r#""provider":"gcp","baseUrl":"https://x""#, "MODELS[0].provider: expected bedrock, azure or vertex"),
        (r#""auth":"aws""#, "MODELS[0].baseUrl: expected a URL, or where neither"),
        (r#""provider":"azure","apiKeyVar":"KEY""#, "MODELS[0].baseUrl: expected a URL, or where neither"),
        (r#""auth":"aws","baseUrl":"http://x.example""#, "MODELS[0].baseUrl: expected a URL with https"),
        (r#""auth":"aws","wire":"ollama","baseUrl":"https://x""#, "converse, openai, responses and anthropic"),
        (r#""auth":"azure","wire":"converse","baseUrl":"https://x""#, "for converse only aws or key"),
    ] {
        assert!(accepted(fields).contains(part), "{fields}: {}", accepted(fields));
    }
    let loopback = row(r#""auth":"aws","baseUrl":"http://127.0.0.1:9/v1""#).unwrap();
    assert_eq!(access(&loopback).3, "http://127.0.0.1:9/v1");
    let json = r#"[{"name":"x","model":"m","baseUrl":"https://x","auth":"azure"}]"#;
    let error = read(&[("MODELS", json), ENTRA[0], ENTRA[1]]).err().unwrap();
    assert_eq!(error.variable, "AZURE_TENANT_ID");
    assert!(error.accepted.contains("AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE"), "{error}");
}
