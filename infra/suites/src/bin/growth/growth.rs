//! Measures the processor time of inputs of doubling sizes.

use std::time::Duration;

use crate::Bench;
use crate::probe::{Kind, Probe};
use crate::report::Report;
use crate::server::RequestTimeout;

/// Divisors of the largest size, smallest size first.
const SIZE_DIVISORS: [usize; 4] = [8, 4, 2, 1];

/// Work below this is not compared, because the process's other work hides it.
const MIN_COMPARED_WORK: Duration = Duration::from_millis(40);

/// Work below which a measurement is noise, in seconds.
const NOISE_SECONDS: f64 = 0.004;

/// Limit of the growth of work per doubling of the size: linear is 2, quadratic is 4.
const MAX_GROWTH_RATIO: f64 = 3.2;

/// Number of measurements of work that seems to grow too fast; the least of each size counts.
const MAX_REPEATS: usize = 3;

/// Work above which no second measurement is needed.
const NO_REPEAT_WORK: Duration = Duration::from_secs(3);

/// The largest input of the pattern with the highest work.
pub(crate) struct HeaviestInput {
    pub(crate) pattern: String,
    pub(crate) probe: Probe,
    pub(crate) work: Duration,
    pub(crate) status: Option<u16>,
}

/// Measures each pattern of a kind; after a timeout the server is restarted.
pub(crate) async fn measure(bench: &mut Bench, kind: &Kind, report: &mut Report) -> Option<HeaviestInput> {
    let mut heaviest: Option<HeaviestInput> = None;
    for pattern in &kind.patterns {
        let probes = SIZE_DIVISORS.map(|part| (pattern.make)((kind.largest / part).max(1)));
        let Ok((work, status)) = measure_work(bench, &probes).await else {
            report.add_timeout(kind.name, &pattern.name);
            bench.server.restart(&bench.upstream, &bench.watcher).await;
            continue;
        };
        report.add_work(kind.name, &pattern.name, &work, grows_too_fast(&work));
        let work = work[SIZE_DIVISORS.len() - 1];
        if heaviest.as_ref().is_none_or(|known| known.work < work) {
            let [.., probe] = probes;
            heaviest = Some(HeaviestInput { pattern: pattern.name.clone(), probe, work, status });
        }
    }
    heaviest
}

/// Measures the work of each size, smallest first; repeats if it seems to grow too fast. If the largest size takes no more than
/// [`MIN_COMPARED_WORK`], the others are not measured, because nothing would be compared.
async fn measure_work(bench: &Bench, probes: &[Probe]) -> Result<(Vec<Duration>, Option<u16>), RequestTimeout> {
    let Some((largest, _)) = probes.split_last() else { return Ok((Vec::new(), None)) };
    let (work, mut status) = measure_once(bench, largest).await?;
    let mut least = vec![work; probes.len()];
    if work <= MIN_COMPARED_WORK {
        return Ok((least, status));
    }
    least = vec![Duration::MAX; probes.len()];
    for _ in 0..MAX_REPEATS {
        for (probe, least) in probes.iter().zip(&mut least) {
            let work;
            (work, status) = measure_once(bench, probe).await?;
            *least = (*least).min(work);
        }
        if !grows_too_fast(&least) || least.iter().sum::<Duration>() > NO_REPEAT_WORK {
            break;
        }
    }
    Ok((least, status))
}

/// Sends an input; returns the work of the process meanwhile, and the status.
async fn measure_once(bench: &Bench, probe: &Probe) -> Result<(Duration, Option<u16>), RequestTimeout> {
    bench.upstream.set_plan(&probe.plan);
    let before = bench.server.cpu();
    let status = bench.server.send(probe).await?;
    Ok((bench.server.cpu().saturating_sub(before), status))
}

/// Whether two successive doublings of the size, or all three together, multiplied the work by more than [`MAX_GROWTH_RATIO`] each.
pub(crate) fn grows_too_fast(work: &[Duration]) -> bool {
    let steps = work.windows(2).map(|pair| growth_factor(pair[0], pair[1]));
    let steep: Vec<bool> = steps.map(|times| times > MAX_GROWTH_RATIO).collect();
    let (Some(first), Some(last)) = (work.first(), work.last()) else { return false };
    let all_steep = growth_factor(*first, *last) > MAX_GROWTH_RATIO.powi(3);
    *last > MIN_COMPARED_WORK && (all_steep || steep.windows(2).any(|pair| pair[0] && pair[1]))
}

/// Returns the factor by which work grew; work below the noise counts as [`NOISE_SECONDS`].
fn growth_factor(before: Duration, after: Duration) -> f64 {
    after.as_secs_f64() / before.as_secs_f64().max(NOISE_SECONDS)
}
