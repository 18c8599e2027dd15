//! Requests to AWS services, signed (Signature Version 4) with region and credentials of the environment.
//!
//! For services of which only some calls are needed: their SDKs would be the largest part of a function.

use std::time::SystemTime;

use crate::settings::{SettingError, Settings};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4::SigningParams;
pub use reqwest::Method;
use reqwest::RequestBuilder;

/// The content type of requests in JSON protocol 1.1.
pub const JSON_CONTENT_TYPE: &str = "application/x-amz-json-1.1";

/// The id of S3, which signs paths and bodies in a way of its own.
const S3: &str = "s3";

/// The id of S3 Vectors, which has dual-stack endpoints only.
pub const S3_VECTORS: &str = "s3vectors";

/// One service in one region, with the credentials to call it.
pub struct Service {
    id: &'static str,
    /// Without a trailing slash.
    endpoint: String,
    region: String,
    credentials: Credentials,
}

/// A request to a service.
pub struct Call<'a> {
    /// The HTTP method.
    pub method: Method,
    /// Path and query as they are sent: what needs escaping is escaped.
    pub path: &'a str,
    /// Headers that are signed in addition to the body.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: Vec<u8>,
}

/// The request cannot be signed: its URL or its headers are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request cannot be signed")]
pub struct SigningError;

impl Service {
    /// Creates a service; `id` is its name in signatures and host names. With an endpoint override in
    /// `endpoint_variable`, region and credentials are optional.
    ///
    /// # Errors
    /// An override that is no URL, or no region or credentials in the environment.
    pub fn from_settings(settings: &Settings, id: &'static str, endpoint_variable: &str) -> Result<Self, SettingError> {
        let endpoint_override = settings.parse(endpoint_variable, "an http or https URL", parse_endpoint)?;
        let (region, credentials) = region_and_credentials(settings, endpoint_override.is_some())?;
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

    /// Creates a signed request; its signature is valid for some minutes.
    ///
    /// # Errors
    /// [`SigningError`].
    pub fn signed_request(
        &self,
        http: &crate::transport::Client,
        call: Call<'_>,
        now: SystemTime,
    ) -> Result<RequestBuilder, SigningError> {
        let url = format!("{}{}", self.endpoint, call.path);
        let signature = self.signature_headers(&url, &call, now)?;
        let headers = call.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let request = headers
            .chain(signature)
            .fold(http.request(call.method, url), |request, (name, value)| request.header(name, value));
        Ok(request.body(call.body))
    }

    /// The headers that sign a request.
    fn signature_headers(
        &self,
        url: &str,
        call: &Call<'_>,
        now: SystemTime,
    ) -> Result<Vec<(String, String)>, SigningError> {
        let identity = self.credentials.clone().into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(self.id)
            .time(now)
            .settings(self.signing_settings())
            .build()
            .map_err(|_| SigningError)?
            .into();
        let headers = call.headers.iter().copied();
        let request = SignableRequest::new(call.method.as_str(), url, headers, SignableBody::Bytes(&call.body));
        let output = sign(request.map_err(|_| SigningError)?, &parameters).map_err(|_| SigningError)?;
        let (instructions, _) = output.into_parts();
        Ok(instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn signing_settings(&self) -> SigningSettings {
        let mut settings = SigningSettings::default();
        if self.id == S3 {
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        settings
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("id", &self.id).field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn parse_endpoint(text: &str) -> Option<String> {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    let plausible = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@".contains(&byte));
    plausible.then(|| text.trim_end_matches('/').to_owned())
}

fn default_endpoint(id: &str, region: &str) -> String {
    let is_china = region.starts_with("cn-");
    let domain = match id {
        S3_VECTORS if is_china => "api.amazonwebservices.com.cn",
        S3_VECTORS => "api.aws",
        _ if is_china => "amazonaws.com.cn",
        _ => "amazonaws.com",
    };
    format!("https://{id}.{region}.{domain}")
}

/// Region and credentials from the environment; an endpoint override has defaults for both.
fn region_and_credentials(settings: &Settings, has_override: bool) -> Result<(String, Credentials), SettingError> {
    let var = |name: &str, accepted: &str, fallback: &str| match settings.var(name) {
        None if has_override => Ok(fallback.to_owned()),
        None => Err(SettingError::new(name, accepted)),
        Some(value) => Ok(value.to_owned()),
    };
    let region = match settings.var("AWS_DEFAULT_REGION") {
        Some(region) if settings.var("AWS_REGION").is_none() => region.to_owned(),
        _ => var("AWS_REGION", "the name of an AWS region, such as eu-central-1", "us-east-1")?,
    };
    let id = var("AWS_ACCESS_KEY_ID", "an access key id", "local")?;
    let secret = var("AWS_SECRET_ACCESS_KEY", "the secret of AWS_ACCESS_KEY_ID", "local")?;
    let token = settings.var("AWS_SESSION_TOKEN").map(str::to_owned);
    Ok((region, Credentials::new(id, secret, token, None, "environment")))
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
        let service = Service::from_settings(&Settings::from_pairs(aws), "lambda", "ELSEWHERE").unwrap();
        assert!(!format!("{service:?}").contains("canary"));
        let headers = [("x-more", "1")];
        let call =
            Call { method: Method::POST, path: "/functions/f?Qualifier=7", headers: &headers, body: b"{}".to_vec() };
        let request =
            service.signed_request(&crate::transport::build_client().unwrap(), call, SystemTime::UNIX_EPOCH).unwrap();
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

    /// The examples of Amazon S3's API reference, "Signature Calculations: Transferring Payload in a Single Chunk".
    #[test]
    fn s3_requests_are_signed_as_its_reference_does() {
        let credentials =
            Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None, None, "example");
        let endpoint = "https://examplebucket.s3.amazonaws.com".to_owned();
        let service = Service { id: S3, endpoint, region: "us-east-1".to_owned(), credentials };
        let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(380_376);
        let range = [("range", "bytes=0-9")];
        let cases = [
            ("/test.txt", range.as_slice(), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            ("/?max-keys=2&prefix=J", &[], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ];
        for (path, headers, expected) in cases {
            let call = Call { method: Method::GET, path, headers, body: Vec::new() };
            let signature = service.signature_headers(&format!("{}{path}", service.endpoint), &call, now).unwrap();
            let authorization = &signature.iter().find(|(name, _)| name == "authorization").unwrap().1;
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
