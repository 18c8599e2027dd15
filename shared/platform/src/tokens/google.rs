use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Request};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CredentialError, Granted, Timed, exchange, parse_time, read_file, request_grant};
use crate::aws::{self, AwsCredentials, Scope};
use crate::settings::{SettingError, Settings};
use crate::transport::{Client, is_protected};

const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

const ACCEPTED: &str = "the path of a JSON file of a service account (`service_account`) or of workload identity \
                        federation (`external_account`) whose addresses are https URLs";

// https://developers.google.com/identity/protocols/oauth2/scopes, 2026-11-26.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The file with an identity of Google. It is read for each token, because keys in it are replaced.
#[derive(Debug)]
pub(super) struct CredentialFile {
    path: String,
    aws: Arc<AwsCredentials>,
    aws_region: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Identity {
    ServiceAccount(ServiceAccount),
    ExternalAccount(ExternalAccount),
}

#[derive(Deserialize)]
struct ServiceAccount {
    client_email: String,
    /// PKCS#8 as PEM.
    private_key: SecretString,
    private_key_id: Option<String>,
    token_uri: String,
}

/// An identity of another issuer, whose token is exchanged.
#[derive(Deserialize)]
struct ExternalAccount {
    audience: String,
    subject_token_type: String,
    token_url: String,
    service_account_impersonation_url: Option<String>,
    credential_source: CredentialSource,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CredentialSource {
    File {
        file: String,
        format: Option<FileFormat>,
    },
    /// The address of `GetCallerIdentity`, with `{region}`.
    Aws {
        regional_cred_verification_url: String,
    },
}

#[derive(Deserialize)]
struct FileFormat {
    /// The field of a file that is JSON.
    subject_token_field_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Impersonated {
    access_token: SecretString,
    expire_time: String,
}

impl CredentialFile {
    pub(super) fn from_settings(settings: &Settings, aws: Arc<AwsCredentials>) -> Result<Self, SettingError> {
        let path = settings.require(VARIABLE, ACCEPTED)?.to_owned();
        let file = Self { path, aws, aws_region: aws::region(settings).map(str::to_owned) };
        file.read().map_err(|_| SettingError::new(VARIABLE, ACCEPTED))?;
        Ok(file)
    }

    pub(super) async fn request_token(&self, http: &Client, now: SystemTime) -> Result<Timed, CredentialError> {
        match self.read()? {
            Identity::ServiceAccount(account) => {
                let assertion = account.assertion(now).ok_or_else(|| problem("the private key cannot be used"))?;
                // RFC 7523 §2.1.
                let grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
                let form = [("grant_type", grant_type), ("assertion", &*assertion)];
                Ok(request_grant(http, &account.token_uri, &form, VARIABLE).await?.timed(now))
            }
            Identity::ExternalAccount(account) => {
                let subject_token = match &account.credential_source {
                    CredentialSource::File { file, format } => token_in_file(file, format.as_ref())?,
                    CredentialSource::Aws { regional_cred_verification_url: url } => {
                        self.signed_identity(http, url, &account.audience, now).await?
                    }
                };
                account.exchange(http, subject_token.expose_secret(), now).await
            }
        }
    }

    fn read(&self) -> Result<Identity, CredentialError> {
        let identity = serde_json::from_str(&read_file(&self.path, VARIABLE)?);
        identity.ok().filter(Identity::is_protected).ok_or_else(|| problem("the file is of an unknown form"))
    }

    /// Returns a signed `GetCallerIdentity` request, which proves this process's role to Google.
    async fn signed_identity(
        &self,
        http: &Client,
        url: &str,
        audience: &str,
        now: SystemTime,
    ) -> Result<SecretString, CredentialError> {
        let region = self.aws_region.as_deref().unwrap_or("us-east-1");
        let url = url.replace("{region}", region).parse().map_err(|_| problem("an address is no URL"))?;
        let mut request = Request::new(Method::POST, url);
        let resource = audience.parse().map_err(|_| problem("the audience is no text that a header can carry"))?;
        // https://cloud.google.com/iam/docs/samples/iam-workload-identity-aws-credential, 2026-11-26.
        request.headers_mut().insert("x-goog-cloud-target-resource", resource);
        self.aws.sign(http, &mut request, Scope { service: "sts", region }, now).await?;
        let host = json!({"key": "host", "value": request.url().host_str()});
        let header =
            |(name, value): (&HeaderName, &HeaderValue)| json!({"key": name.as_str(), "value": value.to_str().ok()});
        let headers: Vec<_> = request.headers().iter().map(header).chain([host]).collect();
        let token = json!({"url": request.url().as_str(), "method": "POST", "headers": headers}).to_string();
        let encoded: String = form_urlencoded::byte_serialize(token.as_bytes()).collect();
        // A space is `+` in forms only.
        Ok(encoded.replace('+', "%20").into())
    }
}

impl Identity {
    /// Whether all addresses may receive credentials.
    fn is_protected(&self) -> bool {
        match self {
            Self::ServiceAccount(account) => is_protected(&account.token_uri),
            Self::ExternalAccount(account) => {
                is_protected(&account.token_url)
                    && account.service_account_impersonation_url.as_deref().is_none_or(is_protected)
            }
        }
    }
}

impl ServiceAccount {
    /// Returns a signed request for a token; `None` if the key cannot sign.
    fn assertion(&self, now: SystemTime) -> Option<String> {
        let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
        // https://developers.google.com/identity/protocols/oauth2/service-account, 2026-11-26.
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": self.private_key_id});
        let claims = json!({
            "iss": self.client_email, "scope": SCOPE, "aud": self.token_uri, "iat": now, "exp": now + 3600,
        });
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        let der = PrivatePkcs8KeyDer::from_pem_slice(self.private_key.expose_secret().as_bytes()).ok()?;
        let key = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).ok()?;
        let mut signature = vec![0; key.public().modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature).ok()?;
        Some(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl ExternalAccount {
    /// Exchanges a token of the other issuer for one of Google, and that for one of the service account in the file.
    async fn exchange(&self, http: &Client, subject_token: &str, now: SystemTime) -> Result<Timed, CredentialError> {
        // https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token, 2026-11-26.
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("audience", &*self.audience),
            ("scope", SCOPE),
            ("subject_token_type", &*self.subject_token_type),
            ("subject_token", subject_token),
        ];
        let granted: Granted = request_grant(http, &self.token_url, &form, VARIABLE).await?;
        let Some(url) = &self.service_account_impersonation_url else { return Ok(granted.timed(now)) };
        let request = http.post(url).bearer_auth(granted.access_token.expose_secret());
        // https://cloud.google.com/iam/docs/create-short-lived-credentials-direct, 2026-11-26.
        let answer: Impersonated = exchange(request.json(&json!({"scope": [SCOPE]})), VARIABLE).await?;
        let end = parse_time(&answer.expire_time).ok_or_else(|| problem("the answer has no end"))?;
        Ok((answer.access_token, end))
    }
}

fn token_in_file(path: &str, format: Option<&FileFormat>) -> Result<SecretString, CredentialError> {
    let text = read_file(path, VARIABLE)?;
    let Some(field) = format.and_then(|format| format.subject_token_field_name.as_ref()) else {
        return Ok(text.trim().into());
    };
    let token =
        serde_json::from_str(&text).ok().and_then(|json: Value| json.get(field)?.as_str().map(SecretString::from));
    token.ok_or_else(|| problem("the file of the subject token has no such field"))
}

fn problem(text: &'static str) -> CredentialError {
    CredentialError::new(VARIABLE, text)
}
