//! Another user, whose model writes a delta every 20 ms, and the delay of each delta.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// Interval of the model's deltas.
const INTERVAL: Duration = Duration::from_millis(20);

/// The other user and the model, on their own thread, so that the flood does not delay them.
pub(crate) struct Watcher {
    pub(crate) address: SocketAddr,
    requests: mpsc::UnboundedSender<OpenStream>,
}

/// Request to open a stream.
struct OpenStream {
    server: String,
    running: Arc<AtomicBool>,
    begun: oneshot::Sender<()>,
    longest_delay: oneshot::Sender<Duration>,
}

/// A running stream.
pub(crate) struct Watch {
    running: Arc<AtomicBool>,
    longest_delay: oneshot::Receiver<Duration>,
}

impl Watcher {
    /// Starts the thread.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        listener.set_nonblocking(true).expect("a listener can be made to wait for nobody");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (requests, received) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a thread is enough").block_on(serve_requests(listener, received));
        });
        Self { address, requests }
    }

    /// Opens the other user's stream, and returns when its first delta has arrived.
    pub(crate) async fn watch(&self, server: &str) -> Watch {
        let ((begun, has_begun), (longest_delay, ended)) = (oneshot::channel(), oneshot::channel());
        let running = Arc::new(AtomicBool::new(true));
        let request = OpenStream { server: server.to_owned(), running: Arc::clone(&running), begun, longest_delay };
        assert!(self.requests.send(request).is_ok(), "the thread runs until the program ends");
        has_begun.await.expect("the stream begins");
        Watch { running, longest_delay: ended }
    }
}

impl Watch {
    /// Ends the stream; returns the longest time between sending and receiving a delta.
    pub(crate) async fn end(self) -> Duration {
        self.running.store(false, Ordering::Release);
        self.longest_delay.await.expect("the stream ends well")
    }
}

async fn serve_requests(listener: std::net::TcpListener, mut requests: mpsc::UnboundedReceiver<OpenStream>) {
    let listener = TcpListener::from_std(listener).expect("the runtime takes the listener");
    let http = platform::transport::build_client().expect("the HTTP client builds");
    while let Some(OpenStream { server, running, begun, longest_delay }) = requests.recv().await {
        let epoch = Instant::now();
        let (longest, ()) =
            tokio::join!(Box::pin(read(&http, &server, epoch, begun)), write(&listener, epoch, &running));
        let _ = longest_delay.send(longest);
    }
}

/// The model: answers one request with deltas that contain the time at which they were sent.
async fn write(listener: &TcpListener, epoch: Instant, running: &AtomicBool) {
    let (mut connection, _) = listener.accept().await.expect("the product connects");
    read_request(&mut connection).await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    send(&mut connection, head).await;
    let mut ticks = tokio::time::interval(INTERVAL);
    while running.load(Ordering::Acquire) {
        ticks.tick().await;
        let text = format!("#{};", epoch.elapsed().as_micros());
        send(&mut connection, &event(&format!("{{\"content\":\"{text}\"}}"), "null")).await;
    }
    send(&mut connection, &format!("{}data: [DONE]\n\n", event("{}", "\"stop\""))).await;
}

fn event(delta: &str, finish: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
}

async fn send(connection: &mut TcpStream, text: &str) {
    connection.write_all(text.as_bytes()).await.expect("the product reads its model");
}

/// Reads a request that fits into the buffer; the response does not depend on it.
async fn read_request(connection: &mut TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    let read = connection.read(&mut buffer).await.expect("the product sends a request");
    assert!(read > 0, "the product sends a request");
}

/// The other user: returns the longest delay of a delta.
async fn read(
    http: &platform::transport::Client,
    server: &str,
    epoch: Instant,
    begun: oneshot::Sender<()>,
) -> Duration {
    let body = serde_json::json!({ "message": "watch", "modelType": "slow" }).to_string();
    let request = http.post(format!("{server}/api/chat")).header("content-type", "application/json");
    let answer = request.header("x-user-id", "watcher").body(body).send().await.expect("the product answers");
    assert!(answer.status().is_success(), "the other user is refused: {}", answer.status());
    let (mut chunks, mut begun, mut longest) = (answer.bytes_stream(), Some(begun), Duration::ZERO);
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        text.push_str(&String::from_utf8_lossy(&chunk.expect("the stream is not cut")));
        let now = epoch.elapsed();
        while let Some(written) = take_next_time(&mut text) {
            longest = longest.max(now.saturating_sub(written));
            begun.take().map(|begun| begun.send(()));
        }
    }
    assert!(text.contains("[DONE]"), "the other user's turn ends well: {text:?}");
    longest
}

/// Removes the next delta from the text; returns the time at which it was sent.
fn take_next_time(text: &mut String) -> Option<Duration> {
    let start = text.find('#')?;
    let end = start + text[start..].find(';')?;
    let micros = text[start + 1..end].parse().expect("a delta is a number");
    text.drain(..=end);
    Some(Duration::from_micros(micros))
}
