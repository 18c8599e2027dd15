use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, IdentityCache, StalledStreamProtectionConfig};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;
use aws_types::service_config::{LoadServiceConfig, ServiceConfigKey};
use platform::settings::{SettingError, Settings};

use crate::http_client::SdkHttpClient;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);
const OPERATION_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ATTEMPTS: u32 = 3;

const ENDPOINT_VARIABLE: &str = "AWS_ENDPOINT_URL_DYNAMODB";

/// Builds the AWS configuration by hand: region, credentials from the environment, `AWS_ENDPOINT_URL_DYNAMODB`,
/// embedded roots, timeouts.
///
/// The override applies to DynamoDB alone, so the same configuration serves clients of other services. With it, region
/// and credentials are optional; without it they are required. Makes no call and reads no file.
pub fn sdk_config(settings: &Settings) -> Result<SdkConfig, SettingError> {
    let endpoint = settings.parse(ENDPOINT_VARIABLE, "a URL that begins with http:// or https://", parse_endpoint)?;
    let region = region(settings, endpoint.is_some())?;
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT_TIMEOUT);
    let timeouts = timeouts.operation_timeout(OPERATION_TIMEOUT);
    let http_client = SdkHttpClient::new(CONNECT_TIMEOUT)
        .map_err(|_| SettingError::new(ENDPOINT_VARIABLE, "an endpoint that TLS can be configured for"))?;
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .credentials_provider(SharedCredentialsProvider::new(credentials(settings, endpoint.is_some())?))
        // The credentials are constant: a cache would only add its own timeouts and buffer times.
        .identity_cache(IdentityCache::no_cache())
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS))
        .timeout_config(timeouts.build())
        // An attempt times out long before a stream would count as stalled.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .http_client(http_client)
        .region(region);
    if let Some(endpoint) = endpoint {
        config = config.service_config(DynamoDbEndpoint(endpoint));
    }
    Ok(config.build())
}

/// A client of DynamoDB. Without credentials it does not sign its requests, for a database without authentication.
pub(crate) fn client(config: &SdkConfig) -> Client {
    let builder = aws_sdk_dynamodb::config::Builder::from(config);
    let signs = config.credentials_provider().is_some();
    Client::from_conf(if signs { builder } else { builder.allow_no_auth() }.build())
}

fn parse_endpoint(text: &str) -> Option<String> {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    let plausible = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
    plausible.then(|| text.to_owned())
}

fn region(settings: &Settings, overridden: bool) -> Result<Region, SettingError> {
    match platform::aws::region(settings) {
        Some(name) => Ok(Region::new(name.to_owned())),
        None if overridden => Ok(Region::from_static("us-east-1")),
        None => Err(SettingError::new("AWS_REGION", "the name of an AWS region, such as eu-central-1")),
    }
}

fn credentials(settings: &Settings, overridden: bool) -> Result<Credentials, SettingError> {
    let (id, secret) = (settings.var("AWS_ACCESS_KEY_ID"), settings.var("AWS_SECRET_ACCESS_KEY"));
    let token = settings.var("AWS_SESSION_TOKEN").map(str::to_owned);
    match (id, secret) {
        (Some(id), Some(secret)) => Ok(Credentials::new(id, secret, token, None, "environment")),
        (None, None) if overridden => Ok(Credentials::new("local", "local", None, None, "endpoint override")),
        (None, _) => Err(SettingError::new("AWS_ACCESS_KEY_ID", "an access key id")),
        (_, None) => Err(SettingError::new("AWS_SECRET_ACCESS_KEY", "the secret of AWS_ACCESS_KEY_ID")),
    }
}

/// Overrides the endpoint of DynamoDB and of no other service.
#[derive(Debug)]
struct DynamoDbEndpoint(String);

impl LoadServiceConfig for DynamoDbEndpoint {
    fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
        let matches = key.service_id() == "DynamoDB" && key.env() == "AWS_ENDPOINT_URL";
        matches.then(|| self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_from(pairs: &[(&str, &str)]) -> Result<SdkConfig, String> {
        sdk_config(&Settings::from_pairs(pairs.iter().copied())).map_err(|error| error.variable)
    }

    #[test]
    fn missing_variable_is_named_without_override() {
        let key = ("AWS_ACCESS_KEY_ID", "AKIA");
        assert_eq!(config_from(&[]).unwrap_err(), "AWS_REGION");
        assert_eq!(config_from(&[("AWS_REGION", "eu-west-1")]).unwrap_err(), "AWS_ACCESS_KEY_ID");
        assert_eq!(config_from(&[("AWS_DEFAULT_REGION", "eu-west-1"), key]).unwrap_err(), "AWS_SECRET_ACCESS_KEY");
        assert_eq!(config_from(&[(ENDPOINT_VARIABLE, "localhost:8000")]).unwrap_err(), ENDPOINT_VARIABLE);
        assert_eq!(config_from(&[(ENDPOINT_VARIABLE, "http://local host")]).unwrap_err(), ENDPOINT_VARIABLE);
    }

    #[test]
    fn override_needs_neither_region_nor_credentials() {
        let config = config_from(&[(ENDPOINT_VARIABLE, "http://127.0.0.1:8000")]).unwrap();
        assert_eq!(config.region().unwrap().as_ref(), "us-east-1");
        assert!(config.credentials_provider().is_some());
    }

    #[test]
    fn override_applies_to_dynamodb_only() {
        let config =
            config_from(&[(ENDPOINT_VARIABLE, "https://127.0.0.1:8000"), ("AWS_REGION", "eu-west-1")]).unwrap();
        assert_eq!(config.endpoint_url(), None);
        let endpoint_of = |service| {
            let key = ServiceConfigKey::builder().service_id(service).env("AWS_ENDPOINT_URL").profile("endpoint_url");
            config.service_config().unwrap().load_config(key.build().unwrap())
        };
        assert_eq!(endpoint_of("DynamoDB").as_deref(), Some("https://127.0.0.1:8000"));
        assert_eq!(endpoint_of("SSM"), None);
    }

    #[test]
    fn debug_output_hides_secrets() {
        let pairs = [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
        assert!(!format!("{:?}", config_from(&pairs).unwrap()).contains("hunter2"));
    }

    #[test]
    fn client_builds_for_every_endpoint() {
        for endpoint in [None, Some("http://127.0.0.1:1"), Some("https://127.0.0.1:1")] {
            let mut settings = Settings::from_pairs([("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a")]);
            settings.set("AWS_SECRET_ACCESS_KEY", "b");
            if let Some(endpoint) = endpoint {
                settings.set(ENDPOINT_VARIABLE, endpoint);
            }
            let _client = aws_sdk_dynamodb::Client::new(&sdk_config(&settings).unwrap());
        }
    }
}
