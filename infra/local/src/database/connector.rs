//! SDK connector for the embedded database: a channel within the server's process, a Unix socket from the processes of
//! commands. No TCP port is involved.
//!
//! The SDK encodes and decodes every request as for any other DynamoDB; only the transport differs, and requests are not
//! signed. A channel avoids the cost of TCP in the kernel and of HTTP on both sides, which is more than that of the
//! database.

use std::path::PathBuf;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_types::SdkConfig;

use super::calls::CallSender;
use super::operations::{self, TARGET};
use super::socket;

/// Route of requests to the database.
#[derive(Clone, Debug)]
pub(super) enum Route {
    /// The database is in this process.
    Channel(CallSender),
    /// A server has it open in this data folder.
    Socket(PathBuf),
}

impl Route {
    /// Returns the same configuration for clients that use this route.
    pub(super) fn configure(&self, config: SdkConfig) -> SdkConfig {
        let mut config = config.into_builder();
        config.set_credentials_provider(None);
        config.http_client(InprocClient(self.clone())).build()
    }

    async fn response(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let answer = match self {
            Self::Channel(calls) => {
                let operation = operations::operation_named(request.headers().get(TARGET).unwrap_or_default());
                let body = request.body().try_clone().ok_or_else(|| other_error("the request is a stream".into()))?;
                calls.call(operation, body).await?
            }
            Self::Socket(folder) => socket::send(folder, request).await.map_err(ConnectorError::io)?,
        };
        answer.into_response().map_err(|error| other_error(error.into()))
    }
}

fn other_error(error: Box<dyn std::error::Error + Send + Sync>) -> ConnectorError {
    ConnectorError::other(error, None)
}

/// The SDK's HTTP client, and its only connector.
#[derive(Clone, Debug)]
struct InprocClient(Route);

impl HttpClient for InprocClient {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InprocClient {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let route = self.0.clone();
        HttpConnectorFuture::new(async move { route.response(request).await })
    }
}
