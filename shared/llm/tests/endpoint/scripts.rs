//! Endpoints with random sequences of failures.

use llm::{Delta, ModelError};
use tokio::time::{Duration, Instant};

use crate::server::{Answer, Server, Step, hello_prompt, read_reply};

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn answer(&mut self) -> Answer {
        let wait = self.below(30).to_string();
        let data = r#"{"error":{"code":"ServerOverloaded"}}"#;
        match self.below(16) {
            0 | 1 => Answer::new(429, &[("retry-after", &wait)], "{}"),
            2 => Answer::new(429, &[], ""),
            3 => Answer::new(503, &[("retry-after", &wait)], ""),
            4 => Answer::json(500, r#"{"error":{"message":"x"}}"#),
            5 => Answer::default().step(Step::Stall),
            6 => Answer::default().step(Step::Reset),
            7 => Answer::default().step(Step::Close),
            8 => Answer::stream().step(Step::Stall),
            9 => Answer::stream().bytes(b": wait\n\n").step(Step::Close),
            10 => Answer::stream().data(data).end(),
            11 => Answer::stream().text("half").step(Step::Stall),
            12 => Answer::stream().text("half").step(Step::Reset),
            13 => Answer::json(401, "{}"),
            14 => Answer::new(200, &[("content-type", "text/html")], "<p>"),
            _ => Answer::hello(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn random_failures_respect_deadline_and_attempt_limit() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let server = Server::start((0..8).map(|_| random.answer()).collect::<Vec<_>>()).await;
        let client = server.client(&[]);
        let begun = Instant::now();
        let deadline = begun + Duration::from_millis(1000 + random.below(120_000));
        let (deltas, error) = read_reply(&client, &hello_prompt(), deadline).await;
        let over = Instant::now().saturating_duration_since(deadline);
        assert!(over <= Duration::from_millis(2), "seed {seed}: {over:?} past the deadline");
        assert!((1..=3).contains(&server.requests().len()), "seed {seed}: {} requests", server.requests().len());
        let finished = matches!(deltas.last(), Some(Delta::Finish(_)));
        assert_ne!(finished, error.is_some(), "seed {seed}: {deltas:?} {error:?}");
        assert!(!matches!(error, Some(ModelError::Rejected)), "seed {seed}");
    }
}
