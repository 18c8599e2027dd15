//! Client connections: each is a task that serves one request after another.
//!
//! Each delta causes a write and a poll of its connection, so the layers around HTTP are minimal: HTTP/1.1 only, which is
//! all that clients of a local server speak, and one shutdown token shared by all connections. Each write is one buffer: a
//! vectored write of three (a length, the frame, a line end) costs the kernel more than copying a hundred bytes. The write
//! buffer is as large as the largest response of its connection so far, and at most [`MAX_BUFFER_BYTES`] when the client
//! does not read. The same limit holds for received bytes that are not read yet.
//!
//! Heads and bodies have timeouts, and the number of connections is limited (`slots`), so that clients that send nothing,
//! or stop sending, do not block other clients. A response to a slow reader has no timeout.

mod bodies;
mod slots;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::http::{self, StatusCode, header};
use axum::response::Response;
use axum::serve::Listener;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use web::SourceHeader;

use self::bodies::{BodyLimits, BytesHeld, RequestBody};
use self::slots::{ConnectionSlot, ConnectionSlots, Limits};

/// Timeout for a head, and therefore for an open connection without a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Size limit of a head, and of each connection's read and write buffers.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// Size limit of a response that the system holds completely once its last byte was taken from its body.
const MAX_AT_ONCE_BYTES: u64 = 16 * 1024;

/// Resource limits of the connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// Number of connections.
    pub(crate) connections: Limits,
    /// Timeout for a head, also for the next one of a connection that is kept open.
    pub(crate) head: Duration,
    /// Limits of request bodies.
    pub(crate) bodies: BodyLimits,
}

impl ConnectionLimits {
    /// The limits of the running server.
    pub(crate) fn of_this_process() -> Self {
        let connections = Limits::of_this_process();
        Self { connections, head: HEAD_TIMEOUT, bodies: BodyLimits::default() }
    }
}

/// Data that all connections share.
#[derive(Clone)]
struct ConnectionContext {
    routes: Router,
    /// Reads the client's address from requests of a proxy on this machine.
    source: SourceHeader,
    limits: ConnectionLimits,
    held: BytesHeld,
}

/// Serves routes until `stop` is cancelled and every earlier request has its response.
pub(crate) async fn serve(listener: TcpListener, routes: Router, source: SourceHeader, stop: CancellationToken) {
    serve_within(listener, routes, source, ConnectionLimits::of_this_process(), stop).await;
}

async fn serve_within(
    mut listener: TcpListener,
    routes: Router,
    source: SourceHeader,
    limits: ConnectionLimits,
    stop: CancellationToken,
) {
    let (shutdown, connections) = (CancellationToken::new(), TaskTracker::new());
    let (shared, slots) = (
        ConnectionContext { routes, source, limits, held: BytesHeld::default() },
        ConnectionSlots::new(limits.connections),
    );
    loop {
        let (stream, client) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            // It waits when the system has no free descriptors.
            accepted = Listener::accept(&mut listener) => accepted,
        };
        let Some(slot) = slots.acquire(client.ip()) else {
            refuse(&stream);
            continue;
        };
        let slot_task = slot.task();
        let task = connections.spawn(serve_connection(stream, client, slot, shared.clone(), shutdown.clone()));
        slot_task.set(task.abort_handle());
    }
    drop(listener);
    shutdown.cancel();
    connections.close();
    connections.wait().await;
}

/// Sends 503 without waiting; a client that does not read it at once sees its connection closed.
fn refuse(stream: &TcpStream) {
    let _unread = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    );
}

async fn serve_connection(
    stream: TcpStream,
    client: SocketAddr,
    slot: ConnectionSlot,
    shared: ConnectionContext,
    shutdown: CancellationToken,
) {
    // A frame must not wait for the acknowledgement of the previous one. A closed connection needs no option.
    let _closed = stream.set_nodelay(true);
    let service = service_fn(|request: http::Request<Incoming>| {
        let request_slot = slot.begin();
        let (shared, slot) = (shared.clone(), request_slot);
        async move {
            match slot {
                Some(slot) => handle_request(shared, slot, client, request).await,
                // The connection was closed for another one: its task ends here.
                None => std::future::pending().await,
            }
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.head)
        .max_buf_size(MAX_BUFFER_BYTES)
        .writev(false);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // Connection errors are for the client to report.
    tokio::select! {
        _ended = connection.as_mut() => {}
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ended = connection.await;
        }
    }
}

async fn handle_request(
    shared: ConnectionContext,
    slot: slots::ActiveRequest,
    client: SocketAddr,
    request: http::Request<Incoming>,
) -> Result<Response, Infallible> {
    let expects = request.headers().contains_key(header::EXPECT);
    let (head, body) = request.into_parts();
    let body = RequestBody::new(body, shared.limits.bodies, shared.held, slot.body_wait());
    let mut request = Request::from_parts(head, Body::new(body.clone()));
    request.extensions_mut().insert(ConnectInfo(client));
    if client.ip().to_canonical().is_loopback() {
        shared.source.apply_to(&mut request);
    }
    let response = shared.routes.oneshot(request).await?;
    // A client that waits for `100 Continue` sends nothing.
    if response.status() >= StatusCode::BAD_REQUEST && !expects && !body.is_over() {
        body.drain().await;
    }
    Ok(hold_slot(response, slot))
}

/// Attaches the slot to a response, which holds it until it has been written.
///
/// A stream keeps its connection busy until the next request instead, because a wrapper would be polled for each frame.
/// The same holds for a response that is larger than [`MAX_AT_ONCE_BYTES`].
fn hold_slot(response: Response, slot: slots::ActiveRequest) -> Response {
    let is_small = response.body().size_hint().exact().is_some_and(|bytes| bytes <= MAX_AT_ONCE_BYTES);
    if !is_small {
        slot.leave_busy();
        return response;
    }
    response.map(|body| Body::new(SlotBody { body, _slot: slot }))
}

struct SlotBody {
    body: Body,
    _slot: slots::ActiveRequest,
}

impl http_body::Body for SlotBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
