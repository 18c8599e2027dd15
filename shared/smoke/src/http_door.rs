use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt};
use http::header;

use crate::door::{Door, Lost, Request, Response};

/// The transport of ordinary HTTP clients.
pub(crate) struct HttpDoor {
    pub(crate) http: transport::Client,
    /// Without a trailing slash.
    pub(crate) base: String,
}

impl Door for HttpDoor {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, Lost>> {
        Box::pin(async move {
            let asked = self.http.request(request.method, format!("{}{}", self.base, request.path));
            let asked = request.headers.into_iter().fold(asked, |asked, (name, value)| asked.header(name, value));
            let asked = request.body.into_iter().fold(asked, reqwest::RequestBuilder::body);
            let response = asked.send().await?;
            let status = response.status().as_u16();
            let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or_default().to_owned();
            let body = response.bytes_stream().map_err(Lost::from).boxed();
            Ok(Response { status, content_type, body })
        })
    }
}
