//! Connections of clients, each a task that serves one request after another.
//!
//! A word is written and its connection looked at anew, so what stands around HTTP is as little as will do: HTTP/1.1
//! alone, which is all that clients of a local server speak, and one flag of all connections for whether the server stops.
//! What is written goes out as one piece: a list of three (a length, the frame, a line end) costs the kernel more than to
//! copy a hundred bytes. The memory for that is as large as the largest of a connection's answers so far, and
//! [`MAX_BUFFER_BYTES`] at most where a client does not read; the same holds for what a client sends that is not read yet.
//!
//! Heads and bodies have their time, and connections their number (`slots`), so that clients that send nothing, or no more,
//! shut nobody out. An answer to a slow reader has all the time it needs.

mod bodies;
mod slots;

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
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
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use web::SourceHeader;

use self::bodies::{BodyLimits, BytesHeld, RequestBody};
use self::slots::{ConnectionSlot, ConnectionSlots, Limits};

/// The longest time for a head, and so the longest that a connection stays open without a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest head, and the most that waits in memory to be read or to be sent, of each connection.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// The largest answer that is in the system's hands when its last byte was taken from its body.
const MAX_AT_ONCE_BYTES: u64 = 16 * 1024;

/// Tells connections that the server stops.
#[derive(Default)]
struct Stopping {
    is_told: AtomicBool,
    told: Notify,
}

impl Stopping {
    fn tell(&self) {
        self.is_told.store(true, Ordering::Release);
        self.told.notify_waiters();
    }
}

/// What connections may take of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// How many there may be.
    pub(crate) connections: Limits,
    /// The longest time for a head, also for the next one of a connection that is kept open.
    pub(crate) head: Duration,
    /// How bodies arrive.
    pub(crate) bodies: BodyLimits,
}

impl ConnectionLimits {
    /// Those of the running server.
    pub(crate) fn of_this_process() -> Self {
        let connections = Limits::of_this_process();
        Self { connections, head: HEAD_TIMEOUT, bodies: BodyLimits::default() }
    }
}

/// What all connections share.
#[derive(Clone)]
struct Serving {
    routes: Router,
    /// Says where requests of a proxy on this machine came from.
    source: SourceHeader,
    limits: ConnectionLimits,
    held: BytesHeld,
}

/// Serves routes until `stop` is cancelled and every request that came before has its answer.
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
    let (stopping, connections) = (Arc::<Stopping>::default(), TaskTracker::new());
    let (serving, slots) =
        (Serving { routes, source, limits, held: BytesHeld::default() }, ConnectionSlots::new(limits.connections));
    loop {
        let (stream, client) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            // It waits where the system has no more connections to give.
            accepted = Listener::accept(&mut listener) => accepted,
        };
        let Some(slot) = slots.acquire(client.ip()) else {
            refuse(&stream);
            continue;
        };
        let slot_task = slot.task();
        let task = connections.spawn(connection(stream, client, slot, serving.clone(), Arc::clone(&stopping)));
        slot_task.set(task.abort_handle());
    }
    drop(listener);
    stopping.tell();
    connections.close();
    connections.wait().await;
}

/// Answers without a wait that there is no slot; a client that does not take it at once sees its connection closed.
fn refuse(stream: &TcpStream) {
    let _unread = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    );
}

async fn connection(
    stream: TcpStream,
    client: SocketAddr,
    slot: ConnectionSlot,
    serving: Serving,
    stopping: Arc<Stopping>,
) {
    // A frame waits for no acknowledgement of the one before it; a connection that is closed already needs no option.
    let _closed = stream.set_nodelay(true);
    let service = service_fn(|request: http::Request<Incoming>| {
        let began = slot.begin();
        let (serving, slot) = (serving.clone(), began);
        async move {
            match slot {
                Some(slot) => answer(serving, slot, client, request).await,
                // The connection was closed for another one: its task ends here.
                None => std::future::pending().await,
            }
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(serving.limits.head)
        .max_buf_size(MAX_BUFFER_BYTES)
        .writev(false);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let (mut connection, mut told) = (pin!(connection), pin!(stopping.told.notified()));
    // Whom the news wakes that the server stops; `None` once it has come.
    let mut attending = Some(Waker::noop().clone());
    let mut hears = |context: &mut Context<'_>| {
        let Some(task) = &mut attending else { return false };
        if task.will_wake(context.waker()) && !stopping.is_told.load(Ordering::Acquire) {
            return false;
        }
        task.clone_from(context.waker());
        // Heard first and looked then: it may have been told before this listened.
        let hears = told.as_mut().poll(context).is_ready() || stopping.is_told.load(Ordering::Acquire);
        if hears {
            attending = None;
        }
        hears
    };
    // What breaks a connection is for its client to tell.
    let _ended = poll_fn(|context| {
        if hears(context) {
            connection.as_mut().graceful_shutdown();
        }
        Poll::Ready(std::task::ready!(connection.as_mut().poll(context)))
    })
    .await;
}

async fn answer(
    serving: Serving,
    slot: slots::Request,
    client: SocketAddr,
    request: http::Request<Incoming>,
) -> Result<Response, Infallible> {
    let expects = request.headers().contains_key(header::EXPECT);
    let (head, body) = request.into_parts();
    let body = RequestBody::new(body, serving.limits.bodies, serving.held, slot.body_wait());
    let mut request = Request::from_parts(head, Body::new(body.clone()));
    request.extensions_mut().insert(ConnectInfo(client));
    if client.ip().to_canonical().is_loopback() {
        serving.source.mark(&mut request);
    }
    let response = serving.routes.oneshot(request).await?;
    // A client that waits for leave to send sends nothing.
    if response.status() >= StatusCode::BAD_REQUEST && !expects && !body.is_over() {
        body.drain().await;
    }
    Ok(finishing(response, slot))
}

/// The answer with the slot that it holds until it has been written.
///
/// A stream keeps its connection busy until the next request instead, because a wrapper would be polled with each of its
/// frames; so does an answer that is larger than what is written at once.
fn finishing(response: Response, slot: slots::Request) -> Response {
    let is_small = response.body().size_hint().exact().is_some_and(|bytes| bytes <= MAX_AT_ONCE_BYTES);
    if !is_small {
        slot.leave_busy();
        return response;
    }
    response.map(|body| Body::new(Finishing { body, _place: slot }))
}

struct Finishing {
    body: Body,
    _place: slots::Request,
}

impl http_body::Body for Finishing {
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
