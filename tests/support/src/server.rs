use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::reply::After;
use crate::{Reply, Request, within};

type Answerer = Box<dyn Fn(&Request) -> Reply + Send>;
/// The rules for requests: whether a request keeps each of them, and its text.
type Rules = fn(&Request) -> Vec<(bool, &'static str)>;

/// A scripted HTTP server on loopback that records its requests.
///
/// A request takes the next queued reply. With an empty queue the responder answers. Without a responder the request is
/// a fault of the test. Dropping the server panics when there are faults.
pub(crate) struct FakeServer {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

struct State {
    name: &'static str,
    rules: Rules,
    script: Mutex<Script>,
    asked: watch::Sender<usize>,
    hung_up: watch::Sender<usize>,
}

#[derive(Default)]
struct Script {
    queue: VecDeque<Reply>,
    answerer: Option<Answerer>,
    /// Replies for single paths; their requests take no queued reply.
    aside: HashMap<&'static str, Reply>,
    log: Vec<Request>,
    faults: Vec<String>,
}

impl FakeServer {
    /// Starts a server that checks every request against `rules`.
    pub(crate) async fn start(name: &'static str, rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(State {
            name,
            rules,
            script: Mutex::default(),
            asked: watch::Sender::new(0),
            hung_up: watch::Sender::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { address, state, accepting }
    }

    pub(crate) fn queue(&self, replies: impl IntoIterator<Item = Reply>) {
        self.state.script().queue.extend(replies);
    }

    pub(crate) fn answer(&self, answerer: impl Fn(&Request) -> Reply + Send + 'static) {
        self.state.script().answerer = Some(Box::new(answerer));
    }

    /// Sets the reply to every request for this path, independent of the script.
    pub(crate) fn aside(&self, path: &'static str, reply: Reply) {
        self.state.script().aside.insert(path, reply);
    }

    pub(crate) fn log(&self) -> Vec<Request> {
        self.state.script().log.clone()
    }

    /// Waits for `count` requests.
    pub(crate) async fn asked(&self, count: usize) {
        at_least(&self.state.asked, count, "requests to a fake server").await;
    }

    /// Waits until clients have disconnected from `count` responses before their end.
    pub(crate) async fn hung_up(&self, count: usize) {
        at_least(&self.state.hung_up, count, "a client to hang up").await;
    }

    pub(crate) fn hang_ups(&self) -> usize {
        *self.state.hung_up.borrow()
    }
}

async fn at_least(counter: &watch::Sender<usize>, count: usize, what: &str) {
    let mut changes = counter.subscribe();
    within(what, changes.wait_for(|now| *now >= count)).await.expect("the counter outlives its watchers");
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.accepting.abort();
        if std::thread::panicking() {
            return;
        }
        let script = self.state.script();
        assert!(script.faults.is_empty(), "{}: {}", self.state.name, script.faults.join("\n"));
        assert!(script.queue.is_empty(), "{}: {} scripted replies were not used", self.state.name, script.queue.len());
    }
}

impl State {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Records the request and takes its reply.
    fn reply_to(&self, request: &Request) -> Reply {
        let broken = (self.rules)(request).into_iter().filter(|(holds, _)| !holds);
        let mut script = self.script();
        script.faults.extend(broken.map(|(_, rule)| format!("{rule}: {}", request.summary())));
        script.log.push(request.clone());
        if let Some(reply) = script.aside.get(&*request.path) {
            return reply.clone();
        }
        if let Some(reply) = script.queue.pop_front() {
            return reply;
        }
        if let Some(answerer) = &script.answerer {
            return answerer(request);
        }
        script.faults.push(format!("an unscripted request: {}", request.summary()));
        Reply::status(599)
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, Arc::clone(&state)));
    }
}

/// Answers one connection's requests in turn, until a script closes it or the client does.
async fn serve(stream: TcpStream, state: Arc<State>) {
    // Otherwise the kernel would delay and merge small writes.
    let _ = stream.set_nodelay(true);
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading);
    while let Ok(Some(request)) = Request::read(&mut reading).await {
        let reply = state.reply_to(&request);
        state.asked.send_modify(|count| *count += 1);
        let after = tokio::select! {
            played = reply.play(&mut writing) => played,
            // Clients do not pipeline requests, so a read can only return the end of the connection.
            _ = reading.fill_buf() => Err(std::io::ErrorKind::ConnectionAborted.into()),
        };
        match after {
            Ok(After::Keep) => {}
            Ok(After::Close) => return,
            Ok(After::Reset) => return reset(reading.into_inner().reunite(writing)),
            Err(_) => return state.hung_up.send_modify(|count| *count += 1),
        }
    }
}

/// Closes the connection with a TCP reset instead of a graceful end.
fn reset<E: std::fmt::Debug>(stream: Result<TcpStream, E>) {
    let stream = stream.expect("both halves are of one connection");
    stream.set_zero_linger().expect("the option exists on every platform");
}
