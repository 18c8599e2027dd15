use llm::{Auth, ModelError};

use super::model_check::ModelCheck;
use crate::model_settings::ModelSettings;

impl ModelCheck<'_> {
    /// Returns what is wrong and what to set, in one line. `http_status` is that of the last attempt; `None` if there was no
    /// response, or a successful one.
    pub(super) fn describe(&self, error: ModelError, http_status: Option<u16>) -> String {
        let of_aws = Some(&error).filter(|_| self.client.config().auth == Auth::Aws);
        let text = of_aws.and_then(|error| self.describe_aws(error, http_status));
        text.unwrap_or_else(|| self.describe_any(error, http_status))
    }

    fn describe_any(&self, error: ModelError, http_status: Option<u16>) -> String {
        let ModelSettings { key, model: id_setting, address } = &self.names;
        let status = super::model_check::http_status(http_status);
        let (config, host) = (self.client.config(), &self.host);
        let id = &config.model;
        match (error, http_status) {
            (ModelError::Auth, Some(403)) => {
                format!("the key may not use the model `{id}`{status}: allow it at the provider, or set {key}")
            }
            (ModelError::Auth, _) if config.api_key.is_some() => format!("the key was rejected{status}: set {key}"),
            (ModelError::Auth, _) => format!("the server requires a key{status}: set {key}"),
            (ModelError::Rejected, Some(404)) => {
                format!("the server has no model `{id}`{status}: set {id_setting}, or {address} if its path is wrong")
            }
            (ModelError::Rejected | ModelError::ToolsUnsupported | ModelError::ImagesUnsupported, _) => format!(
                "the request was rejected{status}: set {id_setting} if there is no model `{id}`, or remove what the \
                 model does not take from MODEL_OPTIONS"
            ),
            (ModelError::Unavailable, _) => format!("the server is overloaded or broken{status}: try again later"),
            (ModelError::QuotaExhausted, _) => {
                format!(
                    "the account has no balance or quota left{status}: top it up, or set {key} to another account's"
                )
            }
            (ModelError::RateLimited { .. }, _) => format!("too many requests{status}: try again later"),
            (ModelError::Stalled, _) => "the server sent nothing for too long: raise MODEL_FIRST_BYTE_SECONDS, or \
                 \"firstByteSeconds\" in MODEL_OPTIONS, if it is still loading the model"
                .to_owned(),
            (ModelError::Deadline, _) => format!(
                "no complete answer within {} s: try again with a longer --timeout if the server is still loading the model",
                self.limits.timeout.as_secs()
            ),
            (ModelError::Disconnected, _) => format!("{host} closed the connection: see the log of the server"),
            (ModelError::BadResponse, _) => format!("{host} does not speak this protocol{status}: set {address}"),
            (ModelError::ContentFiltered { .. }, _) => {
                format!("the provider's content filter rejected the test prompt{status}")
            }
            (ModelError::ContextTooLong, _) => {
                format!("the context window is too small for the test prompt{status}: load the model with a larger one")
            }
        }
    }

    /// Returns the same for a signed request, where it differs: there is no key.
    fn describe_aws(&self, error: &ModelError, http_status: Option<u16>) -> Option<String> {
        let ModelSettings { model: id_setting, address, .. } = &self.names;
        let status = super::model_check::http_status(http_status);
        let id = &self.client.config().model;
        match (error, http_status) {
            (ModelError::Auth, None) => Some(
                "there are no AWS credentials: run with a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as \
                 `aws configure export-credentials --format env` prints them"
                    .to_owned(),
            ),
            (ModelError::Auth, _) => Some(format!(
                "AWS denied the request{status}: allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream on \
                 `{id}`, request access to the model in Bedrock's console, or renew the credentials"
            )),
            (ModelError::Rejected, Some(404)) => Some(format!(
                "Bedrock has no model or inference profile `{id}` in this region, or its provider requires a form on the \
                 use case{status}: set {id_setting} or {address}, or fill in the form in Bedrock's console"
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use llm::Models;
    use platform::settings::Settings;
    use serde_json::json;

    use super::super::model_check::Limits;
    use super::*;

    fn text_of(error: ModelError, status: Option<u16>, has_key: bool) -> String {
        let mut row = json!({ "name": "a", "model": "m-1", "baseUrl": "https://h" });
        if has_key {
            row["apiKeyVar"] = "A_KEY".into();
        }
        text_for(&row, error, status)
    }

    fn text_for(row: &serde_json::Value, error: ModelError, status: Option<u16>) -> String {
        let settings = [("MODELS", json!([row]).to_string()), ("A_KEY", "sk-canary".to_owned())];
        let http = platform::transport::build_client().unwrap();
        let models = Models::from_settings(&Settings::from_pairs(settings), http).unwrap();
        let [key, model, address] = ["KEY", "MODEL", "URL"].map(str::to_owned);
        let check = ModelCheck {
            client: models.iter().next().unwrap(),
            names: ModelSettings { key, model, address },
            host: "h:80".to_owned(),
            limits: Limits { timeout: Duration::from_secs(30), slow: Duration::from_secs(5) },
        };
        check.describe(error, status)
    }

    #[test]
    fn signed_requests_need_access_and_no_key() {
        let row = json!({ "name": "a", "model": "m-1", "wire": "converse", "region": "eu-west-1" });
        for (error, status, part) in [
            (ModelError::Auth, None, "there are no AWS credentials"),
            (
                ModelError::Auth,
                Some(403),
                "(HTTP 403): allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream on `m-1`",
            ),
            (ModelError::Rejected, Some(404), "requires a form on the use case (HTTP 404): set MODEL or URL"),
            (ModelError::Unavailable, Some(503), "the server is overloaded or broken (HTTP 503)"),
        ] {
            let text = text_for(&row, error, status);
            assert!(text.contains(part) && !text.contains("KEY is") && !text.contains("set KEY"), "{text}");
        }
    }

    #[test]
    fn each_error_names_what_to_set() {
        assert_eq!(text_of(ModelError::Auth, Some(401), false), "the server requires a key (HTTP 401): set KEY");
        assert_eq!(
            text_of(ModelError::Auth, Some(403), true),
            "the key may not use the model `m-1` (HTTP 403): allow it at the provider, or set KEY"
        );
        assert_eq!(
            text_of(ModelError::Unavailable, Some(503), true),
            "the server is overloaded or broken (HTTP 503): try again later"
        );
        assert_eq!(
            text_of(ModelError::BadResponse, Some(302), true),
            "h:80 does not speak this protocol (HTTP 302): set URL"
        );
        assert_eq!(
            text_of(ModelError::Deadline, None, true),
            "no complete answer within 30 s: try again with a longer --timeout if the server is still loading the model"
        );
    }
}
