//! Fuzzing of parsers of external bytes, on stable Rust and without a separate build.
//!
//! A test passes samples and a check to [`run`]. Inputs are samples with random changes. The check fails by a panic, by an
//! error that describes the broken property, or by exceeding the time limit for the size of its input. A failing input is
//! minimised and printed with its seed:
//!
//! - `FUZZ_SECONDS`: run time of each target; default 0.1 s.
//! - `FUZZ_SEED`: seed for repeating a run; the current time if it is `random`; default 1.
#![expect(clippy::panic, clippy::print_stdout, reason = "a failure ends the test with what it found")]

mod minimise;
mod mutation;
mod random;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use mutation::MAX_INPUT_BYTES;
pub use random::{Random, split_bytes, split_text};

/// Result of a check: an error describes the broken property.
pub type Outcome = Result<(), String>;

/// Time limit of any input, and the addition per byte, in an unoptimised build.
const BASE_TIME_LIMIT: Duration = Duration::from_millis(500);
const TIME_LIMIT_PER_BYTE: Duration = Duration::from_micros(200);

/// Runs a check on changed samples for `FUZZ_SECONDS`; `tokens` are strings that are significant to the parser.
pub fn run(target: &str, samples: &[&[u8]], tokens: &[&str], check: impl Fn(&[u8]) -> Outcome) {
    let seed = seed();
    let (mut random, begun, mut inputs) = (Random::new(seed), Instant::now(), 0_u64);
    for sample in samples {
        check_input(target, seed, sample, &check);
    }
    while begun.elapsed() < run_time() {
        check_input(target, seed, &mutation::input(&mut random, samples, tokens), &check);
        inputs += 1;
    }
    println!("{target}: {inputs} inputs from seed {seed}");
}

/// Runs a check of a text parser; invalid UTF-8 in an input is replaced first.
pub fn run_text(target: &str, samples: &[&str], tokens: &[&str], check: impl Fn(&str) -> Outcome) {
    let samples: Vec<&[u8]> = samples.iter().map(|sample| sample.as_bytes()).collect();
    run(target, &samples, tokens, |input| check(&String::from_utf8_lossy(input)));
}

/// Returns an error unless the property holds.
///
/// # Errors
/// The text of `describe`.
pub fn ensure(property: bool, describe: impl FnOnce() -> String) -> Outcome {
    if property { Ok(()) } else { Err(describe()) }
}

fn check_input(target: &str, seed: u64, input: &[u8], check: &impl Fn(&[u8]) -> Outcome) {
    let Err(first) = run_check(input, check) else { return };
    let small = minimise::minimise(input, |shorter| run_check(shorter, check).is_err());
    let reason = run_check(&small, check).err().unwrap_or(first);
    let reason: String = reason.chars().take(2_000).collect();
    panic!("{target}: {reason}\nseed {seed}, {} bytes: {}", small.len(), small.escape_ascii());
}

/// Runs a check; panics and exceeded time limits are errors.
fn run_check(input: &[u8], check: &impl Fn(&[u8]) -> Outcome) -> Outcome {
    let limit = BASE_TIME_LIMIT + TIME_LIMIT_PER_BYTE * u32::try_from(input.len()).unwrap_or(u32::MAX);
    let mut took = Duration::ZERO;
    // A busy machine may delay one attempt, but not three.
    for _ in 0..3 {
        let (begun, worked) = (Instant::now(), processor_time());
        let outcome = catch_unwind(AssertUnwindSafe(|| check(input)));
        let work = worked.zip(processor_time()).map(|(before, after)| after.saturating_sub(before));
        took = work.unwrap_or_else(|| begun.elapsed());
        outcome.unwrap_or_else(|cause| Err(format!("panicked: {}", message(&*cause))))?;
        if took <= limit {
            return Ok(());
        }
    }
    Err(format!("took {took:?} for {} bytes", input.len()))
}

/// Processor time of this thread so far, if the system reports it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn run_time() -> Duration {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(Duration::from_millis(100))
}

fn seed() -> u64 {
    let Ok(text) = std::env::var("FUZZ_SEED") else { return 1 };
    if text != "random" {
        return text.parse().unwrap_or_else(|_| panic!("FUZZ_SEED must be a number or `random`, not {text:?}"));
    }
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(check: impl Fn(&[u8]) -> Outcome) -> String {
        let run = || run("target", &[b"a good sample"], &["bad"], check);
        message(&*catch_unwind(AssertUnwindSafe(run)).expect_err("the check fails"))
    }

    #[test]
    fn failure_reports_minimised_input_and_seed() {
        let bad = |input: &[u8]| input.windows(3).any(|part| part == b"bad");
        let failure_text = failure(|input| ensure(!bad(input), || "it is bad".to_owned()));
        assert!(
            failure_text.starts_with("target: it is bad\nseed ") && failure_text.ends_with(", 3 bytes: bad"),
            "{failure_text}"
        );
    }

    #[test]
    fn a_panic_is_a_failure() {
        let failure_text = failure(|input| {
            assert!(!input.windows(3).any(|part| part == b"bad"), "broken");
            Ok(())
        });
        assert!(failure_text.contains("panicked: broken") && failure_text.ends_with("bad"), "{failure_text}");
    }

    #[test]
    fn equal_seeds_give_equal_inputs() {
        let inputs = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| mutation::input(&mut random, &[b"one", b"two"], &["three"])).collect::<Vec<_>>()
        };
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
    }
}
