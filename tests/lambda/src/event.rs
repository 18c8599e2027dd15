use std::fmt;

use serde_json::{Value, json};

/// HTTP request event of a function URL or an HTTP API: payload format 2.0.
#[derive(Clone, Debug)]
pub struct HttpEvent(Value);

impl HttpEvent {
    /// A request without a body; the path may have a query.
    pub fn new(method: &str, path: &str) -> Self {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        Self(json!({
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": query,
            "headers": {
                "host": "abcdefghij.lambda-url.us-east-1.on.aws",
                "accept": "*/*",
                "user-agent": "test",
                "x-forwarded-for": "203.0.113.7",
                "x-forwarded-port": "443",
                "x-forwarded-proto": "https",
            },
            "requestContext": {
                "accountId": "anonymous",
                "apiId": "abcdefghij",
                "domainName": "abcdefghij.lambda-url.us-east-1.on.aws",
                "domainPrefix": "abcdefghij",
                "http": {
                    "method": method, "path": path, "protocol": "HTTP/1.1",
                    "sourceIp": "203.0.113.7", "userAgent": "test",
                },
                "requestId": "00000000-0000-4000-8000-0000000000aa",
                "routeKey": "$default",
                "stage": "$default",
                "time": "01/Jan/2030:00:00:00 +0000",
                "timeEpoch": 1_893_456_000_000_u64,
            },
            "isBase64Encoded": false,
        }))
    }

    /// `GET`.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// `POST` with a JSON body.
    pub fn post(path: &str, body: &Value) -> Self {
        Self::new("POST", path).header("content-type", "application/json").with("body", body.to_string())
    }

    /// Sets the method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.0["requestContext"]["http"]["method"] = method.into();
        self
    }

    /// Sets a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.0["headers"][name] = value.into();
        self
    }

    /// Sets a field of the event.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0[field] = value.into();
        self
    }

    /// Sets a field of the request's context.
    #[must_use]
    pub fn with_context(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0["requestContext"][field] = value.into();
        self
    }
}

impl fmt::Display for HttpEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
