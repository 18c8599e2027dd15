//! Prints the measurements as a table: for every case one line per server.

use std::time::Duration;

use crate::load::Measurements;
use crate::measured::ServerMeasurements;

pub(crate) fn header() {
    println!(
        "{:<26} {:>9} {:>9} {:>12} {:>12} {:>12} {:>11} {:>11}",
        "", "words", "words/s", "added p50 ms", "added p99 ms", "1st word ms", "CPU s/M", "KiB/stream"
    );
}

/// Names of the measured servers, in the order of the lines.
const NAMES: [&str; 4] = ["bare relay", "bare relay, one thread", "product", "product and database"];

/// Prints the lines of a case; `direct` is the same load directly on the model.
pub(crate) fn case(name: &str, direct: &Measurements, all: &[ServerMeasurements<'_>; 4]) {
    println!("{name}");
    for (name, measured) in NAMES.iter().zip(all) {
        line(&format!("  {name}"), direct, measured);
    }
    let [relay, alone, product, whole] = all.each_ref().map(ServerMeasurements::per_million);
    println!("  to the relay: product {:.2} times, with its database {:.2} times", product / relay, whole / relay);
    println!("  to that of one thread: {:.2} and {:.2} times", product / alone, whole / alone);
}

/// Prints the fixed cost of an answer and the cost per token: two unknowns, solved from two cases.
pub(crate) fn cost_parts(short: &[ServerMeasurements<'_>; 4], long: &[ServerMeasurements<'_>; 4]) {
    println!("{:<26} {:>12} {:>12}", "", "ms/answer", "us/word");
    for (name, (short, long)) in NAMES.iter().zip(short.iter().zip(long)) {
        let tokens = |measured: &ServerMeasurements<'_>| measured.seen.tokens as f64;
        let answers = |measured: &ServerMeasurements<'_>| measured.seen.first_token_times.len() as f64;
        let seconds = |measured: &ServerMeasurements<'_>| measured.cpu.as_secs_f64();
        let share = answers(short) / answers(long);
        let token_seconds = (seconds(long) * share - seconds(short)) / (tokens(long) * share - tokens(short));
        let answer_seconds = (seconds(short) - tokens(short) * token_seconds) / answers(short);
        println!("  {name:<24} {:>12.2} {:>12.1}", answer_seconds * 1e3, token_seconds * 1e6);
    }
}

fn line(name: &str, direct: &Measurements, measured: &ServerMeasurements<'_>) {
    let seen = &measured.seen;
    let added = |part| (percentile(&seen.ages, part) - percentile(&direct.ages, part)) / 1000.0;
    let firsts: Vec<u64> = seen.first_token_times.iter().map(micros).collect();
    println!(
        "{name:<26} {:>9} {:>9.0} {:>12.2} {:>12.2} {:>12.2} {:>11.1} {:>11.0}",
        seen.tokens,
        seen.tokens as f64 / measured.wall.as_secs_f64(),
        added(0.5),
        added(0.99),
        percentile(&firsts, 0.5) / 1000.0,
        measured.per_million(),
        measured.max_growth_mib * 1024.0 / measured.streams as f64,
    );
}

fn micros(time: &Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the value below which this fraction of all values lies.
fn percentile(values: &[u64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let index = (sorted.len() as f64 * part) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default() as f64
}
