//! The processor time of inputs of doubled sizes.

use std::time::Duration;

use crate::Bench;
use crate::probe::{Kind, Probe};
use crate::report::Report;
use crate::server::TimedOut;

/// The sizes: the largest one and its halves, smallest first.
const HALVES: [usize; 4] = [8, 4, 2, 1];

/// Work that is less than this is not compared: it is lost among what the process does anyway.
const FLOOR: Duration = Duration::from_millis(40);

/// Work below which a measurement means nothing, in seconds.
const LITTLE: f64 = 0.004;

/// Work that doubles its growth with each doubling is quadratic; this is half way from linear.
const RATIO: f64 = 3.2;

/// How often work that seems to grow too fast is measured again; the least of each size counts.
const REPEATS: usize = 3;

/// Work for which a second measurement is not needed.
const ENOUGH: Duration = Duration::from_secs(3);

/// The largest input of the pattern that takes the most work.
pub(crate) struct Heaviest {
    pub(crate) pattern: String,
    pub(crate) probe: Probe,
    pub(crate) work: Duration,
    pub(crate) status: Option<u16>,
}

/// Measures each pattern of a kind; what is not answered in time ends the server, and another one goes on.
pub(crate) async fn measure(bench: &mut Bench, kind: &Kind, report: &mut Report) -> Option<Heaviest> {
    let mut heaviest: Option<Heaviest> = None;
    for pattern in &kind.patterns {
        let probes = HALVES.map(|part| (pattern.make)((kind.largest / part).max(1)));
        let Ok((work, status)) = work_of(bench, &probes).await else {
            report.timed_out(kind.name, &pattern.name);
            bench.server.restart(&bench.upstream, &bench.watcher).await;
            continue;
        };
        report.measured(kind.name, &pattern.name, &work, grows_too_fast(&work));
        let work = work[HALVES.len() - 1];
        if heaviest.as_ref().is_none_or(|known| known.work < work) {
            let [.., probe] = probes;
            heaviest = Some(Heaviest { pattern: pattern.name.clone(), probe, work, status });
        }
    }
    heaviest
}

/// The work of each size, smallest first; measured again where it seems to grow too fast.
async fn work_of(bench: &Bench, probes: &[Probe]) -> Result<(Vec<Duration>, Option<u16>), TimedOut> {
    let (mut least, mut status) = (vec![Duration::MAX; probes.len()], None);
    for _ in 0..REPEATS {
        for (probe, least) in probes.iter().zip(&mut least) {
            bench.upstream.play(&probe.plan);
            let before = bench.server.cpu();
            status = bench.server.send(probe).await?;
            *least = (*least).min(bench.server.cpu().saturating_sub(before));
        }
        if !grows_too_fast(&least) || least.iter().sum::<Duration>() > ENOUGH {
            break;
        }
    }
    Ok((least, status))
}

/// Whether two successive doublings of the size, or all three together, multiplied the work by more than linear work would.
pub(crate) fn grows_too_fast(work: &[Duration]) -> bool {
    let steps = work.windows(2).map(|pair| times(pair[0], pair[1]));
    let steep: Vec<bool> = steps.map(|times| times > RATIO).collect();
    let (Some(first), Some(last)) = (work.first(), work.last()) else { return false };
    let all_steep = times(*first, *last) > RATIO.powi(3);
    *last > FLOOR && (all_steep || steep.windows(2).any(|pair| pair[0] && pair[1]))
}

/// By how much work was multiplied; what is lost among other work counts as a little.
fn times(before: Duration, after: Duration) -> f64 {
    after.as_secs_f64() / before.as_secs_f64().max(LITTLE)
}
