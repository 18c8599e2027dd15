//! How fast replies are scanned: MB/s in pieces of 8 bytes, and the longest time that one piece took.
//!
//! `cargo bench -p calls`. Times are of this process alone; run it on an idle machine.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::time::{Duration, Instant};

use calls::{CallScanner, End, Piece};
use conversation::ToolSpec;
use serde_json::json;

const PIECE: usize = 8;
const BYTES: usize = 1 << 20;
/// Each text is scanned this often; the fastest run counts, for the others were disturbed.
const RUNS: usize = 15;

fn main() {
    println!("{:<28} {:>10} {:>16}", "text", "MB/s", "longest piece");
    for (name, text) in texts() {
        let pieces = pieces(&text);
        let (total, longest) = (0..RUNS).map(|_| scan(&pieces)).fold((Duration::MAX, Duration::MAX), least);
        println!("{name:<28} {:>10.1} {:>13.1} µs", megabytes(text.len()) / total.as_secs_f64(), micros(longest));
    }
}

/// One text per kind of load.
fn texts() -> Vec<(&'static str, String)> {
    let filler = "x".repeat(BYTES);
    let code = "fn main() {\\n    println!(\\\"<tool_call>\\\");\\n}\\n".repeat(BYTES / 48);
    vec![
        ("plain text, English", fill("The quick brown fox jumps over the lazy dog, again and again.\n")),
        ("plain text, Chinese", fill("根据搜索结果，今天北京天气晴，气温二十五度，适合外出。\n")),
        (
            "Markdown with code",
            fill("- a `b` *c*\n\n```rust\nlet x = vec![1];\n```\n\n1. See [this](https://x.example).\n"),
        ),
        ("full of < and {", fill("a < b { c <d> } <t{ <to <tool {\n{<{ x\n")),
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

const FUNCTION: &str = "<seed:tool_call><function name=\"search_web\"><parameter name=\"query\" string=\"true\">weather in \
                        Beijing</parameter></function></seed:tool_call>\n";

fn fill(line: &str) -> String {
    line.repeat(BYTES / line.len())
}

/// The text in pieces of about [`PIECE`] bytes that do not cut a character.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(PIECE));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// The time for the whole text, and the longest time for a piece (the least of all runs is free of disturbances).
fn scan(pieces: &[&str]) -> (Duration, Duration) {
    let mut scanner = CallScanner::new(&[tool()]);
    let mut out: Vec<Piece> = Vec::new();
    let begun = Instant::now();
    for piece in pieces {
        out.clear();
        scanner.push_into(piece, &mut out);
    }
    out.extend(scanner.finish(End::Complete));
    let total = begun.elapsed();
    (total, longest(pieces))
}

fn longest(pieces: &[&str]) -> Duration {
    let mut scanner = CallScanner::new(&[tool()]);
    let mut out: Vec<Piece> = Vec::new();
    let time = |piece: &&str| {
        out.clear();
        let begun = Instant::now();
        scanner.push_into(piece, &mut out);
        begun.elapsed()
    };
    pieces.iter().map(time).max().unwrap_or_default()
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: "search_web".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
        examples: Vec::new(),
    }
}

fn least(a: (Duration, Duration), b: (Duration, Duration)) -> (Duration, Duration) {
    (a.0.min(b.0), a.1.min(b.1))
}

#[expect(clippy::cast_precision_loss, reason = "lengths of a few MB are exact as floats")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
