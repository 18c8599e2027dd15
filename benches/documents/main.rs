//! Measures the document tools: `grep_search` against the program `rg`, and the copying of documents from S3.
//!
//! `cargo bench -p documents-bench`; `-- times`, `-- matches` or `-- bucket` runs one part. The tree has 20,000 files: UTF-8, Latin-1, GBK and UTF-16 text, and binaries. `rg` is
//! ripgrep; without it on the path the comparison is left out. The bucket is a server in this process, over loopback.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement that fails ends the program, and its result is printed"
)]

mod bucket;
mod cpu;
mod patterns;
mod ripgrep;
mod tool;
mod tree;

use std::time::{Duration, Instant};

use documents::{DocumentRoot, DocumentSource, HiddenFiles};
use tempfile::TempDir;

use self::tool::DocumentTools;

/// Runs of each measured search, in turns with those of `rg`; the median counts.
const RUNS: u32 = 9;

/// The searches that are timed: rare, frequent, a class of letters, Chinese, and without any match.
const TIMED: [&str; 6] = ["needle-17", "the", r"[A-Z]{3}-\d{4}", "预算", r"(?i)\bdeposit\b.*\bmonth\b", "never-there"];

#[tokio::main]
async fn main() {
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let runs = |part: &str| parts.is_empty() || parts.iter().any(|name| name == part);
    let folder = TempDir::new().expect("a temporary folder");
    tree::write(folder.path());
    let root = DocumentRoot::open(folder.path(), HiddenFiles::Skip).expect("the folder was just made");
    let tools = DocumentTools::new(&DocumentSource::from(root));
    if ripgrep::is_installed() {
        if runs("times") {
            compare_times(&tools, folder.path()).await;
        }
        if runs("matches") {
            compare_matches(&tools, folder.path()).await;
        }
    } else {
        println!("rg is not installed, so there is nothing to compare grep_search with");
    }
    if runs("bucket") {
        bucket::measure().await;
    }
}

async fn compare_times(tools: &DocumentTools, folder: &std::path::Path) {
    println!(
        "{:<32} {:>9} {:>9} {:>9} {:>6} {:>12} {:>10} {:>6}",
        "pattern", "first ms", "tool ms", "rg ms", "ratio", "tool CPU ms", "rg CPU ms", "ratio"
    );
    for pattern in TIMED {
        let (mut tool, mut program) = (Vec::new(), Vec::new());
        let before = cpu::used();
        for _ in 0..RUNS {
            let begun = Instant::now();
            tools.grep(pattern, "").await;
            tool.push(begun.elapsed());
            let begun = Instant::now();
            ripgrep::search(folder, pattern);
            program.push(begun.elapsed());
        }
        let used = cpu::used().since(&before).divided_by(RUNS);
        let first = tool.first().copied().map_or(0.0, millis);
        let (tool, program) = (millis(median(tool)), millis(median(program)));
        let (tool_cpu, program_cpu) = (millis(used.own), millis(used.children));
        println!(
            "{pattern:<32} {first:>9.0} {tool:>9.0} {program:>9.0} {:>6.1} {tool_cpu:>12.0} {program_cpu:>10.0} {:>6.1}",
            tool / program,
            tool_cpu / program_cpu
        );
    }
}

/// Compares the numbers of matching lines and files. The files in Latin-1 and GBK are left out: `rg` does not decode them.
async fn compare_matches(tools: &DocumentTools, folder: &std::path::Path) {
    let (mut equal, mut cut, mut different) = (0, 0, Vec::new());
    for pattern in patterns::all() {
        let found = tools.grep(&pattern, tree::NOT_LEGACY).await;
        if found.is_cut {
            cut += 1;
        } else if (found.lines, found.files) == ripgrep::count(folder, &pattern) {
            equal += 1;
        } else {
            different.push(pattern);
        }
    }
    println!("patterns with the matches of rg: {equal}; cut at a limit: {cut}; different: {different:?}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
