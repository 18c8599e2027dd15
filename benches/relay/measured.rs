//! Measurements of one server in the rounds of a case.

use std::time::{Duration, Instant};

use platform::transport::Client;
use tokio::time::interval;

use crate::Case;
use crate::load::{Measurements, RequestFormat};
use process::Process;

/// Interval for sampling memory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct ServerMeasurements<'a> {
    server: &'a Process,
    pub(crate) seen: Measurements,
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// Maximum growth of memory, in MiB.
    pub(crate) max_growth_mib: f64,
    /// Number of concurrent answers.
    pub(crate) streams: u64,
}

impl<'a> ServerMeasurements<'a> {
    pub(crate) fn new(server: &'a Process, streams: u64) -> Self {
        Self {
            server,
            streams,
            seen: Measurements::default(),
            cpu: Duration::ZERO,
            wall: Duration::ZERO,
            max_growth_mib: 0.0,
        }
    }

    /// Runs one round of a case.
    pub(crate) async fn round(&mut self, client: &Client, way: RequestFormat, case: &Case) {
        let (memory, cpu, begun) = (self.server.memory_mib(), self.server.cpu_time(), Instant::now());
        let (seen, highest) = self.run_with_peak_memory(case.run(client, self.server, way)).await;
        self.seen.add(seen);
        self.wall += begun.elapsed();
        self.cpu += self.server.cpu_time().saturating_sub(cpu);
        self.max_growth_mib = self.max_growth_mib.max(highest - memory);
    }

    /// Processor time per million tokens, in seconds.
    pub(crate) fn per_million(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.seen.tokens as f64
    }

    /// Runs a load; returns its measurements and the server's peak memory in MiB.
    async fn run_with_peak_memory(&self, load: impl Future<Output = Measurements>) -> (Measurements, f64) {
        let (mut load, mut samples, mut highest) = (std::pin::pin!(load), interval(SAMPLE_INTERVAL), 0.0_f64);
        loop {
            tokio::select! {
                seen = &mut load => return (seen, highest),
                _ = samples.tick() => highest = highest.max(self.server.memory_mib()),
            }
        }
    }
}
