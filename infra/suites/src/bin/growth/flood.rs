//! Concurrent largest inputs, while another user's stream runs.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::Bench;
use crate::growth::Heaviest;

/// Number of concurrent connections.
const CONNECTIONS: usize = 4;

/// How long each connection keeps sending inputs.
const LENGTH: Duration = Duration::from_secs(1);

/// Effect of a flood on the other user.
pub(crate) struct Silence {
    /// The longest delay of a delta.
    pub(crate) longest: Duration,
    /// Number of inputs that were answered meanwhile.
    pub(crate) inputs: usize,
}

/// Floods the product with the heaviest input of a kind.
pub(crate) async fn measure(bench: &Bench, heaviest: &Heaviest) -> Silence {
    bench.upstream.play(&heaviest.probe.plan);
    let watch = bench.watcher.watch(&bench.server.url).await;
    let begun = Instant::now();
    let connections = (0..CONNECTIONS).map(async |_| {
        let mut inputs = 0;
        while begun.elapsed() < LENGTH && bench.server.send(&heaviest.probe).await.is_ok() {
            inputs += 1;
        }
        inputs
    });
    let inputs = join_all(connections).await.into_iter().sum();
    Silence { longest: watch.end().await, inputs }
}
