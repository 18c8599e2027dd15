//! Pipelined requests without a key, concurrently with another user's stream and requests.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Bench;
use crate::flood::MAX_FLOODS;
use crate::report::TARGET_DELAY;

/// The name of the kind.
pub(crate) const KIND: &str = "pipelined requests";

/// Public routes with the headers of their requests: a client without compression gets another text.
pub(crate) const ROUTES: [(&str, &str); 8] = [
    ("/", ""),
    ("/", "accept-encoding: gzip\r\n"),
    ("/assets/licences.txt", ""),
    ("/assets/licences.txt", "accept-encoding: gzip\r\n"),
    ("/assets/none", ""),
    ("/healthz", ""),
    ("/api/auth", ""),
    ("/nowhere", ""),
];

/// Numbers of connections that send at once.
pub(crate) const CONNECTIONS: [usize; 3] = [1, 20, 118];

/// Requests in one write.
const BATCH: usize = 20;

/// How long the connections send.
const FLOOD_TIME: Duration = Duration::from_secs(2);

/// Interval of the other user's requests.
const INTERVAL: Duration = Duration::from_millis(20);

/// Effect of the requests on the other user.
pub(crate) struct PipeliningResult {
    /// The longest delay of a delta.
    pub(crate) stream_delay: Duration,
    /// The longest time until a list of conversations was answered, on a new connection.
    pub(crate) request_time: Duration,
    /// Megabytes that the server sent to the flood.
    pub(crate) megabytes: usize,
}

impl PipeliningResult {
    /// The longest wait of the other user.
    pub(crate) fn longest_wait(&self) -> Duration {
        self.stream_delay.max(self.request_time)
    }
}

/// Floods a route from this many connections; again while the other user waits too long, and the shortest wait counts.
pub(crate) async fn measure(bench: &Bench, route: (&str, &str), connections: usize) -> PipeliningResult {
    let mut least = flood(bench, route, connections).await;
    for _ in 1..MAX_FLOODS {
        if least.longest_wait() >= TARGET_DELAY {
            let other = flood(bench, route, connections).await;
            least = if other.longest_wait() < least.longest_wait() { other } else { least };
        }
    }
    least
}

/// Sends requests for a route on this many connections at once.
async fn flood(bench: &Bench, (path, headers): (&str, &str), connections: usize) -> PipeliningResult {
    let address: SocketAddr = bench.server.url.trim_start_matches("http://").parse().expect("an address and a port");
    let watch = bench.watcher.watch(&bench.server.url).await;
    let running = Arc::new(AtomicBool::new(true));
    let still = Arc::clone(&running);
    let requests = std::thread::spawn(move || longest_request(address, &still));
    let (batch, bytes) =
        (format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n").repeat(BATCH), AtomicUsize::new(0));
    let flood = join_all((0..connections).map(|_| send_without_end(address, &batch, &bytes)));
    let _ended = tokio::time::timeout(FLOOD_TIME, flood).await;
    running.store(false, Ordering::Release);
    let request_time = requests.join().expect("the other user is answered");
    let megabytes = bytes.load(Ordering::Relaxed) / 1_000_000;
    PipeliningResult { stream_delay: watch.end().await, request_time, megabytes }
}

/// Sends batches and reads the answers; connects again when the server closes the connection.
async fn send_without_end(address: SocketAddr, batch: &str, bytes: &AtomicUsize) {
    loop {
        let Ok(mut client) = TcpStream::connect(address).await else { continue };
        let (mut reads, mut writes) = client.split();
        let mut buffer = vec![0; 64 * 1024];
        let reading = async {
            while let Ok(length @ 1..) = reads.read(&mut buffer).await {
                bytes.fetch_add(length, Ordering::Relaxed);
            }
        };
        let writing = async { while writes.write_all(batch.as_bytes()).await.is_ok() {} };
        tokio::join!(reading, writing);
    }
}

/// The other user's requests, on a thread of their own so that the flood does not delay the measurement.
fn longest_request(address: SocketAddr, running: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    while running.load(Ordering::Acquire) {
        let begun = Instant::now();
        let mut client = std::net::TcpStream::connect(address).expect("the server accepts connections");
        let request = format!("GET /api/conversations HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).expect("the server reads a request");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("the answer is complete");
        assert!(answer.starts_with("HTTP/1.1 200"), "the other user is refused: {answer}");
        longest = longest.max(begun.elapsed());
        std::thread::sleep(INTERVAL);
    }
    longest
}
