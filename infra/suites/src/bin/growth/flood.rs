//! Concurrent largest inputs, while another user's stream runs.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::Bench;
use crate::growth::HeaviestInput;
use crate::probe::Kind;

/// Number of concurrent connections.
const CONNECTIONS: usize = 4;

/// How long each connection keeps sending inputs.
const FLOOD_TIME: Duration = Duration::from_secs(1);

/// Effect of a flood on the other user.
pub(crate) struct FloodResult {
    /// The longest delay of a delta.
    pub(crate) longest_delay: Duration,
    /// Number of inputs that were answered meanwhile.
    pub(crate) answered_inputs: usize,
}

/// Number of floods while the delay is too long; the shortest counts, because other processes of the machine delay too.
pub(crate) const MAX_FLOODS: usize = 5;

/// Floods the product with the heaviest input of a kind.
pub(crate) async fn measure(bench: &Bench, kind: &Kind, heaviest: &HeaviestInput) -> FloodResult {
    let mut least = flood(bench, heaviest).await;
    for _ in 1..MAX_FLOODS {
        if least.longest_delay > kind.max_delay() {
            let other = flood(bench, heaviest).await;
            least = if other.longest_delay < least.longest_delay { other } else { least };
        }
    }
    least
}

async fn flood(bench: &Bench, heaviest: &HeaviestInput) -> FloodResult {
    bench.upstream.set_plan(&heaviest.probe.plan);
    let watch = bench.watcher.watch(&bench.server.url).await;
    let begun = Instant::now();
    let connections = (0..CONNECTIONS).map(async |_| {
        let mut answered_inputs = 0;
        while begun.elapsed() < FLOOD_TIME && bench.server.send(&heaviest.probe).await.is_ok() {
            answered_inputs += 1;
        }
        answered_inputs
    });
    let answered_inputs = join_all(connections).await.into_iter().sum();
    FloodResult { longest_delay: watch.end().await, answered_inputs }
}
