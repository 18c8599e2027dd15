mod pressure;

use std::time::Duration;

use axum::body::Body;
use axum::routing::get;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

/// Timeout after which a missing event fails the test.
const TEST_TIMEOUT: Duration = Duration::from_secs(20);

const SHORT_DELAY: Duration = Duration::from_millis(200);

async fn start_server(routes: Router) -> (SocketAddr, CancellationToken, JoinHandle<()>) {
    start_server_with(routes, ConnectionLimits::of_this_process()).await
}

async fn start_server_with(
    routes: Router,
    limits: ConnectionLimits,
) -> (SocketAddr, CancellationToken, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let settings = platform::settings::Settings::from_pairs([("SOURCE_IP_HEADER", "x-client")]);
    let source = SourceHeader::from_settings(&settings).unwrap();
    (address, stop.clone(), tokio::spawn(serve(listener, routes, source, limits, stop)))
}

/// Routes that read a JSON body of at most 100 bytes, and one that rejects without reading.
fn body_routes() -> Router {
    let read = |headers: header::HeaderMap, body: Body| async move {
        web::read_json_body_up_to(&headers, body, 100).await.map(|body| format!("{} bytes.", body.len()))
    };
    let routes = Router::new()
        .route("/read", axum::routing::post(read))
        .route("/refuse", axum::routing::post(|| async { StatusCode::UNAUTHORIZED }));
    web::wrap_routes(routes, web::Origins::default(), web::Exposure::Public)
}

fn with_bodies(bodies: BodyLimits) -> ConnectionLimits {
    ConnectionLimits { bodies, ..ConnectionLimits::of_this_process() }
}

async fn connect_and_send(address: SocketAddr, text: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(text.as_bytes()).await.unwrap();
    client
}

fn post(path: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n")
}

async fn send_get(address: SocketAddr, path: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: here\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    client
}

async fn read_until(client: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let mut piece = [0; 512];
        let length = timeout(TEST_TIMEOUT, client.read(&mut piece)).await.unwrap().unwrap();
        assert_ne!(length, 0, "{text}");
        text.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
    text
}

async fn is_closed(mut client: TcpStream) -> bool {
    timeout(TEST_TIMEOUT, client.read(&mut [0; 64])).await.is_ok_and(|read| matches!(read, Ok(0) | Err(_)))
}

