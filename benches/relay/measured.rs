//! Measurements of one server in the rounds of a case.

use std::time::{Duration, Instant};

use tokio::time::interval;
use transport::Client;

use crate::Case;
use crate::load::{Seen, Way};
use process::Process;

/// Interval for sampling memory.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) struct Measured<'a> {
    server: &'a Process,
    pub(crate) seen: Seen,
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// Maximum growth of memory, in MiB.
    pub(crate) grown: f64,
    /// Number of concurrent answers.
    pub(crate) streams: u64,
}

impl<'a> Measured<'a> {
    pub(crate) fn new(server: &'a Process, streams: u64) -> Self {
        Self { server, streams, seen: Seen::default(), cpu: Duration::ZERO, wall: Duration::ZERO, grown: 0.0 }
    }

    /// Runs one round of a case.
    pub(crate) async fn round(&mut self, client: &Client, way: Way, case: &Case) {
        let (memory, cpu, begun) = (self.server.memory(), self.server.cpu(), Instant::now());
        let (seen, highest) = self.watched(case.run(client, self.server, way)).await;
        self.seen.add(seen);
        self.wall += begun.elapsed();
        self.cpu += self.server.cpu().saturating_sub(cpu);
        self.grown = self.grown.max(highest - memory);
    }

    /// Processor time per million tokens, in seconds.
    pub(crate) fn per_million(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.seen.words as f64
    }

    /// Runs a load; returns its measurements and the server's peak memory in MiB.
    async fn watched(&self, load: impl Future<Output = Seen>) -> (Seen, f64) {
        let (mut load, mut looks, mut highest) = (std::pin::pin!(load), interval(LOOK), 0.0_f64);
        loop {
            tokio::select! {
                seen = &mut load => return (seen, highest),
                _ = looks.tick() => highest = highest.max(self.server.memory()),
            }
        }
    }
}
