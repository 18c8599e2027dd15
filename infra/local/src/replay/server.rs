use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::script::{Attempt, Response};
use super::sequencer::Sequencer;
use super::speed::Speed;
use crate::recording::RecordedEnd;

/// Size limit of a request head, in bytes.
const MAX_HEAD_BYTES: u64 = 64 * 1024;

/// Why a replay stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The recording ends before the next input.
    RecordingEnded,
    /// A model was called more often than recorded.
    ExtraModelCall(String),
}

/// Sends the models' recorded responses on loopback; stops when dropped.
pub(super) struct Server {
    address: SocketAddr,
    accepting: AbortHandle,
}

/// Data that all connections share.
pub(super) struct ServerContext {
    /// Model names; a model's index is the first segment of its URL path.
    pub(super) models: Vec<String>,
    pub(super) attempts: Mutex<HashMap<String, VecDeque<Attempt>>>,
    pub(super) sequencer: Arc<Sequencer>,
    pub(super) speed: Speed,
    pub(super) cut_off: bool,
    pub(super) stop: watch::Sender<Option<StopReason>>,
}

impl Server {
    pub(super) async fn start(context: Arc<ServerContext>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok(Self { address, accepting: tokio::spawn(accept(listener, context)).abort_handle() })
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

async fn accept(listener: TcpListener, context: Arc<ServerContext>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let context = Arc::clone(&context);
        // Ignore clients that hang up.
        connections.spawn(async move { context.serve(stream).await.unwrap_or_default() });
    }
}

impl ServerContext {
    /// Serves the single request of a connection.
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (reading, mut writing) = stream.into_split();
        let mut reading = BufReader::new(reading);
        let model = read_request(&mut reading).await?;
        let name = model.and_then(|index| self.models.get(index)).cloned().unwrap_or_default();
        let next =
            self.attempts.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&name).and_then(VecDeque::pop_front);
        let Some(attempt) = next else {
            self.stop(if self.cut_off { StopReason::RecordingEnded } else { StopReason::ExtraModelCall(name) });
            return std::future::pending().await;
        };
        tokio::select! {
            played = self.send_attempt(&attempt, &mut writing) => played,
            // Clients send one request; any later read means that they hung up.
            _ = reading.fill_buf() => Ok(()),
        }
    }

    async fn send_attempt(&self, attempt: &Attempt, out: &mut (impl AsyncWriteExt + Unpin)) -> io::Result<()> {
        self.sequencer.start_response(attempt);
        if let Some(response) = &attempt.response {
            self.sequencer.wait_for_time(response.ms).await;
            out.write_all(self.head(response, attempt.retried).as_bytes()).await?;
        }
        let mut last = 0;
        for piece in &attempt.pieces {
            self.sequencer.wait_for_input(piece.input, piece.ms).await;
            out.write_all(format!("{:x}\r\n", piece.bytes.len()).as_bytes()).await?;
            out.write_all(&piece.bytes).await?;
            out.write_all(b"\r\n").await?;
            last = piece.input + 1;
        }
        let Some((ms, end)) = attempt.end else {
            self.sequencer.wait_for_input(last, 0).await;
            self.stop(StopReason::RecordingEnded);
            return std::future::pending().await;
        };
        // A connection that closes too early may lose its last bytes.
        self.sequencer.wait_for_input(last, ms).await;
        self.send_end(end, attempt, out).await
    }

    async fn send_end(
        &self,
        end: RecordedEnd,
        attempt: &Attempt,
        out: &mut (impl AsyncWriteExt + Unpin),
    ) -> io::Result<()> {
        match (end, &attempt.response) {
            (RecordedEnd::Whole, Some(_)) => out.write_all(b"0\r\n\r\n").await,
            (RecordedEnd::Silent, _) => std::future::pending().await,
            // This address is always reachable; an overloaded endpoint has the same effect.
            (RecordedEnd::Unreachable, None) => {
                let ms = 0;
                let refusal = Response { ms, status: 503, content_type: String::new(), retry_after_ms: None };
                out.write_all(self.head(&refusal, attempt.retried).as_bytes()).await?;
                out.write_all(b"0\r\n\r\n").await
            }
            _ => Ok(()),
        }
    }

    /// Returns status line and headers; the body is chunked.
    fn head(&self, response: &Response, retried: bool) -> String {
        let wait = if retried && self.speed == Speed::Fast { Some(1) } else { response.retry_after_ms };
        let wait = wait.map(|ms| format!("retry-after-ms: {ms}\r\n")).unwrap_or_default();
        let kind = match response.content_type.as_str() {
            "" => String::new(),
            kind => format!("content-type: {kind}\r\n"),
        };
        let fixed = "transfer-encoding: chunked\r\nconnection: close\r\n";
        format!("HTTP/1.1 {} Recorded\r\n{fixed}{kind}{wait}\r\n", response.status)
    }

    fn stop(&self, stop: StopReason) {
        self.stop.send_replace(Some(stop));
    }
}

/// Reads a request to its end and returns the model's index, the first segment of its path.
async fn read_request(reading: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<usize>> {
    let mut head = Vec::new();
    let mut limited = reading.take(MAX_HEAD_BYTES);
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', &mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = reading.take(length.unwrap_or(0));
    tokio::io::copy(&mut body, &mut tokio::io::sink()).await?;
    Ok(head.split('/').nth(1).and_then(|index| index.split(' ').next()?.parse().ok()))
}
