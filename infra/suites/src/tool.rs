use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Timeout for the start or stop of a tool.
const TOOL_TIMEOUT: Duration = Duration::from_mins(2);

/// How often a tool is started: a port is free only when it is chosen, and another process may take it before the tool.
const STARTS: usize = 4;

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

    /// Starts a program that listens at free ports of loopback, and waits until it accepts connections at the first of
    /// them. A program that ends before is started again with other ports.
    pub async fn start_listening<const N: usize>(
        command: impl Fn([SocketAddr; N]) -> Command,
    ) -> (Self, [SocketAddr; N]) {
        for start in 1..=STARTS {
            let addresses = free_ports();
            let mut tool = Self::start(&mut command(addresses));
            let listening = tokio::time::timeout(TOOL_TIMEOUT, wait_for_listener(addresses[0]));
            let ended = tokio::select! {
                biased;
                ended = tool.child.wait() => ended,
                ready = listening => {
                    assert!(ready.is_ok(), "{} does not listen at {}", tool.name, addresses[0]);
                    return (tool, addresses);
                }
            };
            assert!(start < STARTS, "{} ended too early: {ended:?}", tool.name);
        }
        unreachable!("the last start returns or panics")
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
async fn wait_for_listener(address: SocketAddr) {
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(CONNECT_INTERVAL).await;
    }
}

/// Returns different ports of loopback that were just free, for a tool that needs fixed ones.
fn free_ports<const N: usize>() -> [SocketAddr; N] {
    let listeners = [(); N].map(|()| StdListener::bind((LOOPBACK, 0)).expect("loopback has free ports"));
    listeners.map(|listener| listener.local_addr().expect("a bound listener has an address"))
}

/// Loopback, where the tools listen.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
