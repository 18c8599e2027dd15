use std::collections::{HashMap, VecDeque};
use std::future::{pending, ready};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use llm::AttemptEnd;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet, yield_now};
use work::lock;

use super::Speed;
use super::script::Attempt;
use super::sequencer::{Sequencer, StopReason};
use crate::recording::RecordedModel;

/// Sends the models' recorded responses on loopback; stops when dropped.
pub(super) struct Server {
    address: SocketAddr,
    accepting: AbortHandle,
}

/// Data that all connections share.
struct Responses {
    /// Model names; a model's index is the first segment of its URL path.
    models: Vec<String>,
    attempts: Mutex<HashMap<String, VecDeque<Attempt>>>,
    sequencer: Arc<Sequencer>,
}

impl Server {
    pub(super) async fn start(
        models: &[RecordedModel],
        attempts: HashMap<String, VecDeque<Attempt>>,
        sequencer: Arc<Sequencer>,
    ) -> io::Result<Self> {
        let models = models.iter().map(|model| model.name.clone()).collect();
        let responses = Responses { models, attempts: Mutex::new(attempts), sequencer };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok(Self { address, accepting: tokio::spawn(accept(listener, Arc::new(responses))).abort_handle() })
    }

    pub(super) fn url(&self, model: usize) -> String {
        format!("http://{}/{model}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, responses: Arc<Responses>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _delayed = stream.set_nodelay(true);
        let responses = Arc::clone(&responses);
        let service = service_fn(move |request| Arc::clone(&responses).respond(request));
        let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
        // Ignore clients that hang up.
        connections.spawn(async move { connection.await.unwrap_or_default() });
    }
}

impl Responses {
    fn take_attempt(&self, model: &str) -> Option<Attempt> {
        lock(&self.attempts).get_mut(model)?.pop_front()
    }

    /// Sends the next recorded response of a model; an error closes the connection.
    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let index = request.uri().path().split('/').nth(1).and_then(|index| index.parse::<usize>().ok());
        let name = index.and_then(|index| self.models.get(index)).cloned().unwrap_or_default();
        request.into_body().collect().await.map_err(io::Error::other)?;
        let sequencer = &self.sequencer;
        let Some(attempt) = self.take_attempt(&name) else {
            let reason = if sequencer.cut_off { StopReason::RecordingEnded } else { StopReason::ExtraModelCall(name) };
            return sequencer.stop(reason).await;
        };
        sequencer.start_response(&attempt);
        let mut response = Response::new(Body::empty());
        let mut wait_ms = None;
        if let Some(head) = &attempt.response {
            sequencer.wait_for_time(head.ms).await;
            *response.status_mut() = StatusCode::from_u16(head.status).map_err(io::Error::other)?;
            if !head.content_type.is_empty() {
                response.headers_mut().insert(CONTENT_TYPE, head.content_type.parse().map_err(io::Error::other)?);
            }
            wait_ms = head.retry_after_ms;
        } else {
            wait_for_end(sequencer, &attempt).await?;
            // This address is always reachable; an overloaded endpoint has the same effect.
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        if attempt.retried && sequencer.speed == Speed::Fast {
            wait_ms = Some(1);
        }
        if let Some(ms) = wait_ms {
            response.headers_mut().insert("retry-after-ms", ms.into());
        }
        if attempt.response.is_some() {
            *response.body_mut() = body(Arc::clone(sequencer), attempt);
        }
        Ok(response)
    }
}

/// The recorded pieces of a body, then its recorded end.
fn body(sequencer: Arc<Sequencer>, attempt: Attempt) -> Body {
    let pieces = stream::iter(attempt.pieces.clone()).zip(stream::repeat(Arc::clone(&sequencer)));
    let pieces = pieces.then(|(piece, sequencer)| async move {
        sequencer.wait_for_input(piece.input, piece.ms).await;
        Ok(Bytes::from(piece.bytes))
    });
    let end = stream::once(async move { wait_for_end(&sequencer, &attempt).await });
    Body::from_stream(pieces.chain(end.filter_map(|ended| ready(ended.err().map(Err)))))
}

/// Waits for the recorded end of an attempt; an error for one that closes the connection.
async fn wait_for_end(sequencer: &Sequencer, attempt: &Attempt) -> io::Result<()> {
    let last = attempt.pieces.last().map_or(0, |piece| piece.input + 1);
    let Some((ms, end)) = attempt.end else {
        sequencer.wait_for_input(last, 0).await;
        return sequencer.stop(StopReason::RecordingEnded).await;
    };
    // A connection that closes too early may lose its last bytes.
    sequencer.wait_for_input(last, ms).await;
    match (end, &attempt.response) {
        (AttemptEnd::Complete, Some(_)) | (AttemptEnd::Unreachable, None) => Ok(()),
        (AttemptEnd::TimedOut, _) => pending().await,
        _ => {
            // The head is sent while this waits.
            yield_now().await;
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}
