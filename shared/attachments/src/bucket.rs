//! A bucket of Amazon S3, reached by signed requests.
//!
//! What no message uses yet has the tag `unused=yes`, by which a rule of the bucket deletes it after a day.

use std::time::{Duration, SystemTime};

use domain::{ErrorCode, TurnError};
use platform::aws::{Call, Method, PostPolicy, Service, is_bucket_name};
use platform::settings::{SettingError, Settings};
use reqwest::StatusCode;
use serde_json::{Map, Value, json};

use crate::blob_key::BlobKey;

/// Below which all content is.
const PREFIX: &str = "attachments/";

/// `Tagging` of S3's API, as a form of `PostObject` has it (Amazon S3 API reference, November 2026).
const UNUSED_TAGGING: &str = "<Tagging><TagSet><Tag><Key>unused</Key><Value>yes</Value></Tag></TagSet></Tagging>";

/// How long a form for an upload is valid.
const UPLOAD_TIME: Duration = Duration::from_mins(15);

const TIMEOUT: Duration = Duration::from_secs(30);

/// A bucket with the credentials of the process.
#[derive(Debug)]
pub struct Bucket {
    name: String,
    service: Service,
    http: platform::transport::Client,
}

impl Bucket {
    /// The bucket of the setting `ATTACHMENTS_BUCKET`; `None` without it.
    ///
    /// # Errors
    /// A name that no bucket has, no region, or no source of credentials.
    pub fn from_settings(
        settings: &Settings,
        http: &platform::transport::Client,
    ) -> Result<Option<Self>, SettingError> {
        let parse = |name: &str| is_bucket_name(name).then(|| name.to_owned());
        let name = settings.parse("ATTACHMENTS_BUCKET", "the name of a bucket of S3", parse)?;
        let Some(name) = name else { return Ok(None) };
        let service = Service::of_bucket(settings, &name)?;
        Ok(Some(Self { name, service, http: http.clone() }))
    }

    pub(crate) async fn put(&self, key: &BlobKey, bytes: Vec<u8>) -> Result<(), TurnError> {
        let headers = [
            ("content-type", "application/octet-stream"),
            ("x-amz-tagging", "unused=yes"),
            // A slower reader of the same upload comes late: a message may use the file.
            ("if-none-match", "*"),
        ];
        self.send(Method::PUT, &path(key), &headers, bytes).await.map(drop)
    }

    pub(crate) async fn keep(&self, key: &BlobKey) -> Result<(), TurnError> {
        self.send(Method::DELETE, &format!("{}?tagging", path(key)), &[], Vec::new()).await.map(drop)
    }

    pub(crate) async fn get(&self, key: &BlobKey) -> Result<Option<Vec<u8>>, TurnError> {
        self.send(Method::GET, &path(key), &[], Vec::new()).await
    }

    pub(crate) async fn delete(&self, key: &BlobKey) -> Result<(), TurnError> {
        self.send(Method::DELETE, &path(key), &[], Vec::new()).await.map(drop)
    }

    /// Where forms are sent.
    pub(crate) fn address(&self) -> String {
        format!("{}/", self.service.endpoint())
    }

    /// The address and the fields of a form by which a browser uploads one content of at most this length.
    pub(crate) async fn form(&self, key: &BlobKey, max_bytes: u64) -> Result<(String, Value), TurnError> {
        let now = SystemTime::now();
        let key = format!("{PREFIX}{}", key.path());
        let fixed = [("bucket", self.name.as_str()), ("key", &key), ("tagging", UNUSED_TAGGING)];
        let policy = PostPolicy { expires: now + UPLOAD_TIME, fields: &fixed, max_bytes };
        let signed = self.service.sign_form(&self.http, &policy, now).await;
        let signed = signed.map_err(|error| TurnError::caused_by(ErrorCode::Internal, error))?;
        let fixed = fixed.into_iter().skip(1).map(|(name, value)| (name.to_owned(), json!(value)));
        let fields: Map<String, Value> =
            fixed.chain(signed.into_iter().map(|(name, value)| (name.to_owned(), value.into()))).collect();
        Ok((self.address(), fields.into()))
    }

    /// Sends a request; the body of the response, or `None` if there is no such object.
    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, TurnError> {
        let fail = |cause: String| TurnError::caused_by(ErrorCode::StorageBusy, format!("S3: {cause}"));
        let call = Call { method, path, headers, body };
        let request = self.service.signed_request(&self.http, call, SystemTime::now()).await;
        let request = request.map_err(|error| TurnError::caused_by(ErrorCode::Internal, error))?.timeout(TIMEOUT);
        let response = request.send().await.map_err(|error| fail(error.without_url().to_string()))?;
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED => Ok(None),
            status if status.is_success() => {
                let body = response.bytes().await.map_err(|error| fail(error.without_url().to_string()))?;
                Ok(Some(body.into()))
            }
            status => Err(fail(format!("status {status}"))),
        }
    }
}

fn path(key: &BlobKey) -> String {
    format!("/{PREFIX}{}", key.path())
}
