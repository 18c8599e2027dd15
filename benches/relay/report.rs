//! The figures as a table: a line for the relay and one for the product under every case.

use std::time::Duration;

use crate::load::Seen;
use crate::measured::Measured;

pub(crate) fn header() {
    println!(
        "{:<22} {:>9} {:>9} {:>12} {:>12} {:>12} {:>11} {:>11}",
        "", "words", "words/s", "added p50 ms", "added p99 ms", "1st word ms", "CPU s/M", "KiB/stream"
    );
}

/// `direct` is the same load without anything between.
pub(crate) fn case(name: &str, direct: &Seen, relay: &Measured<'_>, product: &Measured<'_>) {
    println!("{name}");
    line("  bare relay", direct, relay);
    line("  product", direct, product);
    println!("{:<22} {:>70.2} times", "  product to relay", product.per_million() / relay.per_million());
}

fn line(name: &str, direct: &Seen, measured: &Measured<'_>) {
    let seen = &measured.seen;
    let added = |part| (percentile(&seen.ages, part) - percentile(&direct.ages, part)) / 1000.0;
    let firsts: Vec<u64> = seen.firsts.iter().map(micros).collect();
    println!(
        "{name:<22} {:>9} {:>9.0} {:>12.2} {:>12.2} {:>12.2} {:>11.1} {:>11.0}",
        seen.words,
        seen.words as f64 / measured.wall.as_secs_f64(),
        added(0.5),
        added(0.99),
        percentile(&firsts, 0.5) / 1000.0,
        measured.per_million(),
        measured.grown * 1024.0 / measured.streams as f64,
    );
}

fn micros(time: &Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The value below which this part of all values lies.
fn percentile(values: &[u64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let place = (sorted.len() as f64 * part) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default() as f64
}
