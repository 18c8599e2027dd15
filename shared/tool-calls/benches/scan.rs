//! Measures the scan rate of replies: MB/s in chunks of 8 bytes, and the longest time for one chunk.
//!
//! Run `cargo bench -p tool-calls` on an idle machine; times are of this process alone. An argument selects the texts whose
//! names contain it.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::time::{Duration, Instant};

use domain::ToolSpec;
use serde_json::json;
use tool_calls::{CallScanner, ReplyPart, Segment, ThinkingFilter};

const CHUNK_BYTES: usize = 8;
const BYTES: usize = 1 << 20;
/// The number of scans of each text. The fastest run counts, because others were disturbed.
const RUNS: usize = 15;

/// Receives a reply chunk by chunk.
type Push = Box<dyn FnMut(&str)>;

fn main() {
    let selected = std::env::args().nth(1).filter(|argument| !argument.starts_with("--")).unwrap_or_default();
    println!("{:<28} {:>10} {:>16}", "text", "MB/s", "longest piece");
    let scanned = texts().into_iter().map(|(name, text)| (name, text, scanner as fn() -> Push));
    let filtered = ("English, the filter first", fill(ENGLISH), filter_and_scanner as fn() -> Push);
    for (name, text, push) in scanned.chain([filtered]).filter(|(name, ..)| name.contains(&selected)) {
        report(name, &text, push);
    }
}

fn report(name: &str, text: &str, push: fn() -> Push) {
    let chunks = split_chunks(text);
    let total = (0..RUNS).map(|_| measure_total(&chunks, push)).min().unwrap_or_default();
    let longest = measure_longest_chunk(&chunks, push);
    println!("{name:<28} {:>10.1} {:>13.1} µs", megabytes(text.len()) / total.as_secs_f64(), micros(longest));
}

/// One text per kind of load.
fn texts() -> Vec<(&'static str, String)> {
    let filler = "x".repeat(BYTES);
    let code = "fn main() {\\n    println!(\\\"<tool_call>\\\");\\n}\\n".repeat(BYTES / 48);
    vec![
        ("plain text, English", fill(ENGLISH)),
        ("plain text, Chinese", fill("根据搜索结果，今天北京天气晴，气温二十五度，适合外出。\n")),
        (
            "Markdown with code",
            fill("- a `b` *c*\n\n```rust\nlet x = vec![1];\n```\n\n1. See [this](https://x.example).\n"),
        ),
        ("full of < and {", fill("a < b { c <d> } <t{ <to <tool {\n{<{ x\n")),
        (
            "markers that open nothing",
            fill("<tool_call>\n<tool name=\"f\" <function=f> {\n{\"query\": <|python_tag|>[TOOL_CALLS] f\n"),
        ),
        ("many calls", fill("<tool_call>{\"tool\": \"search_web\", \"query\": \"weather in Beijing\"}</tool_call>\n")),
        ("many functions", fill(FUNCTION)),
        (
            "one argument of 1 MB",
            format!("<tool_call>{{\"tool\": \"search_web\", \"query\": \"{filler}\"}}</tool_call>"),
        ),
        (
            "the same full of escapes",
            format!("<tool_call>{{\"tool\": \"search_web\", \"query\": \"{code}\"}}</tool_call>"),
        ),
        (
            "the same as a parameter",
            format!("<tool_call><function=f><parameter=q>{filler}</parameter></function></tool_call>"),
        ),
    ]
}

const ENGLISH: &str = "The quick brown fox jumps over the lazy dog, again and again.\n";
const FUNCTION: &str = "<seed:tool_call><function name=\"search_web\"><parameter name=\"query\" string=\"true\">weather in \
                        Beijing</parameter></function></seed:tool_call>\n";

fn fill(line: &str) -> String {
    line.repeat(BYTES / line.len())
}

/// Splits the text into chunks of about [`CHUNK_BYTES`] that do not cut a character.
fn split_chunks(text: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, remainder) = rest.split_at(rest.ceil_char_boundary(CHUNK_BYTES));
        chunks.push(chunk);
        rest = remainder;
    }
    chunks
}

/// Measures the whole text.
fn measure_total(chunks: &[&str], make: fn() -> Push) -> Duration {
    let mut push = make();
    let start = Instant::now();
    for piece in chunks {
        push(piece);
    }
    start.elapsed()
}

/// Measures the slowest chunk; the fastest run of each chunk counts.
fn measure_longest_chunk(chunks: &[&str], make: fn() -> Push) -> Duration {
    let mut times = vec![Duration::MAX; chunks.len()];
    for _ in 0..RUNS {
        let mut push = make();
        for (piece, time) in chunks.iter().zip(&mut times) {
            let start = Instant::now();
            push(piece);
            *time = start.elapsed().min(*time);
        }
    }
    times.into_iter().max().unwrap_or_default()
}

fn scanner() -> Push {
    let mut scanner = CallScanner::new(&[tool()]);
    let mut out: Vec<Segment> = Vec::new();
    Box::new(move |piece| {
        out.clear();
        scanner.push_into(piece, &mut out);
    })
}

/// As in production: the filter removes reasoning first.
fn filter_and_scanner() -> Push {
    let mut scanner = CallScanner::new(&[tool()]);
    let mut filter = ThinkingFilter::default().with_calls_of(&scanner);
    let mut out: Vec<Segment> = Vec::new();
    Box::new(move |piece| {
        out.clear();
        for part in filter.push(piece) {
            if let ReplyPart::Text(text) = part {
                scanner.push_into(&text, &mut out);
            }
        }
    })
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: "search_web".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
        examples: Vec::new(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of a few MB are exact as floats")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
