//! Measures the work of each kind of input: it may not grow faster than the size, and another user's stream must continue.
//!
//! `SERVER` names the binary of the local server; `infra/suites/growth` builds it. Arguments limit the run to kinds
//! whose names contain one of them. `GROWTH_PATTERNS=all` uses every pattern for the largest inputs, too.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a suite ends with the first expectation that does not hold, and says what it does"
)]

mod arguments;
mod articles;
mod catalog;
mod flood;
mod growth;
mod patterns;
mod pipelining;
mod probe;
mod replies;
mod report;
mod requests;
mod server;
mod upstream;
mod watcher;

use report::Report;
use server::Server;
use upstream::Upstream;
use watcher::Watcher;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let outcome = runtime.expect("threads can be made").block_on(run());
    std::process::exit(i32::from(!outcome));
}

/// The product and its environment.
struct Bench {
    server: Server,
    upstream: Upstream,
    watcher: Watcher,
}

/// Measures every kind; returns false when one fails.
async fn run() -> bool {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    let (upstream, watcher) = (Upstream::start(), Watcher::start());
    let server = Server::start(&upstream, &watcher).await;
    let (mut bench, mut report) = (Bench { server, upstream, watcher }, Report::default());
    let kinds = [catalog::kinds(), articles::kinds(), arguments::kinds()];
    for kind in kinds.into_iter().flatten() {
        if !filters.is_empty() && !filters.iter().any(|name| kind.name.contains(name.as_str())) {
            continue;
        }
        if let Some(heaviest) = growth::measure(&mut bench, &kind, &mut report).await {
            let flood_result = flood::measure(&bench, &kind, &heaviest).await;
            report.add_flood(&kind, &heaviest, &flood_result);
        }
    }
    if filters.is_empty() || filters.iter().any(|name| pipelining::KIND.contains(name.as_str())) {
        for route in pipelining::ROUTES {
            for connections in pipelining::CONNECTIONS {
                let result = pipelining::measure(&bench, route, connections).await;
                report.add_pipelining(route, connections, &result);
            }
        }
    }
    report.conclude()
}
