//! Client connections: each is a task that serves one request after another.
//!
//! Each delta causes a write and a poll of its connection, so the layers around HTTP are minimal: HTTP/1.1 only, which is
//! all that clients of a local server speak, and one shutdown token shared by all connections. Each write is one buffer: a vectored write of three (a length, the frame, a
//! line end) costs the kernel more than copying a hundred bytes. The write buffer is as large as the largest response of
//! its connection so far, and at most [`MAX_BUFFER_BYTES`] when the client does not read. The same limit holds for received
//! bytes that are not read yet.
//!
//! Heads and bodies have timeouts, and the number of connections is limited (`slots`), so that clients that send nothing,
//! or stop sending, do not block other clients. Before each request the runtime serves everything else that is ready, so
//! that pipelined requests do not either. A response to a slow reader has no timeout.

mod bodies;
mod slots;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::{ConnectInfo, Request};
use axum::http::{self, StatusCode, header};
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use web::SourceHeader;

use self::bodies::{BodyLimits, RequestBody};
pub(crate) use self::slots::raise_open_files;
use self::slots::{ConnectionSlot, ConnectionSlots, Limits, SlotHandle};

/// Timeout for a head, and therefore for an open connection without a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Size limit of a head, and of each connection's read and write buffers.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// How long a new connection waits for a slot while requests are in progress in all of them.
const SLOT_TIMEOUT: Duration = Duration::from_millis(200);

/// Number of first and of later requests of connections that begin before the runtime has served all other tasks and sockets that are ready. So a request in
/// progress, which needs the runtime several times, waits each time for this many others at most.
const MAX_BEGINNING: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    pub(crate) connections: Limits,
    /// Timeout for a head, also for the next one of a connection that is kept open.
    pub(crate) head: Duration,
    pub(crate) bodies: BodyLimits,
}

impl ConnectionLimits {
    pub(crate) fn of_this_process() -> Self {
        let connections = Limits::of_this_process();
        Self { connections, head: HEAD_TIMEOUT, bodies: BodyLimits::default() }
    }
}

#[derive(Clone)]
struct ConnectionContext {
    routes: Router,
    /// Reads the client's address from requests of a proxy on this machine.
    source: SourceHeader,
    limits: ConnectionLimits,
    /// A permit for each byte of all request bodies.
    memory: Arc<Semaphore>,
    /// The requests that begin: the first ones of their connections, and later ones, which may be pipelined without end.
    first: Arc<Semaphore>,
    later: Arc<Semaphore>,
}

impl ConnectionContext {
    fn new(routes: Router, source: SourceHeader, limits: ConnectionLimits) -> Self {
        let memory = Arc::new(Semaphore::new(limits.bodies.bytes));
        let [first, later] = [(); 2].map(|()| Arc::new(Semaphore::new(MAX_BEGINNING)));
        Self { routes, source, limits, memory, first, later }
    }
}

/// Serves routes until `stop` is cancelled and every earlier request has its response.
pub(crate) async fn serve(
    mut listener: TcpListener,
    routes: Router,
    source: SourceHeader,
    limits: ConnectionLimits,
    stop: CancellationToken,
) {
    let (shared, slots) = (ConnectionContext::new(routes, source, limits), ConnectionSlots::new(limits.connections));
    let (shutdown, connections, mut give_up_at) = (CancellationToken::new(), TaskTracker::new(), None);
    loop {
        let (stream, client) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            // It waits when the system has no free descriptors.
            accepted = Listener::accept(&mut listener) => accepted,
        };
        // The request of the previous connection is read before this one may evict it.
        yield_now().await;
        let until = *give_up_at.get_or_insert_with(|| Instant::now() + SLOT_TIMEOUT);
        let Some(slot) = slots.acquire_until(client.ip(), until).await else {
            refuse(&stream);
            continue;
        };
        give_up_at = None;
        let handle = slot.0.clone();
        let task = connections.spawn(serve_connection(stream, client, slot, shared.clone(), shutdown.clone()));
        handle.set_task(task.abort_handle());
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
    let service = service_fn(|request| handle_request(shared.clone(), slot.0.clone(), client, request));
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
    slot: SlotHandle,
    client: SocketAddr,
    request: http::Request<Incoming>,
) -> Result<Response, Infallible> {
    let gate = if slot.set_busy_if_new() { &shared.first } else { &shared.later };
    let beginning = gate.acquire().await;
    yield_now().await;
    drop(beginning);
    if !slot.set_busy() {
        // The connection was closed for another one: its task ends here.
        std::future::pending::<()>().await;
    }
    let expects = request.headers().contains_key(header::EXPECT);
    let (head, body) = request.into_parts();
    let body = RequestBody::new(body, shared.limits.bodies, shared.memory.clone(), slot.clone());
    let mut request = Request::from_parts(head, body.for_handler());
    request.extensions_mut().insert(ConnectInfo(client));
    if client.ip().to_canonical().is_loopback() {
        shared.source.apply_to(&mut request);
    }
    let response = shared.routes.oneshot(request).await?;
    // A client that waits for `100 Continue` sends nothing.
    if response.status() >= StatusCode::BAD_REQUEST && !expects {
        body.drain().await;
    }
    // A stream keeps its slot until the next request, because a wrapper that observes its end would be polled for each frame.
    if response.body().size_hint().exact().is_some() {
        slot.set_quiet();
    } else {
        slot.set_busy();
    }
    Ok(response)
}

#[cfg(test)]
mod tests;
