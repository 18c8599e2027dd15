//! The table of a run, and its failures.

use std::time::Duration;

use crate::flood::FloodResult;
use crate::growth::HeaviestInput;
use crate::pipelining::{KIND, PipeliningResult};
use crate::probe::Kind;

/// Target for the longest delay of another user.
pub(crate) const TARGET_DELAY: Duration = Duration::from_millis(250);

/// The results so far.
#[derive(Default)]
pub(crate) struct Report {
    faults: Vec<String>,
    rows: Vec<String>,
}

impl Report {
    /// Adds the work of a pattern's sizes.
    pub(crate) fn add_work(&mut self, kind: &str, pattern: &str, work: &[Duration], too_fast: bool) {
        let work: Vec<String> = work.iter().map(|work| format!("{:.0}", millis(*work))).collect();
        let line = format!("{kind:<22} {pattern:<22} {:>30} ms", work.join(" → "));
        if too_fast {
            self.faults.push(format!("work grows faster than size: {line}"));
        }
        if too_fast || std::env::var("GROWTH_VERBOSE").is_ok() {
            println!("  {line}{}", if too_fast { "  TOO FAST" } else { "" });
        }
    }

    /// Adds an input that timed out.
    pub(crate) fn add_timeout(&mut self, kind: &str, pattern: &str) {
        println!("  {kind:<22} {pattern:<22} not answered in time");
        self.faults.push(format!("not answered in time: {kind} {pattern}"));
    }

    /// Adds the result of a flood with the heaviest input of a kind.
    pub(crate) fn add_flood(&mut self, kind: &Kind, heaviest: &HeaviestInput, flood_result: &FloodResult) {
        let over = if flood_result.longest_delay > TARGET_DELAY { "  over the aim" } else { "" };
        let status = heaviest.status.map_or("-".to_owned(), |status| status.to_string());
        let row = format!(
            "{:<24} {:>8} {:<20} {status:>4} {:>8.0} {:>7} {:>9.0}{over}",
            kind.name,
            kind.largest,
            heaviest.pattern,
            millis(heaviest.work),
            flood_result.answered_inputs,
            millis(flood_result.longest_delay),
        );
        println!("  {row}");
        if flood_result.longest_delay > kind.max_delay() {
            self.faults.push(format!(
                "another user waits for {:.0} ms: {}",
                millis(flood_result.longest_delay),
                row.trim()
            ));
        }
        self.rows.push(row);
    }

    /// Adds the result of pipelined requests.
    pub(crate) fn add_pipelining(
        &mut self,
        (path, headers): (&str, &str),
        connections: usize,
        result: &PipeliningResult,
    ) {
        let coding = if headers.is_empty() { "" } else { ", gzip" };
        let row = format!(
            "{KIND}, {path}{coding}, {connections} connections: {} MB, wait {:.0} ms in a stream, {:.0} ms for a request",
            result.megabytes,
            millis(result.stream_delay),
            millis(result.request_time),
        );
        println!("  {row}");
        if result.longest_wait() >= TARGET_DELAY {
            self.faults.push(format!("another user waits for {} ms or more: {row}", TARGET_DELAY.as_millis()));
        }
    }

    /// Prints the table and the faults; returns false if there are any.
    pub(crate) fn conclude(&self) -> bool {
        println!(
            "\n  {:<24} {:>8} {:<20} {:>4} {:>8} {:>7} {:>9}",
            "kind", "largest", "heaviest", "HTTP", "CPU ms", "inputs", "wait ms"
        );
        for row in &self.rows {
            println!("  {row}");
        }
        println!(
            "\n  the aim is a wait of at most {} ms for other users; {} kinds were flooded",
            TARGET_DELAY.as_millis(),
            self.rows.len()
        );
        for fault in &self.faults {
            println!("  FAULT {fault}");
        }
        self.faults.is_empty()
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
