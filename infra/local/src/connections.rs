//! Connections of clients, each a task that serves one request after another.
//!
//! A word is written and its connection looked at anew, so what stands around HTTP is as little as will do: HTTP/1.1
//! alone, which is all that clients of a local server speak, and one flag of all connections for whether the server stops.
//! What is written goes out as one piece: a list of three (a length, the frame, a line end) costs the kernel more than to
//! copy a hundred bytes. The memory for that is as large as the largest of a connection's answers so far, and some 400 KB
//! at most where a client does not read.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

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

/// Serves routes until `stop` is cancelled and every request that came before has its answer.
pub(crate) async fn serve(mut listener: TcpListener, routes: Router, stop: CancellationToken) {
    let (stopping, connections) = (Arc::<Stopping>::default(), TaskTracker::new());
    loop {
        let (stream, client) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            // It waits where the system has no more connections to give.
            accepted = Listener::accept(&mut listener) => accepted,
        };
        connections.spawn(connection(stream, client, routes.clone(), Arc::clone(&stopping)));
    }
    drop(listener);
    stopping.tell();
    connections.close();
    connections.wait().await;
}

async fn connection(stream: TcpStream, client: SocketAddr, routes: Router, stopping: Arc<Stopping>) {
    // A frame waits for no acknowledgement of the one before it; a connection that is closed already needs no option.
    let _closed = stream.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(client));
        answer(routes.clone(), request)
    });
    let connection = http1::Builder::new().writev(false).serve_connection(TokioIo::new(stream), service);
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

async fn answer(routes: Router, request: Request) -> Result<axum::response::Response, Infallible> {
    routes.oneshot(request).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;

    /// What never comes is missed after this.
    const LONG: Duration = Duration::from_secs(20);

    async fn served(routes: Router) -> (SocketAddr, CancellationToken, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        (address, stop.clone(), tokio::spawn(serve(listener, routes, stop)))
    }

    async fn asks(address: SocketAddr, path: &str) -> TcpStream {
        let mut client = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: here\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        client
    }

    async fn reads_until(client: &mut TcpStream, end: &str) -> String {
        let mut text = String::new();
        while !text.ends_with(end) {
            let mut piece = [0; 512];
            let length = timeout(LONG, client.read(&mut piece)).await.unwrap().unwrap();
            assert_ne!(length, 0, "{text}");
            text.push_str(std::str::from_utf8(&piece[..length]).unwrap());
        }
        text
    }

    async fn is_closed(mut client: TcpStream) -> bool {
        timeout(LONG, client.read(&mut [0; 64])).await.is_ok_and(|read| matches!(read, Ok(0) | Err(_)))
    }

    #[tokio::test]
    async fn requests_of_a_connection_are_answered_one_after_another_and_know_their_client() {
        let routes = Router::new().route(
            "/",
            get(|ConnectInfo(client): ConnectInfo<SocketAddr>| async move { format!("{}.", client.port()) }),
        );
        let (address, _stop, _serving) = served(routes).await;
        let mut client = asks(address, "/").await;
        let own = format!("\r\n\r\n{}.", client.local_addr().unwrap().port());
        reads_until(&mut client, &own).await;
        client.write_all(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n").await.unwrap();
        reads_until(&mut client, &own).await;
    }

    #[tokio::test]
    async fn a_server_that_stops_answers_what_was_asked_closes_and_takes_no_more() {
        let asked = Arc::new(Notify::new());
        let (goes_on, waits) = (Arc::new(Notify::new()), Arc::clone(&asked));
        let until = Arc::clone(&goes_on);
        let slow = get(move || async move {
            waits.notify_one();
            until.notified().await;
            "slow."
        });
        let routes = Router::new().route("/", get(|| async { "quick." })).route("/slow", slow);
        let (address, stop, serving) = served(routes).await;
        let mut idle = asks(address, "/").await;
        reads_until(&mut idle, "quick.").await;
        let mut client = asks(address, "/slow").await;
        timeout(LONG, asked.notified()).await.unwrap();
        stop.cancel();
        assert!(is_closed(idle).await);
        assert!(TcpStream::connect(address).await.is_err());
        assert!(!serving.is_finished(), "an answer is owed");
        goes_on.notify_one();
        assert!(reads_until(&mut client, "slow.").await.starts_with("HTTP/1.1 200"));
        assert!(is_closed(client).await);
        timeout(LONG, serving).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_connection_that_comes_when_the_server_stops_is_closed_too() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, address) = listener.accept().await.unwrap();
        let stopping = Arc::<Stopping>::default();
        let connection = connection(stream, address, Router::new(), Arc::clone(&stopping));
        stopping.tell();
        timeout(LONG, connection).await.unwrap();
        assert!(is_closed(client).await);
    }

    #[tokio::test]
    async fn a_stream_leaves_piece_by_piece_and_a_panic_ends_one_connection_alone() {
        let routes = Router::new()
            .route(
                "/",
                get(|| async { Body::from_stream(futures_util::stream::iter(["a", "b."].map(Ok::<_, Infallible>))) }),
            )
            .route("/panic", get(|| async { assert_eq!(1, 2, "as expected") }));
        let (address, _stop, _serving) = served(routes).await;
        assert!(is_closed(asks(address, "/panic").await).await);
        let text = reads_until(&mut asks(address, "/").await, "0\r\n\r\n").await;
        assert!(text.ends_with("\r\n\r\n1\r\na\r\n2\r\nb.\r\n0\r\n\r\n"), "{text}");
    }
}
