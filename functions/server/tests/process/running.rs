//! The program as its own process, for tests that observe it from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Timeout of a wait.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A running `lambda-chat`; it is killed when this is dropped.
pub(crate) struct RunningServer {
    child: Child,
    /// The lines that it printed when it was ready.
    pub(crate) banner: String,
    /// Its HTTP address.
    pub(crate) address: SocketAddr,
}

impl RunningServer {
    /// Starts the program on a free port, with these settings alone, and waits for its banner.
    pub(crate) fn start(arguments: &[&str], settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lambda-chat"));
        command.args(["--port", "0"]).args(arguments).env_clear().envs(settings.iter().copied());
        Self::of(command)
    }

    /// Waits for the banner of a command that runs the program.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut banner = String::new();
        for line in lines.by_ref().map(Result::unwrap) {
            banner.push_str(&line);
            banner.push('\n');
            if line.trim_start().starts_with("Stop") {
                break;
            }
        }
        let url = banner.split_whitespace().find_map(|field| field.strip_prefix("http://"));
        let address = url.unwrap_or_else(|| panic!("no banner: {banner}")).parse().unwrap();
        Self { child, banner, address }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process and returns its log.
    pub(crate) fn kill(mut self) -> String {
        let _gone = self.child.kill();
        self.wait()
    }

    /// Waits until the process has ended, and returns its log.
    pub(crate) fn wait(&mut self) -> String {
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        self.child.wait().unwrap();
        log
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// An answer: status, head in lower case, body.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends a raw request and reads until the connection ends. Lines of `head` end with `\n`.
pub(crate) fn exchange(address: SocketAddr, head: &str, body: &str) -> Answer {
    exchange_within(address, head, body, WAIT_TIMEOUT)
}

/// The same with a timeout; the status is 0 if there is no response.
pub(crate) fn exchange_within(address: SocketAddr, head: &str, body: &str, timeout: Duration) -> Answer {
    let mut bytes = Vec::new();
    let head = head.trim_end().replace('\n', "\r\n");
    let request = format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let Ok(mut stream) = TcpStream::connect_timeout(&address, timeout) else { return Answer::default() };
    stream.set_read_timeout(Some(timeout)).unwrap();
    if stream.write_all(request.as_bytes()).is_err() {
        return Answer::default();
    }
    let _may_be_reset = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// Runs a turn without streaming, without a key, and without a search, because the demo search is slow.
pub(crate) fn chat(address: SocketAddr, message: &str) -> Answer {
    let body = format!(r#"{{"message":"{message}","stream":false,"toolChoice":"none"}}"#);
    let head = format!("POST /api/chat HTTP/1.1\nhost: {address}\ncontent-type: application/json");
    exchange(address, &head, &body)
}
