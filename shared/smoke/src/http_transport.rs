use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt};
use http::header;

use crate::transports::{Request, Response, Transport, TransportError};

/// The transport of ordinary HTTP clients.
pub(crate) struct HttpTransport {
    pub(crate) http: platform::transport::Client,
    /// Without a trailing slash.
    pub(crate) base: String,
}

impl Transport for HttpTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let builder = self.http.request(request.method, format!("{}{}", self.base, request.path));
            let builder =
                request.headers.into_iter().fold(builder, |builder, (name, value)| builder.header(name, value));
            let builder = request.body.into_iter().fold(builder, reqwest::RequestBuilder::body);
            let response = builder.send().await?;
            let status = response.status().as_u16();
            let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or_default().to_owned();
            let body = response.bytes_stream().map_err(TransportError::from).boxed();
            Ok(Response { status, content_type, body })
        })
    }
}
