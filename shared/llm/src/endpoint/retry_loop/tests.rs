use std::collections::VecDeque;

use super::*;
use crate::endpoint::retry_policy::MAX_ATTEMPTS;
use crate::errors::CompatFix;

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn millis(&mut self, limit: u64) -> Duration {
        Duration::from_millis(self.below(limit))
    }

    /// Returns duration and outcome of one attempt.
    fn step(&mut self) -> (Duration, Result<(), AttemptError>) {
        let error = match self.below(3) {
            0 => ModelError::Unavailable,
            1 => ModelError::Stalled,
            _ => ModelError::Disconnected,
        };
        let again = match self.below(8) {
            0 => RetryAdvice::Never,
            1 => RetryAdvice::NewKey,
            2 => RetryAdvice::ApplyFix(CompatFix::EchoReasoning),
            3 | 4 => RetryAdvice::NewConnection,
            _ => RetryAdvice::Later,
        };
        let retry_after = (self.below(3) == 0).then(|| self.millis(30_000));
        let fault = AttemptError { advice: again, retry_after, ..AttemptError::fatal(error) };
        (self.millis(20_000), if self.below(6) == 0 { Ok(()) } else { Err(fault) })
    }
}

/// Plays scripted attempts and records the behaviour of the loop.
struct Script {
    steps: VecDeque<(Duration, Result<(), AttemptError>)>,
    random: Random,
    deadline: Instant,
    attempts: Vec<Attempt>,
    /// When the last attempt ended.
    idle_since: Instant,
    waited: Vec<Duration>,
    last: Option<Result<(), ModelError>>,
}

impl Script {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let deadline = Instant::now() + random.millis(120_000);
        let steps = (0..12).map(|_| random.step()).collect();
        let (attempts, waited, idle_since) = (Vec::new(), Vec::new(), Instant::now());
        Self { steps, random, deadline, attempts, idle_since, waited, last: None }
    }
}

impl Retryable for Script {
    type Output = ();

    async fn attempt(&mut self, attempt: Attempt) -> Result<(), AttemptError> {
        self.attempts.push(attempt);
        self.waited.push(self.idle_since.elapsed());
        let (takes, outcome) = self.steps.pop_front().unwrap();
        let over = Instant::now() + takes;
        tokio::time::sleep_until(over.min(self.deadline)).await;
        let outcome = if over < self.deadline { outcome } else { Err(AttemptError::fatal(ModelError::Deadline)) };
        self.last = Some(outcome.clone().map_err(|fault| fault.error));
        self.idle_since = Instant::now();
        outcome
    }

    fn jitter(&mut self) -> f64 {
        f64::from(u32::try_from(self.random.below(1001)).unwrap()) / 1000.0
    }
}

#[tokio::test(start_paused = true)]
async fn f004_ten_thousand_scripts_respect_deadline_and_attempt_limit() {
    let mut seen = [0; 3];
    for seed in 0..10_000 {
        let mut script = Script::new(seed);
        let (begun, deadline, policy) =
            (Instant::now(), script.deadline, RetryPolicy::new(seed % 2 == 0, seed % 7 == 0));
        let outcome = retry(&mut script, policy, deadline, None).await;
        let replaced = script.attempts.iter().filter(|attempt| attempt.new_connection).count();
        let counted = script.attempts.len() - replaced;
        // The timer has a resolution of one millisecond.
        assert!(Instant::now() <= deadline + Duration::from_millis(1), "seed {seed}");
        assert!(script.waited.iter().sum::<Duration>() <= deadline - begun, "seed {seed}");
        assert!(counted <= MAX_ATTEMPTS as usize && replaced <= 1, "seed {seed}: {:?}", script.attempts);
        assert_eq!(script.attempts.last().map_or(0, |attempt| attempt.number) as usize, counted, "seed {seed}");
        // A wait may end at the deadline.
        let over = outcome == Err(ModelError::Deadline) && Instant::now() >= deadline;
        assert!(over || Some(&outcome) == script.last.as_ref(), "seed {seed}: {outcome:?}");
        let longest = Duration::from_secs(if seed % 2 == 0 { 2 } else { 20 });
        assert!(script.waited.iter().all(|wait| *wait <= longest + Duration::from_millis(1)), "seed {seed}");
        seen[counted.saturating_sub(1)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "the scripts differ: {seen:?}");
}

#[tokio::test(start_paused = true)]
async fn f012_dead_connection_is_replaced_once_then_counted() {
    let dead = AttemptError { advice: RetryAdvice::NewConnection, ..AttemptError::transient(ModelError::Disconnected) };
    let mut script = Script::new(0);
    script.deadline = Instant::now() + Duration::from_mins(1);
    script.steps = std::iter::repeat_n((Duration::ZERO, Err(dead)), 9).collect();
    let deadline = script.deadline;
    assert_eq!(retry(&mut script, RetryPolicy::new(false, false), deadline, None).await, Err(ModelError::Disconnected));
    let made: Vec<_> = script.attempts.iter().map(|attempt| (attempt.number, attempt.new_connection)).collect();
    assert_eq!(made, [(1, false), (1, true), (2, false), (3, false)]);
    assert_eq!(script.waited[..2], [Duration::ZERO; 2]);
}
