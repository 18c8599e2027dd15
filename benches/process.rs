//! A measured server in its own process, with its figures from Linux.

#![expect(clippy::expect_used, clippy::missing_panics_doc, reason = "a measurement that fails ends the program")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The process; it is killed when dropped.
pub struct Process {
    child: Child,
    /// Its base URL, such as `http://127.0.0.1:3000`.
    pub address: String,
}

impl Process {
    /// Starts a command that prints its address.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the process starts");
        let printed = BufReader::new(child.stdout.take().expect("its output is piped"));
        let line = |line: std::io::Result<String>| line.ok().and_then(|line| address(&line));
        let address = printed.lines().find_map(line).expect("it names its address");
        Self { child, address }
    }

    /// Starts the product on a folder, with these settings and further arguments.
    pub fn product(
        folder: &Path,
        settings: impl IntoIterator<Item = (&'static str, String)>,
        further: &[&str],
    ) -> Self {
        let mut command = Command::new(release_program("lambda-chat"));
        command.args(["--port", "0", "--data"]).arg(folder).args(further).env_clear().envs(settings);
        command.env("CHAT_RATE_LIMIT", "1000000/60s").env("RUST_LOG", "off");
        Self::start(&mut command)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Current resident memory, in MiB.
    pub fn memory_mib(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// Peak resident memory, in MiB.
    pub fn peak_memory_mib(&self) -> f64 {
        self.status("VmHWM:")
    }

    /// Processor time of its threads, including kernel time. Threads that ended are not counted; a running server has hardly
    /// any.
    pub fn cpu_time(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("Linux lists the threads");
        let used = threads.filter_map(|thread| {
            // The first number is the time on a processor, in nanoseconds.
            let schedstat = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            schedstat.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(used.sum())
    }

    #[expect(clippy::cast_precision_loss, reason = "memory is far below the precision of a float")]
    fn status(&self, field: &str) -> f64 {
        let status = self.read_proc_file("status");
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("every process has it");
        let kib: u64 = line.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a number of KiB");
        kib as f64 / 1024.0
    }

    fn read_proc_file(&self, what: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{what}", self.child.id())).expect("Linux tells it")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("the process runs until it is ended");
    }
}

/// The beginning of the addresses of [`search_results`].
pub const RESULT_URL: &str = "https://example.com/result-";

/// Ten results of 600 characters.
pub fn search_results(query: &str) -> Value {
    let text: String = "周末杭州以多云为主，气温十七到二十三度，早晚有雾，".chars().cycle().take(600).collect();
    let page = |n| json!({ "title": format!("{query}：第{n}页"), "url": format!("{RESULT_URL}{n}"), "content": text, "score": 0.9 });
    (1..=10).map(page).collect()
}

/// An address on loopback with a port that is free now.
pub fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("a bound listener has an address").to_string()
}

/// Path of the release build of a program in the same target folder.
pub fn release_program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a program knows where it is");
    let program = own.ancestors().nth(3).expect("benchmarks lie three folders deep").join("release").join(name);
    assert!(program.exists(), "first: cargo build --release -p server");
    program
}

/// Finds the address in a line that a server prints.
fn address(line: &str) -> Option<String> {
    let start = line.find("http://127.0.0.1:")?;
    line[start..].split_whitespace().next().map(|url| url.trim_end_matches('/').to_owned())
}
