use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::answer::{FunctionResponse, ResponseReceiver, StreamedResponse};
use crate::wire::{self, Head};
use crate::within;

const INVOCATIONS: &str = "/2018-06-01/runtime/invocation/";

/// A Runtime API that serves one function until it is dropped.
pub struct RuntimeApi {
    address: SocketAddr,
    events: mpsc::UnboundedSender<Event>,
    shared: Arc<ApiState>,
    count: Mutex<u32>,
    serving: JoinHandle<()>,
}

struct ApiState {
    events: tokio::sync::Mutex<mpsc::UnboundedReceiver<Event>>,
    /// The response channels of pending invocations, by request id.
    waiting: Mutex<HashMap<String, oneshot::Sender<FunctionResponse>>>,
    /// Number of the function's requests for its next event.
    next_requests: watch::Sender<usize>,
}

struct Event {
    id: String,
    deadline: u128,
    payload: String,
}

/// A pending invocation.
pub struct Invocation {
    answer: oneshot::Receiver<FunctionResponse>,
}

impl Invocation {
    /// Waits for the function's response: the whole of a buffered one, the start of a streamed one.
    pub async fn answer(self) -> FunctionResponse {
        within("an answer of the function", self.answer).await.expect("the function answers before it ends")
    }
}

impl RuntimeApi {
    /// Starts a server on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (events, queue) = mpsc::unbounded_channel();
        let (events_of, waiting) = (tokio::sync::Mutex::new(queue), Mutex::default());
        let shared = Arc::new(ApiState { events: events_of, waiting, next_requests: watch::Sender::new(0) });
        let serving = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { address, events, shared, count: Mutex::default(), serving }
    }

    /// Host and port for `AWS_LAMBDA_RUNTIME_API`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Sends an event; the function has `remaining` time for it.
    pub fn invoke(&self, payload: &impl ToString, remaining: Duration) -> Invocation {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let id = format!("00000000-0000-4000-8000-{:012}", *count);
        let deadline = SystemTime::now() + remaining;
        let deadline = deadline.duration_since(UNIX_EPOCH).expect("it is later than 1970").as_millis();
        let (sender, answer) = oneshot::channel();
        self.shared.waiting().insert(id.clone(), sender);
        let event = Event { id, deadline, payload: payload.to_string() };
        self.events.send(event).expect("the server outlives its handle");
        Invocation { answer }
    }

    /// Waits for the `times`th request for an event. After the first, the function is ready; after the `n` + 1st, it may
    /// be frozen, because it has finished the `n`th event.
    pub async fn wait_for_next_requests(&self, times: usize) {
        let mut changes = self.shared.next_requests.subscribe();
        let reached = within("the function to ask for an event", changes.wait_for(|now| *now >= times)).await;
        reached.expect("the counter outlives its watchers");
    }

    /// Number of the function's requests for an event so far.
    pub fn next_request_count(&self) -> usize {
        *self.shared.next_requests.borrow()
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl ApiState {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<FunctionResponse>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, shared: Arc<ApiState>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, Arc::clone(&shared)));
    }
}

async fn serve(stream: TcpStream, shared: Arc<ApiState>) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(head)) = Head::read(&mut stream).await {
        let rest = head.path.strip_prefix(INVOCATIONS).unwrap_or_default();
        let served = match (head.method.as_str(), rest.split_once('/')) {
            ("GET", None) if rest == "next" => send_next(&mut stream, &shared).await,
            ("POST", Some((id, "response"))) if head.is_chunked() => {
                receive_streamed(&mut stream, &head, id, &shared).await
            }
            ("POST", Some((id, "response"))) => {
                receive_whole(&mut stream, &head, id, &shared, FunctionResponse::Whole).await
            }
            ("POST", Some((id, "error"))) => {
                receive_whole(&mut stream, &head, id, &shared, FunctionResponse::Error).await
            }
            _ => reply(&mut stream, "404 Not Found", "", "").await,
        };
        if served.is_err() {
            return;
        }
    }
}

async fn send_next(stream: &mut BufReader<TcpStream>, shared: &ApiState) -> io::Result<()> {
    let mut events = shared.events.lock().await;
    shared.next_requests.send_modify(|times| *times += 1);
    let Some(Event { id, deadline, payload }) = events.recv().await else {
        return Err(io::ErrorKind::ConnectionAborted.into());
    };
    drop(events);
    let headers = format!(
        "lambda-runtime-aws-request-id: {id}\r\nlambda-runtime-deadline-ms: {deadline}\r\n\
         lambda-runtime-invoked-function-arn: arn:aws:lambda:us-east-1:000000000000:function:chat\r\n\
         lambda-runtime-trace-id: Root=1-00000000-000000000000000000000000;Parent=0000000000000001;Sampled=1\r\n"
    );
    reply(stream, "200 OK", &headers, &payload).await
}

async fn receive_whole(
    stream: &mut BufReader<TcpStream>,
    head: &Head,
    id: &str,
    shared: &ApiState,
    kind: fn(serde_json::Value) -> FunctionResponse,
) -> io::Result<()> {
    let body = head.body(stream).await?;
    let body = serde_json::from_slice(&body).map_err(|_| io::ErrorKind::InvalidData)?;
    if let Some(waiting) = shared.waiting().remove(id) {
        let _ = waiting.send(kind(body));
    }
    reply(stream, "202 Accepted", "", "").await
}

/// Passes chunks to the test; the function's request completes when the test has released the response.
async fn receive_streamed(
    stream: &mut BufReader<TcpStream>,
    head: &Head,
    id: &str,
    shared: &ApiState,
) -> io::Result<()> {
    assert_eq!(head.header("lambda-runtime-function-response-mode"), "streaming");
    assert_eq!(head.header("content-type"), "application/vnd.awslambda.http-integration-response");
    let (answer, receiver) = StreamedResponse::new();
    if let Some(waiting) = shared.waiting().remove(id) {
        let _ = waiting.send(FunctionResponse::Streamed(answer));
    }
    match receive_chunks(stream, receiver).await? {
        StreamEnd::Complete => reply(stream, "202 Accepted", "", "").await,
        StreamEnd::Released => {
            stream.get_ref().set_zero_linger()?;
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}

enum StreamEnd {
    Complete,
    Released,
}

async fn receive_chunks(stream: &mut BufReader<TcpStream>, mut receiver: ResponseReceiver) -> io::Result<StreamEnd> {
    loop {
        let chunk = tokio::select! {
            () = receiver.wait_for_release() => return Ok(StreamEnd::Released),
            chunk = wire::chunk(stream) => chunk?,
        };
        let Some(chunk) = chunk else { break };
        receiver.send_chunk(chunk);
    }
    receiver.finish().await;
    Ok(StreamEnd::Complete)
}

async fn reply(stream: &mut BufReader<TcpStream>, status: &str, headers: &str, body: &str) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).await
}
