use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Timeout for the start or stop of a tool.
const TOOL_TIMEOUT: Duration = Duration::from_mins(2);

/// Interval of connection attempts until an address accepts one.
const CONNECT_INTERVAL: Duration = Duration::from_millis(50);

/// A child process of the suite; [`Tool::stop`] interrupts it, and dropping kills it.
pub struct Tool {
    name: String,
    child: Child,
}

impl Tool {
    /// Starts a program that inherits the suite's output.
    pub fn start(command: &mut Command) -> Self {
        let name = command.as_std().get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).kill_on_drop(true).spawn();
        Self { child: child.unwrap_or_else(|error| panic!("{name}: {error}")), name }
    }

    /// Waits until the tool listens at the address; panics if it ends first.
    pub async fn wait_until_listening(&mut self, address: SocketAddr) {
        let listening = tokio::time::timeout(TOOL_TIMEOUT, wait_for_listener(address));
        tokio::select! {
            ready = listening => ready.unwrap_or_else(|_| panic!("{} does not listen at {address}", self.name)),
            ended = self.child.wait() => panic!("{} ended too early: {ended:?}", self.name),
        }
    }

    /// Sends it SIGINT, as Ctrl-C does, and waits until it has cleaned up.
    pub async fn stop(mut self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            kill_process(id, Signal::INT).expect("a signal can be sent to one's own child");
        }
        let ended = tokio::time::timeout(TOOL_TIMEOUT, self.child.wait()).await;
        assert!(ended.is_ok(), "{} does not end", self.name);
    }
}

/// Waits until the address accepts a connection.
pub async fn wait_for_listener(address: SocketAddr) {
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(CONNECT_INTERVAL).await;
    }
}

/// Returns a port that was just free, for a tool that needs a fixed one.
pub fn free_port(host: impl Into<IpAddr>) -> SocketAddr {
    let listener = StdListener::bind((host.into(), 0)).expect("the address has a free port");
    listener.local_addr().expect("a bound listener has an address")
}

/// Loopback, where the tools listen.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
