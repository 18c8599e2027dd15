//! What a thousand turns at once take, and whether the memory they take comes back.
//!
//! `cargo build --release -p local && cargo bench -p benches --bench crowd`; the number of waves may follow after `--`.
//! The product runs in a process of its own over a folder of its own; the models are in this one. One turn in twenty meets
//! a fault, and every answer is held against what it must be, so that a figure stands for whole answers only.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement that fails ends the program, and its result is printed"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use support::{Client, Crowd, MODEL_KEY};

const TURNS: u64 = 1000;
const WAVES: u64 = 6;

fn main() {
    let waves = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(WAVES);
    let runtime = tokio::runtime::Runtime::new().expect("threads can be made");
    runtime.block_on(measure(waves));
}

async fn measure(waves: u64) {
    let crowd = Crowd::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut product = Product::start(&crowd, folder.path());
    let client = Client::new(&product.address);
    println!("{:<8} {:>8} {:>8} {:>10} {:>12}", "wave", "turns", "faults", "seconds", "RSS MiB");
    println!("{:<8} {:>8} {:>8} {:>10} {:>12.1}", "before", 0, 0, "", product.memory());
    for wave in 0..waves {
        let begun = Instant::now();
        let faults = crowd.run(&client, wave * TURNS..(wave + 1) * TURNS).await;
        let seconds = begun.elapsed().as_secs_f64();
        println!("{:<8} {TURNS:>8} {faults:>8} {seconds:>10.1} {:>12.1}", wave + 1, product.memory());
    }
    println!("highest: {:.1} MiB", product.highest_memory());
    product.child.kill().expect("the product runs until it is ended");
}

/// The product in a process of its own.
struct Product {
    child: Child,
    address: String,
}

impl Product {
    fn start(crowd: &Crowd, folder: &Path) -> Self {
        let mut command = Command::new(binary());
        command.args(["--port", "0", "--data"]).arg(folder);
        command.env_clear().envs(crowd.settings()).env("OPENAI_API_KEY", MODEL_KEY);
        command.env("CHAT_RATE_LIMIT", "1000000/60s").env("RUST_LOG", "off");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the product starts");
        let banner = BufReader::new(child.stdout.take().expect("its output is piped"));
        let line = |line: std::io::Result<String>| line.ok().and_then(|line| address(&line));
        let address = banner.lines().find_map(line).expect("the banner names the address");
        Self { child, address }
    }

    /// The resident memory now, in MiB.
    fn memory(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most resident memory so far, in MiB.
    fn highest_memory(&self) -> f64 {
        self.status("VmHWM:")
    }

    #[expect(clippy::cast_precision_loss, reason = "memory is far below the precision of a float")]
    fn status(&self, field: &str) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux tells it");
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("every process has it");
        let kib: u64 = line.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a number of KiB");
        kib as f64 / 1024.0
    }
}

fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("a program knows where it is");
    let product = own.ancestors().nth(2).expect("benchmarks lie two folders deep").join("lambda-chat");
    assert!(product.exists(), "first: cargo build --release -p local");
    product
}

/// The address in a line of the banner.
fn address(line: &str) -> Option<String> {
    let start = line.find("http://127.0.0.1:")?;
    line[start..].split_whitespace().next().map(|url| url.trim_end_matches('/').to_owned())
}
