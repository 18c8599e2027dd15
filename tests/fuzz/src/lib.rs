//! Random inputs for whatever reads bytes from outside, on stable Rust and without a build of its own.
//!
//! A test hands [`run`] its samples and a check. Inputs are samples with random changes; the check fails by a panic, by
//! an error that says what does not hold, or by taking too long for the size of its input. A failing input is made as small
//! as simple means allow, and printed with the seed that leads to it:
//!
//! - `FUZZ_SECONDS`: how long each target runs; a tenth of a second unless it is set.
//! - `FUZZ_SEED`: the number to begin with, to repeat a run; the time of day where `FUZZ_SECONDS` is set, else 1.
#![expect(clippy::panic, clippy::print_stdout, reason = "a failure ends the test with what it found")]

mod minimise;
mod mutation;
mod random;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use mutation::MAX_INPUT;
pub use random::{Random, cuts, text_cuts};

/// What a check says of an input: nothing, or which promise does not hold.
pub type Outcome = Result<(), String>;

/// The time that any input may take, and what is added for each byte, in a build that is not optimised.
const TIME: Duration = Duration::from_millis(500);
const TIME_PER_BYTE: Duration = Duration::from_micros(200);

/// Runs a check over changed samples for as long as `FUZZ_SECONDS` says; `words` are pieces that matter to the reader.
pub fn run(target: &str, samples: &[&[u8]], words: &[&str], check: impl Fn(&[u8]) -> Outcome) {
    let seed = seed();
    let (mut random, begun, mut inputs) = (Random::new(seed), Instant::now(), 0_u64);
    for sample in samples {
        judge(target, seed, sample, &check);
    }
    while begun.elapsed() < length() {
        judge(target, seed, &mutation::input(&mut random, samples, words), &check);
        inputs += 1;
    }
    println!("{target}: {inputs} inputs from seed {seed}");
}

/// The same for readers of text: what is not UTF-8 in an input is replaced before.
pub fn run_text(target: &str, samples: &[&str], words: &[&str], check: impl Fn(&str) -> Outcome) {
    let samples: Vec<&[u8]> = samples.iter().map(|sample| sample.as_bytes()).collect();
    run(target, &samples, words, |input| check(&String::from_utf8_lossy(input)));
}

/// An error unless the promise holds.
///
/// # Errors
/// What `say` says.
pub fn holds(promise: bool, say: impl FnOnce() -> String) -> Outcome {
    if promise { Ok(()) } else { Err(say()) }
}

fn judge(target: &str, seed: u64, input: &[u8], check: &impl Fn(&[u8]) -> Outcome) {
    let Err(first) = verdict(input, check) else { return };
    let small = minimise::smallest(input, |shorter| verdict(shorter, check).is_err());
    let reason = verdict(&small, check).err().unwrap_or(first);
    let reason: String = reason.chars().take(2_000).collect();
    panic!("{target}: {reason}\nseed {seed}, {} bytes: {}", small.len(), small.escape_ascii());
}

/// What a check says, with panics and slowness as errors.
fn verdict(input: &[u8], check: &impl Fn(&[u8]) -> Outcome) -> Outcome {
    let limit = TIME + TIME_PER_BYTE * u32::try_from(input.len()).unwrap_or(u32::MAX);
    let mut took = Duration::ZERO;
    // A machine that does other things delays one attempt, not three.
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

/// The processor time of this thread so far, where the system reports it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn length() -> Duration {
    seconds().unwrap_or(Duration::from_millis(100))
}

fn seconds() -> Option<Duration> {
    let seconds: f64 = std::env::var("FUZZ_SECONDS").ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn seed() -> u64 {
    if let Some(seed) = std::env::var("FUZZ_SEED").ok().and_then(|text| text.parse().ok()) {
        return seed;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    seconds().map_or(1, |_| now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(check: impl Fn(&[u8]) -> Outcome) -> String {
        let run = || run("target", &[b"a good sample"], &["bad"], check);
        message(&*catch_unwind(AssertUnwindSafe(run)).expect_err("the check fails"))
    }

    #[test]
    fn a_failing_input_is_told_smallest_with_its_seed() {
        let bad = |input: &[u8]| input.windows(3).any(|part| part == b"bad");
        let told = failure(|input| holds(!bad(input), || "it is bad".to_owned()));
        assert!(told.starts_with("target: it is bad\nseed ") && told.ends_with(", 3 bytes: bad"), "{told}");
    }

    #[test]
    fn a_panic_is_a_failure() {
        let told = failure(|input| {
            assert!(!input.windows(3).any(|part| part == b"bad"), "broken");
            Ok(())
        });
        assert!(told.contains("panicked: broken") && told.ends_with("bad"), "{told}");
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