#[tokio::test]
async fn keep_alive_requests_are_served_with_client_address() {
    let routes = Router::new()
        .route("/", get(|ConnectInfo(client): ConnectInfo<SocketAddr>| async move { format!("{}.", client.port()) }));
    let (address, _stop, _serving) = start_server(routes).await;
    let mut client = send_get(address, "/").await;
    let own = format!("\r\n\r\n{}.", client.local_addr().unwrap().port());
    read_until(&mut client, &own).await;
    client.write_all(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n").await.unwrap();
    read_until(&mut client, &own).await;
}

#[tokio::test]
async fn shutdown_answers_pending_requests_and_closes() {
    let request_received = Arc::new(Notify::new());
    let (resume, waits) = (Arc::new(Notify::new()), Arc::clone(&request_received));
    let until = Arc::clone(&resume);
    let slow = get(move || async move {
        waits.notify_one();
        until.notified().await;
        "slow."
    });
    let routes = Router::new().route("/", get(|| async { "quick." })).route("/slow", slow);
    let (address, stop, serving) = start_server(routes).await;
    let mut idle = send_get(address, "/").await;
    read_until(&mut idle, "quick.").await;
    let mut client = send_get(address, "/slow").await;
    timeout(TEST_TIMEOUT, request_received.notified()).await.unwrap();
    stop.cancel();
    assert!(is_closed(idle).await);
    assert!(TcpStream::connect(address).await.is_err());
    assert!(!serving.is_finished(), "an answer is owed");
    resume.notify_one();
    assert!(read_until(&mut client, "slow.").await.starts_with("HTTP/1.1 200"));
    assert!(is_closed(client).await);
    timeout(TEST_TIMEOUT, serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn connection_accepted_during_shutdown_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stream, address) = listener.accept().await.unwrap();
    let shutdown = CancellationToken::new();
    let limits = ConnectionLimits::of_this_process();
    let slots = ConnectionSlots::new(limits.connections);
    let slot = slots.acquire_until(address.ip(), Instant::now()).await.unwrap();
    let serving = ConnectionContext::new(Router::new(), SourceHeader::default(), limits);
    let connection = serve_connection(stream, address, slot, serving, shutdown.clone());
    shutdown.cancel();
    timeout(TEST_TIMEOUT, connection).await.unwrap();
    assert!(is_closed(client).await);
}

#[tokio::test]
async fn stream_is_chunked_and_panic_ends_one_connection() {
    let routes = Router::new()
        .route(
            "/",
            get(|| async { Body::from_stream(futures_util::stream::iter(["a", "b."].map(Ok::<_, Infallible>))) }),
        )
        .route("/panic", get(|| async { assert_eq!(1, 2, "as expected") }));
    let (address, _stop, _serving) = start_server(routes).await;
    assert!(is_closed(send_get(address, "/panic").await).await);
    let text = read_until(&mut send_get(address, "/").await, "0\r\n\r\n").await;
    assert!(text.ends_with("\r\n\r\n1\r\na\r\n2\r\nb.\r\n0\r\n\r\n"), "{text}");
}

#[tokio::test]
async fn connection_without_complete_head_times_out() {
    let limits = ConnectionLimits { head: SHORT_DELAY, ..ConnectionLimits::of_this_process() };
    let (address, _stop, _serving) = start_server_with(Router::new().route("/", get(|| async { "a." })), limits).await;
    assert!(is_closed(connect_and_send(address, "").await).await, "idle from the start");
    assert!(is_closed(connect_and_send(address, "GET / HTTP/1.1\r\nhost: he").await).await, "half a head");
    let mut client = send_get(address, "/").await;
    read_until(&mut client, "a.").await;
    assert!(is_closed(client).await, "idle after a request");
}

#[tokio::test]
async fn slow_response_outlives_head_timeout() {
    let limits = ConnectionLimits { head: SHORT_DELAY / 4, ..ConnectionLimits::of_this_process() };
    let frames = || {
        Body::from_stream(futures_util::stream::unfold(0, |sent| async move {
            tokio::time::sleep(SHORT_DELAY / 4).await;
            (sent < 8).then_some((Ok::<_, Infallible>("x"), sent + 1))
        }))
    };
    let (address, _stop, _serving) =
        start_server_with(Router::new().route("/", get(move || async move { frames() })), limits).await;
    let text = read_until(&mut send_get(address, "/").await, "0\r\n\r\n").await;
    assert_eq!(text.matches("1\r\nx\r\n").count(), 8);
}

#[tokio::test]
async fn missing_body_times_out() {
    let limits = BodyLimits { idle: SHORT_DELAY, ..BodyLimits::default() };
    let (address, _stop, _serving) = start_server_with(body_routes(), with_bodies(limits)).await;
    let mut client = connect_and_send(address, &(post("/read", 50) + "{")).await;
    let text = read_until(&mut client, "}").await;
    assert!(text.starts_with("HTTP/1.1 400") && text.contains("did not arrive in time"), "{text}");
}

#[tokio::test]
async fn dripping_body_times_out() {
    let limits = BodyLimits { total: SHORT_DELAY * 3, ..BodyLimits::default() };
    let (address, _stop, _serving) = start_server_with(body_routes(), with_bodies(limits)).await;
    let (mut reads, mut writes) = connect_and_send(address, &post("/read", 99)).await.into_split();
    let dripping = tokio::spawn(async move {
        while writes.write_all(b" ").await.is_ok() {
            tokio::time::sleep(SHORT_DELAY / 4).await;
        }
    });
    let mut text = vec![0; 600];
    let length = timeout(TEST_TIMEOUT, reads.read(&mut text)).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&text[..length]);
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    dripping.abort();
}

#[tokio::test]
async fn total_bytes_of_bodies_are_bounded() {
    let limits = BodyLimits { bytes: 80, ..BodyLimits::default() };
    let (address, _stop, _serving) = start_server_with(body_routes(), with_bodies(limits)).await;
    let mut first = connect_and_send(address, &(post("/read", 60) + &"1".repeat(50))).await;
    // Repeat until the first body has arrived as far as it was sent.
    let refused = async {
        loop {
            let mut client = connect_and_send(address, &(post("/read", 50) + &"1".repeat(50))).await;
            let mut text = [0; 12];
            client.read_exact(&mut text).await.unwrap();
            if &text == b"HTTP/1.1 429" {
                break;
            }
        }
    };
    timeout(TEST_TIMEOUT, refused).await.unwrap();
    first.write_all(&[b'1'; 10]).await.unwrap();
    read_until(&mut first, "60 bytes.").await;
    let text = read_until(&mut connect_and_send(address, &(post("/read", 50) + &"1".repeat(50))).await, ".").await;
    assert!(text.starts_with("HTTP/1.1 200"), "what was read holds nothing: {text}");
}

