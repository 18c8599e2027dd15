//! Requests to AWS services, signed (Signature Version 4) with the region of the environment and the credentials of the process.
//!
//! For services of which only some calls are needed: their SDKs would be the largest part of a function.

mod credentials;
mod post_policy;

use std::time::SystemTime;

use crate::credential::CredentialError;
use crate::settings::{SettingError, Settings, parse_base_url};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableRequest, SigningSettings, UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4::SigningParams;
pub use reqwest::Method;
use reqwest::RequestBuilder;

pub use credentials::AwsCredentials;
pub use post_policy::PostPolicy;

/// The content type of requests in JSON protocol 1.1.
pub const JSON_CONTENT_TYPE: &str = "application/x-amz-json-1.1";

/// The id of S3, which signs paths and bodies in a way of its own.
const S3: &str = "s3";

/// The id of S3 Vectors, which has dual-stack endpoints only.
pub const S3_VECTORS: &str = "s3vectors";

/// One service in one region, with the credentials to call it.
#[derive(Debug)]
pub struct Service {
    id: &'static str,
    /// Without a trailing slash.
    endpoint: String,
    region: String,
    credentials: AwsCredentials,
}

/// A request to a service.
pub struct Call<'a> {
    /// The HTTP method.
    pub method: Method,
    /// Path and query as they are sent: what needs escaping is escaped.
    pub path: &'a str,
    /// Its headers. The signature covers those that begin with `x-`, and the content type.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: Vec<u8>,
}

/// What a signature is valid for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The name of the service in signatures.
    pub service: &'static str,
    /// The region of the endpoint.
    pub region: &'a str,
}

impl Service {
    /// Creates a service; `id` is its name in signatures and host names. With an endpoint override in
    /// `endpoint_variable`, region and credentials are optional.
    ///
    /// # Errors
    /// An override that is no URL, or no region or source of credentials.
    pub fn from_settings(settings: &Settings, id: &'static str, endpoint_variable: &str) -> Result<Self, SettingError> {
        let endpoint_override = settings.parse(endpoint_variable, "an http or https URL", |text| {
            parse_base_url(text).filter(|_| !text.contains('@'))
        })?;
        let region = match region(settings) {
            Some(region) => region,
            None if endpoint_override.is_some() => "us-east-1",
            None => return Err(SettingError::new("AWS_REGION", "the name of an AWS region, such as eu-central-1")),
        };
        let region = region.to_owned();
        let credentials = AwsCredentials::of_service(settings, endpoint_override.is_some())?;
        let endpoint = endpoint_override.unwrap_or_else(|| default_endpoint(id, &region));
        Ok(Self { id, endpoint, region, credentials })
    }

    /// Creates the service of one bucket of S3: paths begin at the bucket. `AWS_ENDPOINT_URL_S3` overrides the endpoint;
    /// the bucket is then the first name of the path.
    ///
    /// # Errors
    /// Those of [`Self::from_settings`].
    pub fn of_bucket(settings: &Settings, bucket: &str) -> Result<Self, SettingError> {
        const ENDPOINT: &str = "AWS_ENDPOINT_URL_S3";
        let service = Self::from_settings(settings, S3, ENDPOINT)?;
        // The certificate of S3 covers one label before the service's own name.
        let is_in_path = settings.var(ENDPOINT).is_some() || bucket.contains('.');
        let endpoint = match service.endpoint.strip_prefix("https://") {
            Some(host) if !is_in_path => format!("https://{bucket}.{host}"),
            _ => format!("{}/{bucket}", service.endpoint),
        };
        Ok(Self { endpoint, ..service })
    }

    /// The endpoint, without a trailing slash.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Creates a signed request; its signature is valid for some minutes.
    ///
    /// # Errors
    /// There are no valid credentials, or the request cannot be signed.
    pub async fn signed_request(
        &self,
        http: &crate::transport::Client,
        call: Call<'_>,
        now: SystemTime,
    ) -> Result<RequestBuilder, CredentialError> {
        let url = format!("{}{}", self.endpoint, call.path);
        let with_headers = call
            .headers
            .iter()
            .fold(http.request(call.method, url), |request, (name, value)| request.header(*name, *value));
        let (client, request) = with_headers.body(call.body).build_split();
        let mut request = request.map_err(CredentialError::unsignable)?;
        self.credentials.sign(http, &mut request, Scope { service: self.id, region: &self.region }, now).await?;
        Ok(RequestBuilder::from_parts(client, request))
    }
}

impl Service {
    /// Signs a form by which a browser uploads to a bucket; returns its further fields.
    ///
    /// # Errors
    /// There are no valid credentials.
    pub async fn sign_form(
        &self,
        http: &crate::transport::Client,
        policy: &PostPolicy<'_>,
        now: SystemTime,
    ) -> Result<Vec<(&'static str, String)>, CredentialError> {
        let credentials = self.credentials.get(http, now).await?;
        policy.sign(Scope { service: self.id, region: &self.region }, &credentials, now)
    }
}

