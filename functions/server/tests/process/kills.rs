//! A server that is killed at random moments while clients send turns under idempotency keys.
//!
//! Nothing is stored twice, and nothing acknowledged is lost. `KILLS` is the number of kills (30), `KILLS_SEED` makes
//! the moments those of an earlier run, which printed it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;

use crate::running::{Answer, RunningServer, exchange_within};

/// Clients that send at the same time.
const CLIENTS: u64 = 6;

/// How many answers a server gives before it is killed, at most, and how long after the last of them, in milliseconds.
const MAX_LIFE: (u64, u64) = (12, 60);

/// Timeout of a request while servers are killed, and of its last repetition: a dead turn ends after its lease of 15 s.
const TIMEOUTS: [Duration; 2] = [Duration::from_secs(5), Duration::from_mins(1)];

/// A message that is sent until it is answered, always under the same key.
struct Message {
    text: String,
    /// The conversation that it continues.
    conversation: Option<String>,
    /// The conversation that it is in, once its answer was acknowledged.
    stored_in: Option<String>,
    /// The content of its answer, once that was acknowledged.
    answer: Option<String>,
}

impl Message {
    /// Sends it once; returns the status.
    fn send(&mut self, address: SocketAddr, timeout: Duration) -> u16 {
        let mut body = serde_json::json!({ "message": self.text, "stream": false, "toolChoice": "none" });
        if let Some(id) = &self.conversation {
            body["conversationId"] = id.as_str().into();
        }
        let key = &self.text;
        let head =
            format!("POST /api/chat HTTP/1.1\nhost: {address}\ncontent-type: application/json\nidempotency-key: {key}");
        let Answer { status, body, .. } = exchange_within(address, &head, &body.to_string(), timeout);
        if status == 200 {
            // The kill may have cut the response.
            let Ok(answer) = serde_json::from_str::<Value>(&body) else { return 0 };
            let content = answer["content"].as_str().unwrap().to_owned();
            assert!(self.answer.as_ref().is_none_or(|known| *known == content), "{}: another answer", self.text);
            self.answer = Some(content);
            self.stored_in = Some(answer["conversationId"].as_str().unwrap().to_owned());
        }
        status
    }
}

/// Numbers that look random (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn start(data: &Path) -> RunningServer {
    RunningServer::start(&["--data", data.to_str().unwrap()], &[("CHAT_RATE_LIMIT", "1000000/60s")])
}

/// Sends messages to the servers whose addresses arrive, until there are no more: new ones, and those that failed again.
fn run_client(number: u64, seed: u64, addresses: &Receiver<SocketAddr>, answered: &Sender<()>) -> Vec<Message> {
    let (mut messages, mut random): (Vec<Message>, _) = (Vec::new(), Random(seed + number + 1));
    for address in addresses {
        for turn in 0.. {
            let open = (0..messages.len()).rfind(|index| messages[*index].answer.is_none());
            let index = open.filter(|_| turn == 0).unwrap_or_else(|| {
                let text = format!("message {number}-{}", messages.len());
                let conversation = messages.iter().rev().find_map(|message| message.stored_in.clone());
                let conversation = conversation.filter(|_| random.below(2) == 0);
                messages.push(Message { text, conversation, stored_in: None, answer: None });
                messages.len() - 1
            });
            match messages[index].send(address, TIMEOUTS[0]) {
                0 => break,
                // The test has ended, if nobody counts.
                200 => drop(answered.send(())),
                _ => {}
            }
        }
    }
    messages
}

/// How often each user message is stored, and the contents of all answers by their question.
fn read_all(address: SocketAddr) -> HashMap<String, Vec<String>> {
    let get = |path: &str| {
        // Without chunks.
        let answer = exchange_within(address, &format!("GET {path} HTTP/1.0\nhost: {address}"), "", TIMEOUTS[1]);
        assert_eq!(answer.status, 200, "{path}");
        answer.body
    };
    let mut stored: HashMap<String, Vec<String>> = HashMap::new();
    let mut question = String::new();
    for row in get("/api/me/export").lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let content = row["content"].as_str().unwrap_or_default();
        match (row["kind"].as_str().unwrap(), row["role"].as_str()) {
            ("message", Some("user")) => {
                content.clone_into(&mut question);
                stored.entry(question.clone()).or_default();
            }
            ("message", Some("assistant")) => stored.entry(question.clone()).or_default().push(content.to_owned()),
            ("error", _) => panic!("the export is not whole: {row}"),
            _ => {}
        }
    }
    stored
}

#[test]
fn f098_killed_server_stores_nothing_twice() {
    let number = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    let kills = number("KILLS").unwrap_or(30);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("KILLS_SEED").unwrap_or_else(|| now.as_secs() * 1000 + u64::from(now.subsec_millis()));
    eprintln!("KILLS={kills} KILLS_SEED={seed}");
    let (folder, mut random) = (TempDir::new().unwrap(), Random(seed));
    let (answered, answers) = channel();
    let (senders, clients): (Vec<Sender<SocketAddr>>, Vec<_>) = (0..CLIENTS)
        .map(|number| {
            let ((sender, addresses), answered) = (channel(), answered.clone());
            (sender, thread::spawn(move || run_client(number, seed, &addresses, &answered)))
        })
        .unzip();
    for _ in 0..kills {
        let server = start(folder.path());
        for sender in &senders {
            sender.send(server.address).unwrap();
        }
        answers.try_iter().for_each(drop);
        for _ in 0..random.below(MAX_LIFE.0) {
            if answers.recv_timeout(Duration::from_secs(2)).is_err() {
                break;
            }
        }
        // The moment of the kill.
        thread::sleep(Duration::from_millis(random.below(MAX_LIFE.1)));
        server.kill();
    }
    drop(senders);
    let mut messages: Vec<Message> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let acknowledged = messages.iter().filter(|message| message.answer.is_some()).count();

    let server = start(folder.path());
    let repeated = repeat_all(server.address, &mut messages);
    let stored = read_all(server.address);
    for message in &messages {
        let answers = stored.get(&message.text).map_or(&[] as &[_], Vec::as_slice);
        assert!(answers.len() <= 1, "{} is stored {} times", message.text, answers.len());
        let is_kept = message.answer.as_ref().is_none_or(|answer| answers == [answer.clone()]);
        assert!(is_kept, "{} is lost: {:?} is stored, not {:?}", message.text, answers, message.answer);
    }
    assert!(acknowledged > 0 && stored.len() <= messages.len());
    let (all, stored) = (messages.len(), stored.len());
    eprintln!("{all} messages, {acknowledged} acknowledged, {stored} stored; statuses of repetitions: {repeated:?}");
}

/// Sends all messages again, 32 at a time and twice; returns how many got each status.
fn repeat_all(address: SocketAddr, messages: &mut [Message]) -> HashMap<u16, usize> {
    let counts = Mutex::new(HashMap::new());
    let share = messages.len().div_ceil(32).max(1);
    for _ in 0..2 {
        thread::scope(|scope| {
            let counts = &counts;
            for messages in messages.chunks_mut(share) {
                scope.spawn(move || {
                    for message in messages {
                        let status = message.send(address, TIMEOUTS[1]);
                        *counts.lock().unwrap().entry(status).or_insert(0) += 1;
                    }
                });
            }
        });
    }
    counts.into_inner().unwrap()
}
