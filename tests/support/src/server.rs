use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::reply::ConnectionAction;
use crate::{Reply, Request, with_timeout};

type Responder = Box<dyn Fn(&Request) -> Reply + Send>;
/// The rules for requests: whether a request keeps each of them, and its text.
type RequestRules = fn(&Request) -> Vec<(bool, &'static str)>;

/// A scripted HTTP server on loopback that records its requests.
///
/// A request takes the next queued reply. With an empty queue the responder answers. Without a responder the request is
/// a fault of the test. Dropping the server panics when there are faults.
pub(crate) struct FakeServer {
    pub(crate) address: SocketAddr,
    state: Arc<ServerState>,
    accept_task: JoinHandle<()>,
}

struct ServerState {
    name: &'static str,
    rules: RequestRules,
    script: Mutex<Script>,
    request_count: watch::Sender<usize>,
    hang_up_count: watch::Sender<usize>,
}

#[derive(Default)]
struct Script {
    queue: VecDeque<Reply>,
    responder: Option<Responder>,
    /// Replies for single paths; their requests take no queued reply.
    path_replies: HashMap<&'static str, Reply>,
    requests: Vec<Request>,
    faults: Vec<String>,
}

impl FakeServer {
    /// Starts a server that checks every request against `rules`.
    pub(crate) async fn start(name: &'static str, rules: RequestRules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(ServerState {
            name,
            rules,
            script: Mutex::default(),
            request_count: watch::Sender::new(0),
            hang_up_count: watch::Sender::new(0),
        });
        let accept_task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { address, state, accept_task }
    }

    pub(crate) fn queue_replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state.lock_script().queue.extend(replies);
    }

    pub(crate) fn respond_with(&self, responder: impl Fn(&Request) -> Reply + Send + 'static) {
        self.state.lock_script().responder = Some(Box::new(responder));
    }

    /// Sets the reply to every request for this path, independent of the script.
    pub(crate) fn set_path_reply(&self, path: &'static str, reply: Reply) {
        self.state.lock_script().path_replies.insert(path, reply);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock_script().requests.clone()
    }

    /// Waits for `count` requests.
    pub(crate) async fn wait_for_requests(&self, count: usize) {
        wait_for_count(&self.state.request_count, count, "requests to a fake server").await;
    }

    /// Waits until clients have disconnected from `count` responses before their end.
    pub(crate) async fn wait_for_hang_ups(&self, count: usize) {
        wait_for_count(&self.state.hang_up_count, count, "a client to hang up").await;
    }

    pub(crate) fn hang_up_count(&self) -> usize {
        *self.state.hang_up_count.borrow()
    }
}

async fn wait_for_count(counter: &watch::Sender<usize>, count: usize, what: &str) {
    let mut changes = counter.subscribe();
    with_timeout(what, changes.wait_for(|now| *now >= count)).await.expect("the counter outlives its watchers");
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.accept_task.abort();
        if std::thread::panicking() {
            return;
        }
        let script = self.state.lock_script();
        assert!(script.faults.is_empty(), "{}: {}", self.state.name, script.faults.join("\n"));
        assert!(script.queue.is_empty(), "{}: {} scripted replies were not used", self.state.name, script.queue.len());
    }
}

impl ServerState {
    fn lock_script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Records the request and takes its reply.
    fn take_reply(&self, request: &Request) -> Reply {
        let broken_rules = (self.rules)(request).into_iter().filter(|(holds, _)| !holds);
        let mut script = self.lock_script();
        script.faults.extend(broken_rules.map(|(_, rule)| format!("{rule}: {}", request.summary())));
        script.requests.push(request.clone());
        if let Some(reply) = script.path_replies.get(&*request.path) {
            return reply.clone();
        }
        if let Some(reply) = script.queue.pop_front() {
            return reply;
        }
        if let Some(responder) = &script.responder {
            return responder(request);
        }
        script.faults.push(format!("an unscripted request: {}", request.summary()));
        Reply::status(599)
    }
}

async fn accept(listener: TcpListener, state: Arc<ServerState>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, Arc::clone(&state)));
    }
}

/// Answers one connection's requests in turn, until a script closes it or the client does.
async fn serve(stream: TcpStream, state: Arc<ServerState>) {
    // Otherwise the kernel would delay and merge small writes.
    let _ = stream.set_nodelay(true);
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading);
    while let Ok(Some(request)) = Request::read(&mut reading).await {
        let reply = state.take_reply(&request);
        state.request_count.send_modify(|count| *count += 1);
        let after = tokio::select! {
            played = reply.play(&mut writing) => played,
            // Clients do not pipeline requests, so a read can only return the end of the connection.
            _ = reading.fill_buf() => Err(std::io::ErrorKind::ConnectionAborted.into()),
        };
        match after {
            Ok(ConnectionAction::Keep) => {}
            Ok(ConnectionAction::Close) => return,
            Ok(ConnectionAction::Reset) => return reset(reading.into_inner().reunite(writing)),
            Err(_) => return state.hang_up_count.send_modify(|count| *count += 1),
        }
    }
}

/// Closes the connection with a TCP reset instead of a graceful end.
fn reset<E: std::fmt::Debug>(stream: Result<TcpStream, E>) {
    let stream = stream.expect("both halves are of one connection");
    stream.set_zero_linger().expect("the option exists on every platform");
}