impl Scope<'_> {
    fn sign(
        self,
        request: SignableRequest<'_>,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Vec<(String, String)>, CredentialError> {
        let identity = credentials.clone().into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name(self.service)
            .time(now)
            .settings(self.signing_settings())
            .build()
            .map_err(CredentialError::unsignable)?
            .into();
        let (instructions, _) = sign(request, &parameters).map_err(CredentialError::unsignable)?.into_parts();
        Ok(instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn signing_settings(self) -> SigningSettings {
        let mut settings = SigningSettings::default();
        if self.service == S3 {
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        settings
    }
}

/// The address of a service in a region; `id` begins its host name.
pub fn default_endpoint(id: &str, region: &str) -> String {
    let is_china = region.starts_with("cn-");
    let domain = match id {
        S3_VECTORS if is_china => "api.amazonwebservices.com.cn",
        S3_VECTORS => "api.aws",
        _ if is_china => "amazonaws.com.cn",
        _ => "amazonaws.com",
    };
    format!("https://{id}.{region}.{domain}")
}

/// Whether S3 accepts the name for a bucket: 3 to 63 lower-case letters, digits, hyphens and dots.
pub fn is_bucket_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let is_outer = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = name.as_bytes();
    (3..=63).contains(&bytes.len())
        && bytes.iter().copied().all(is_inner)
        && is_outer(bytes.first())
        && is_outer(bytes.last())
        && !name.contains("..")
}

/// The region of the environment.
pub fn region(settings: &Settings) -> Option<&str> {
    settings.var("AWS_REGION").or_else(|| settings.var("AWS_DEFAULT_REGION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_endpoint_is_regional() {
        assert_eq!(default_endpoint("ssm", "eu-west-1"), "https://ssm.eu-west-1.amazonaws.com");
        assert_eq!(default_endpoint("lambda", "cn-north-1"), "https://lambda.cn-north-1.amazonaws.com.cn");
        assert_eq!(default_endpoint(S3_VECTORS, "eu-west-1"), "https://s3vectors.eu-west-1.api.aws");
        let china = "https://s3vectors.cn-north-1.api.amazonwebservices.com.cn";
        assert_eq!(default_endpoint(S3_VECTORS, "cn-north-1"), china);
    }

    #[tokio::test]
    async fn signed_request_shows_no_secret() {
        let aws = [
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ACCESS_KEY_ID", "AKIA"),
            ("AWS_SECRET_ACCESS_KEY", "canary"),
            ("AWS_SESSION_TOKEN", "token"),
        ];
        let service = Service::from_settings(&Settings::from_pairs(aws), "lambda", "LAMBDA_ENDPOINT").unwrap();
        let shown = format!("{service:?}");
        assert!(!shown.contains("canary") && !shown.contains("AKIA"), "{shown}");
        let headers = [("x-more", "1")];
        let call =
            Call { method: Method::POST, path: "/functions/f?Qualifier=7", headers: &headers, body: b"{}".to_vec() };
        let http = crate::transport::build_client().unwrap();
        let request = service.signed_request(&http, call, SystemTime::UNIX_EPOCH).await.unwrap();
        let request = request.build().unwrap();
        assert_eq!(request.url().as_str(), "https://lambda.eu-west-1.amazonaws.com/functions/f?Qualifier=7");
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        let scope = "AWS4-HMAC-SHA256 Credential=AKIA/19700101/eu-west-1/lambda/aws4_request, ";
        assert!(header("authorization").starts_with(scope), "{}", header("authorization"));
        assert!(header("authorization").contains("SignedHeaders=host;x-amz-date;x-amz-security-token;x-more, "));
        assert_eq!((header("x-amz-date"), header("x-amz-security-token")), ("19700101T000000Z".into(), "token".into()));
    }

    #[test]
    fn endpoint_override_needs_only_a_url() {
        let service_at = |address: &str| Service::from_settings(&Settings::from_pairs([("AT", address)]), "ssm", "AT");
        assert_eq!(service_at("http://127.0.0.1:9/").unwrap().endpoint, "http://127.0.0.1:9");
        assert_eq!(service_at("nowhere").unwrap_err().variable, "AT");
    }

    /// Examples of Amazon S3's API reference, "Signature Calculations: Transferring Payload in a Single Chunk".
    #[tokio::test]
    async fn s3_requests_are_signed_as_its_reference_does() {
        let keys = [
            ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ];
        let endpoint = "https://examplebucket.s3.amazonaws.com".to_owned();
        let credentials = AwsCredentials::of_service(&Settings::from_pairs(keys), false).unwrap();
        let service = Service { id: S3, endpoint, region: "us-east-1".to_owned(), credentials };
        let http = crate::transport::build_client().unwrap();
        let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(380_376);
        for (path, expected) in [
            ("/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            ("/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ] {
            let call = Call { method: Method::GET, path, headers: &[], body: Vec::new() };
            let request = service.signed_request(&http, call, now).await.unwrap().build().unwrap();
            let authorization = request.headers()["authorization"].to_str().unwrap();
            assert!(authorization.ends_with(&format!("Signature={expected}")), "{authorization}");
        }
    }

    #[test]
    fn bucket_is_in_the_host_where_possible() {
        let endpoint = |pairs: &[(&str, &str)], bucket: &str| {
            let keys = [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
            let pairs = [&keys, pairs].concat();
            Service::of_bucket(&Settings::from_pairs(pairs), bucket).unwrap().endpoint
        };
        assert_eq!(endpoint(&[], "docs"), "https://docs.s3.eu-west-1.amazonaws.com");
        assert_eq!(endpoint(&[], "docs.example"), "https://s3.eu-west-1.amazonaws.com/docs.example");
        assert_eq!(endpoint(&[("AWS_ENDPOINT_URL_S3", "http://localhost:9/")], "docs"), "http://localhost:9/docs");
    }
}
