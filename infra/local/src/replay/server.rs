use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::Speed;
use super::order::Order;
use super::score::{Attempt, Response};
use crate::recording::End;

/// Size limit of a request head, in bytes.
const LONGEST_HEAD: u64 = 64 * 1024;

/// Why a replay stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The recording ends before the next input.
    Ended,
    /// A model was called more often than recorded.
    Beyond(String),
}

/// Sends the models' recorded responses on loopback; stops when dropped.
pub(super) struct Server {
    address: SocketAddr,
    accepting: AbortHandle,
}

/// Data that all connections share.
pub(super) struct Program {
    /// Model names; a model's index is the first segment of its URL path.
    pub(super) models: Vec<String>,
    pub(super) attempts: Mutex<HashMap<String, VecDeque<Attempt>>>,
    pub(super) order: Arc<Order>,
    pub(super) speed: Speed,
    pub(super) cut_off: bool,
    pub(super) stop: watch::Sender<Option<Stop>>,
}

impl Server {
    pub(super) async fn start(program: Arc<Program>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok(Self { address, accepting: tokio::spawn(accept(listener, program)).abort_handle() })
    }

    /// Base URL of the model with this index.
    pub(super) fn url(&self, model: usize) -> String {
        format!("http://{}/{model}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, program: Arc<Program>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let program = Arc::clone(&program);
        // Ignore clients that hang up.
        connections.spawn(async move { program.serve(stream).await.unwrap_or_default() });
    }
}

impl Program {
    /// Serves the single request of a connection.
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (reading, mut writing) = stream.into_split();
        let mut reading = BufReader::new(reading);
        let model = read_request(&mut reading).await?;
        let name = model.and_then(|place| self.models.get(place)).cloned().unwrap_or_default();
        let next =
            self.attempts.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&name).and_then(VecDeque::pop_front);
        let Some(attempt) = next else {
            self.stop(if self.cut_off { Stop::Ended } else { Stop::Beyond(name) });
            return std::future::pending().await;
        };
        tokio::select! {
            played = self.play(&attempt, &mut writing) => played,
            // Clients send one request; any later read means that they hung up.
            _ = reading.fill_buf() => Ok(()),
        }
    }

    async fn play(&self, attempt: &Attempt, out: &mut (impl AsyncWriteExt + Unpin)) -> io::Result<()> {
        self.order.begin(attempt);
        if let Some(response) = &attempt.response {
            self.order.time(response.ms).await;
            out.write_all(self.head(response, attempt.again).as_bytes()).await?;
        }
        let mut last = 0;
        for piece in &attempt.pieces {
            self.order.due(piece.input, piece.ms).await;
            out.write_all(format!("{:x}\r\n", piece.bytes.len()).as_bytes()).await?;
            out.write_all(&piece.bytes).await?;
            out.write_all(b"\r\n").await?;
            last = piece.input + 1;
        }
        let Some((ms, end)) = attempt.end else {
            self.order.due(last, 0).await;
            self.stop(Stop::Ended);
            return std::future::pending().await;
        };
        // A connection that closes too early may lose its last bytes.
        self.order.due(last, ms).await;
        self.end(end, attempt, out).await
    }

    async fn end(&self, end: End, attempt: &Attempt, out: &mut (impl AsyncWriteExt + Unpin)) -> io::Result<()> {
        match (end, &attempt.response) {
            (End::Whole, Some(_)) => out.write_all(b"0\r\n\r\n").await,
            (End::Silent, _) => std::future::pending().await,
            // This address is always reachable; an overloaded endpoint has the same effect.
            (End::Unreachable, None) => {
                let ms = 0;
                let refusal = Response { ms, status: 503, content_type: String::new(), retry_after_ms: None };
                out.write_all(self.head(&refusal, attempt.again).as_bytes()).await?;
                out.write_all(b"0\r\n\r\n").await
            }
            _ => Ok(()),
        }
    }

    /// Returns status line and headers; the body is chunked.
    fn head(&self, response: &Response, again: bool) -> String {
        let wait = if again && self.speed == Speed::Fast { Some(1) } else { response.retry_after_ms };
        let wait = wait.map(|ms| format!("retry-after-ms: {ms}\r\n")).unwrap_or_default();
        let kind = match response.content_type.as_str() {
            "" => String::new(),
            kind => format!("content-type: {kind}\r\n"),
        };
        let fixed = "transfer-encoding: chunked\r\nconnection: close\r\n";
        format!("HTTP/1.1 {} Recorded\r\n{fixed}{kind}{wait}\r\n", response.status)
    }

    fn stop(&self, stop: Stop) {
        self.stop.send_replace(Some(stop));
    }
}

/// Reads a request to its end and returns the model's index, the first segment of its path.
async fn read_request(reading: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<usize>> {
    let mut head = Vec::new();
    let mut limited = reading.take(LONGEST_HEAD);
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', &mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = reading.take(length.unwrap_or(0));
    tokio::io::copy(&mut body, &mut tokio::io::sink()).await?;
    Ok(head.split('/').nth(1).and_then(|place| place.split(' ').next()?.parse().ok()))
}
