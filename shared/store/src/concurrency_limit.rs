use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use tokio::sync::Semaphore;

/// The maximum number of requests in flight.
///
/// At DynamoDB's latency of some milliseconds that allows more than ten thousand requests a second. A function's
/// instance with one turn never reaches it. Without this limit a thousand simultaneous turns open a thousand
/// connections, which the server does not accept in time. Each of them then waits for a timeout, and nothing is stored
/// meanwhile.
pub(crate) const MAX_IN_FLIGHT: usize = 64;

/// A connector that limits the requests in flight; the wait counts against their timeouts.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    inner: SharedHttpConnector,
    permits: Arc<Semaphore>,
}

impl ConcurrencyLimit {
    pub(crate) fn new(inner: SharedHttpConnector, permits: Arc<Semaphore>) -> Self {
        Self { inner, permits }
    }
}

impl HttpConnector for ConcurrencyLimit {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (inner, permits) = (self.inner.clone(), Arc::clone(&self.permits));
        HttpConnectorFuture::new(async move {
            let _permit = permits.acquire().await.map_err(|closed| ConnectorError::other(closed.into(), None))?;
            inner.call(request).await
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use aws_smithy_runtime_api::http::StatusCode;
    use aws_smithy_types::body::SdkBody;
    use futures_util::future::join_all;
    use futures_util::poll;

    use super::*;

    /// Counts requests and answers each after a permit.
    #[derive(Debug)]
    struct CountingConnector {
        arrived: Arc<AtomicUsize>,
        answers: Arc<Semaphore>,
    }

    impl HttpConnector for CountingConnector {
        fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
            self.arrived.fetch_add(1, Ordering::Relaxed);
            let answers = Arc::clone(&self.answers);
            HttpConnectorFuture::new(async move {
                answers.acquire().await.unwrap().forget();
                let ok = StatusCode::try_from(200).unwrap();
                Ok(aws_smithy_runtime_api::client::orchestrator::HttpResponse::new(ok, SdkBody::empty()))
            })
        }
    }

    #[tokio::test]
    async fn f078_requests_in_flight_are_limited() {
        let (arrived, answers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let inner = CountingConnector { arrived: Arc::clone(&arrived), answers: Arc::clone(&answers) };
        let permits = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
        let limit = ConcurrencyLimit::new(SharedHttpConnector::new(inner), permits);
        let mut calls = Box::pin(join_all((0..1000).map(|_| limit.call(HttpRequest::empty()))));
        let mut seen = Vec::new();
        for answered in [0, 10] {
            answers.add_permits(answered);
            assert!(poll!(&mut calls).is_pending());
            assert!(poll!(&mut calls).is_pending());
            seen.push(arrived.load(Ordering::Relaxed));
        }
        assert_eq!(seen, [MAX_IN_FLIGHT, MAX_IN_FLIGHT + 10]);
        answers.add_permits(1000);
        assert!(calls.await.into_iter().all(|answer| answer.is_ok()));
        assert_eq!(arrived.load(Ordering::Relaxed), 1000);
    }
}
