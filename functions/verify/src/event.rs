//! Events of a function URL (payload format 2.0): written for the checked version, read by the model.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use smoke::Request;

/// The source address of requests that come from no network.
const SOURCE_IP: &str = "127.0.0.1";

const HOST: &str = "deployment-check.invalid";

/// Converts a request to the event that a function URL would send.
pub(crate) fn to_url_event(request: Request, now: SystemTime) -> Value {
    let Request { method, path, headers, body } = request;
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let mut all_headers = BTreeMap::from([("host", HOST.to_owned())]);
    all_headers.extend(headers);
    let millis = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let http = json!({
        "method": method.as_str(), "path": path, "protocol": "HTTP/1.1", "sourceIp": SOURCE_IP, "userAgent": "deployment-check",
    });
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": all_headers,
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "deployment-check",
            // The hook invokes by IAM: the version needs no proof that a CDN sent the request.
            "authorizer": { "iam": {} },
            "domainName": HOST,
            "domainPrefix": "deployment-check",
            "http": http,
            "requestId": "deployment-check",
            "routeKey": "$default",
            "stage": "$default",
            "timeEpoch": u64::try_from(millis).unwrap_or_default(),
        },
        "isBase64Encoded": false,
    });
    if let Some(body) = body {
        event["body"] = Value::from(body);
    }
    event
}

/// The fields of such an event that the model uses.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UrlEvent {
    pub(crate) raw_path: String,
    request_context: Value,
    /// Header names in lower case.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

impl UrlEvent {
    pub(crate) fn method(&self) -> &str {
        self.request_context["http"]["method"].as_str().unwrap_or_default()
    }

    /// The token of `Authorization: Bearer …`; empty if there is none.
    pub(crate) fn token(&self) -> &str {
        let header = self.headers.get("authorization").map(String::as_str).unwrap_or_default();
        header.strip_prefix("Bearer ").unwrap_or_default()
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        let body = self.body.as_deref().unwrap_or_default();
        if self.is_base64_encoded { STANDARD.decode(body).unwrap_or_default() } else { body.as_bytes().to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
    use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequest;

    use super::*;

    fn request(path: &str, body: Option<&str>) -> Request {
        let headers = vec![("authorization", "Bearer sk".to_owned())];
        Request { method: Method::POST, path: path.to_owned(), headers, body: body.map(str::to_owned) }
    }

    #[test]
    fn aws_lambda_events_types_parse_the_event() {
        let event = to_url_event(request("/api/x?limit=1", Some("{}")), UNIX_EPOCH);
        let event: ApiGatewayV2httpRequest = serde_json::from_value(event).unwrap();
        assert_eq!((event.version.as_deref(), event.raw_path.as_deref()), (Some("2.0"), Some("/api/x")));
        assert_eq!((event.raw_query_string.as_deref(), event.body.as_deref()), (Some("limit=1"), Some("{}")));
        assert!(event.headers["authorization"] == "Bearer sk" && !event.is_base64_encoded);
        let context = event.request_context;
        assert!(context.authorizer.unwrap().iam.is_some(), "it needs no key of a CDN");
        assert_eq!((context.http.method, context.stage.as_deref()), (Method::POST, Some("$default")));
    }

    #[test]
    fn request_survives_conversion_to_event_and_back() {
        let event = to_url_event(request("/api/x?limit=1", Some("{}")), UNIX_EPOCH);
        assert_eq!((&event["rawPath"], &event["rawQueryString"]), (&json!("/api/x"), &json!("limit=1")));
        let mut event: UrlEvent = serde_json::from_value(event).unwrap();
        assert_eq!((event.method(), event.raw_path.as_str(), event.token()), ("POST", "/api/x", "sk"));
        assert_eq!(event.body(), b"{}");
        (event.body, event.is_base64_encoded) = (Some("e30=".to_owned()), true);
        assert_eq!(event.body(), b"{}");
        let bare: UrlEvent = serde_json::from_value(to_url_event(request("/", None), UNIX_EPOCH)).unwrap();
        assert!(bare.body().is_empty());
    }
}
