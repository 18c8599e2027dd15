use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::http::{HttpError, StatusCode};
use aws_smithy_types::body::SdkBody;
use dynoxide::DynoxideError;
use serde_json::json;
use store::{STORAGE_DAMAGED, STORAGE_FULL};

use super::trouble::Trouble;

/// DynamoDB's answer to a request.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: u16,
    json: Vec<u8>,
    /// Set when the database file has a problem.
    pub(super) trouble: Option<Trouble>,
}

impl Answer {
    /// An answer with this HTTP status.
    pub(super) fn new(status: u16, json: Vec<u8>) -> Self {
        Self { status, json, trouble: None }
    }

    /// A rejection with status 400; `code` is a name that the SDK reports, such as `ValidationException`.
    pub(super) fn rejection(code: &str, message: &str) -> Self {
        Self::failure(400, code, message)
    }

    /// A failure; the SDK retries a request that fails with status 500 or higher.
    pub(super) fn failure(status: u16, code: &str, message: &str) -> Self {
        let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message });
        Self::new(status, error.to_string().into_bytes())
    }

    /// The HTTP status and the JSON body.
    pub(super) fn into_parts(self) -> (u16, Vec<u8>) {
        (self.status, self.json)
    }

    /// Converts the answer for the SDK; an error if the status is invalid.
    pub(super) fn into_response(self) -> Result<HttpResponse, HttpError> {
        Ok(HttpResponse::new(StatusCode::try_from(self.status)?, SdkBody::from(self.json)))
    }
}

/// The answer to a failed request. The SDK retries only problems that may pass by themselves.
impl From<Trouble> for Answer {
    fn from(trouble: Trouble) -> Self {
        let refused = match trouble {
            Trouble::Full => Self::rejection(STORAGE_FULL, "No space is left for the database file."),
            Trouble::Damaged => Self::rejection(STORAGE_DAMAGED, "The database file is damaged."),
            Trouble::Gone => Self::rejection(STORAGE_DAMAGED, "The database file is not where it was."),
            Trouble::Disk => Self::failure(500, "InternalServerError", "The database file cannot be used now."),
        };
        Self { trouble: Some(trouble), ..refused }
    }
}

impl From<DynoxideError> for Answer {
    fn from(error: DynoxideError) -> Self {
        match Trouble::of(&error) {
            Some(trouble) => trouble.into(),
            None => Self::new(error.status_code(), error.to_json().into_bytes()),
        }
    }
}
