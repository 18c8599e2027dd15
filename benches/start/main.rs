//! Measures the time from `exec` to a function's first request for an event, compared with two smaller functions.
//!
//! `cargo build --release -p chat && cargo bench -p benches --bench start`; the number of runs may follow after `--`.
//! Every process meets an idle Runtime API: a listener that accepts, reads the request, and does not respond. The
//! functions run alternately, so that other work of the machine affects all of them.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a measurement that fails ends the program, and its result is printed"
)]

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 30;

const NEXT_REQUEST: &str = "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\n";

/// Variables that every deployed function has, and settings of the product.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("AWS_LAMBDA_FUNCTION_NAME", "chat"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
    ("AWS_REGION", "eu-central-1"),
    ("AWS_ACCESS_KEY_ID", "bench"),
    ("AWS_SECRET_ACCESS_KEY", "bench"),
    ("AUTH", "api_key"),
    ("ARK_MODEL", "doubao-seed-1-6-250615"),
    ("ARK_API_KEY_PARAMETER", "/lambda-chat/ark"),
    ("OPENAI_MODEL", "gpt-5"),
    ("OPENAI_API_KEY_PARAMETER", "/lambda-chat/openai"),
    ("TAVILY_API_KEY_PARAMETER", "/lambda-chat/tavily"),
    ("ALLOWED_ORIGINS", "https://chat.example.com"),
];

struct Candidate {
    name: &'static str,
    binary: PathBuf,
    times: Vec<Duration>,
    /// Minimum resident memory at the first request, in KiB.
    memory: u64,
}

fn main() {
    let runs = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(RUNS);
    let alone = PathBuf::from(env!("CARGO_BIN_EXE_runtime-alone"));
    let product = alone.with_file_name("chat");
    assert!(product.exists(), "first: cargo build --release -p chat");
    let mut candidates = [
        Candidate::new("the runtime alone", alone),
        Candidate::new("with both clients", PathBuf::from(env!("CARGO_BIN_EXE_runtime-and-clients"))),
        Candidate::new("the chat function", product),
    ];
    let api = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    for _ in 0..runs {
        for candidate in &mut candidates {
            candidate.run(&api);
        }
    }
    println!("{:<20} {:>9} {:>9} {:>9} {:>11}", "bootstrap", "least ms", "median ms", "RSS MiB", "binary MiB");
    candidates.iter_mut().for_each(Candidate::report);
}

impl Candidate {
    fn new(name: &'static str, binary: PathBuf) -> Self {
        Self { name, binary, times: Vec::new(), memory: u64::MAX }
    }

    fn run(&mut self, api: &TcpListener) {
        let address = api.local_addr().expect("a bound listener has an address").to_string();
        let mut command = Command::new(&self.binary);
        command.env_clear().envs(ENVIRONMENT).env("AWS_LAMBDA_RUNTIME_API", address);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().expect("the binary starts");
        let (mut stream, _) = api.accept().expect("the function connects");
        let mut request = vec![0; NEXT_REQUEST.len()];
        stream.read_exact(&mut request).expect("the function asks");
        self.times.push(begun.elapsed());
        assert_eq!(request, NEXT_REQUEST.as_bytes());
        self.memory = self.memory.min(resident_kib(&child));
        child.kill().and_then(|()| child.wait()).expect("one's own child can be ended");
    }

    fn report(&mut self) {
        self.times.sort();
        let least = self.times.first().copied().unwrap_or_default().as_secs_f64() * 1e3;
        let median = self.times.get(self.times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3;
        let (memory, size) = (to_mebibytes(self.memory * 1024), to_mebibytes(size(&self.binary)));
        println!("{:<20} {least:>9.2} {median:>9.2} {memory:>9.1} {size:>11.2}", self.name);
    }
}

/// Reads the resident memory in KiB.
fn resident_kib(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("the process runs on Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no memory in {status}"))
}

fn size(binary: &Path) -> u64 {
    binary.metadata().expect("the binary exists").len()
}

#[expect(clippy::cast_precision_loss, reason = "a size in mebibytes has few digits")]
fn to_mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}