#[tokio::test]
async fn f106_client_with_oversized_body_reads_error_response() {
    let (address, _stop, _serving) = start_server(body_routes()).await;
    for (path, status) in [("/read", "413"), ("/refuse", "401"), ("/nowhere", "404")] {
        let length = 4 << 20;
        let (mut reads, mut writes) = connect_and_send(address, &post(path, length)).await.into_split();
        // The client reads only after it has sent everything, as many clients do.
        timeout(TEST_TIMEOUT, writes.write_all(&vec![b' '; length])).await.unwrap().unwrap();
        let mut text = vec![0; 32];
        timeout(TEST_TIMEOUT, reads.read_exact(&mut text)).await.unwrap().unwrap();
        assert!(text.starts_with(format!("HTTP/1.1 {status}").as_bytes()), "{path}");
    }
}

#[tokio::test]
async fn oversized_head_is_rejected() {
    let (address, _stop, _serving) = start_server(body_routes()).await;
    let head = format!("GET / HTTP/1.1\r\nhost: here\r\nx: {}\r\n\r\n", "x".repeat(4 * MAX_BUFFER_BYTES));
    let mut client = TcpStream::connect(address).await.unwrap();
    // The connection may be reset before the whole head is sent.
    let _sent = client.write_all(head.as_bytes()).await;
    let mut text = [0; 12];
    let read = timeout(TEST_TIMEOUT, client.read_exact(&mut text)).await.unwrap();
    assert!(read.is_err() || &text == b"HTTP/1.1 431", "{text:?}");
}

#[tokio::test]
async fn silent_clients_do_not_block_others() {
    let connections = Limits { total: 20, per_address: 5, local: 20 };
    let limits = ConnectionLimits { connections, ..ConnectionLimits::of_this_process() };
    let (address, _stop, _serving) = start_server_with(Router::new().route("/", get(|| async { "a." })), limits).await;
    let mut held = Vec::new();
    for count in 0..100 {
        held.push(connect_and_send(address, if count % 2 == 0 { "" } else { "GET / HTTP/1.1\r\nho" }).await);
    }
    read_until(&mut send_get(address, "/").await, "a.").await;
}

#[tokio::test]
async fn stalled_bodies_do_not_block_others() {
    let connections = Limits { total: 20, per_address: 20, local: 20 };
    let bodies = BodyLimits { idle: 10 * TEST_TIMEOUT, total: 10 * TEST_TIMEOUT, ..BodyLimits::default() };
    let limits = ConnectionLimits { connections, bodies, ..ConnectionLimits::of_this_process() };
    let (address, _stop, _serving) = start_server_with(body_routes().route("/", get(|| async { "a." })), limits).await;
    let mut held = Vec::new();
    for _ in 0..100 {
        held.push(connect_and_send(address, &(post("/read", 50) + "1")).await);
    }
    let answered = async { while !send_get_and_read(address).await.starts_with("HTTP/1.1 200") {} };
    timeout(TEST_TIMEOUT, answered).await.unwrap();
}

/// Sends a request and returns the response, or the part that arrived.
async fn send_get_and_read(address: SocketAddr) -> String {
    let (mut client, mut text) = (send_get(address, "/").await, [0; 64]);
    let length = client.read(&mut text).await.unwrap_or_default();
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[tokio::test]
async fn connection_beyond_limit_gets_503_at_once() {
    let (resume, connections) = (Arc::new(Notify::new()), Limits { total: 1, per_address: 1, local: 1 });
    let (until, request_received) = (Arc::clone(&resume), Arc::new(Notify::new()));
    let waits = Arc::clone(&request_received);
    let slow = get(move || async move {
        waits.notify_one();
        until.notified().await;
        "slow."
    });
    let limits = ConnectionLimits { connections, ..ConnectionLimits::of_this_process() };
    let (address, _stop, _serving) = start_server_with(Router::new().route("/", slow), limits).await;
    let mut first = send_get(address, "/").await;
    timeout(TEST_TIMEOUT, request_received.notified()).await.unwrap();
    let mut second = TcpStream::connect(address).await.unwrap();
    assert!(read_until(&mut second, "\r\n\r\n").await.starts_with("HTTP/1.1 503"));
    resume.notify_one();
    read_until(&mut first, "slow.").await;
}

#[tokio::test]
async fn f112_local_proxy_sets_source_address() {
    let routes = Router::new().route(
        "/",
        get(|request: Request| async move {
            let source = request.extensions().get::<web::SourceIp>();
            source.map_or("none.".to_owned(), |web::SourceIp(address)| format!("{address}."))
        }),
    );
    let (address, _stop, _serving) = start_server(routes).await;
    for (lines, seen) in [
        ("x-client: 203.0.113.9\r\n", "203.0.113.9."),
        ("", "none."),
        ("x-client: 203.0.113.9\r\nx-client: 203.0.113.8\r\n", "none."),
    ] {
        let mut client = connect_and_send(address, &format!("GET / HTTP/1.1\r\nhost: here\r\n{lines}\r\n")).await;
        read_until(&mut client, &format!("\r\n\r\n{seen}")).await;
    }
}
