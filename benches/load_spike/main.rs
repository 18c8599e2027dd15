//! Measures a thousand concurrent turns: time, peak memory, and whether the memory is released.
//!
//! `cargo build --release -p server && cargo bench -p benches --bench load_spike`; the number of waves may follow after `--`.
//! The product runs in its own process with its own folder; the models run in this process. One turn in twenty has a
//! fault, and every answer is checked, so that the figures count complete answers only.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement that fails ends the program, and its result is printed"
)]

use std::time::Instant;

use process::Process;
use support::{Client, LoadSpike, MODEL_KEY};

const TURNS: u64 = 1000;
const WAVES: u64 = 6;

fn main() {
    let waves = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(WAVES);
    let runtime = tokio::runtime::Runtime::new().expect("threads can be made");
    runtime.block_on(measure(waves));
}

async fn measure(waves: u64) {
    let load = LoadSpike::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let settings = load.settings().into_iter().chain([("OPENAI_API_KEY", MODEL_KEY.to_owned())]);
    let product = Process::product(folder.path(), settings, &[]);
    let client = Client::new(&product.address);
    println!("{:<8} {:>8} {:>8} {:>10} {:>12}", "wave", "turns", "faults", "seconds", "RSS MiB");
    println!("{:<8} {:>8} {:>8} {:>10} {:>12.1}", "before", 0, 0, "", product.memory_mib());
    for wave in 0..waves {
        let begun = Instant::now();
        let faults = load.run(&client, wave * TURNS..(wave + 1) * TURNS).await;
        let seconds = begun.elapsed().as_secs_f64();
        println!("{:<8} {TURNS:>8} {faults:>8} {seconds:>10.1} {:>12.1}", wave + 1, product.memory_mib());
    }
    println!("highest: {:.1} MiB", product.peak_memory_mib());
}
