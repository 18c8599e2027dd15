use std::time::Duration;

use super::Verdict;
use crate::Fault;
use crate::questions::COUNT;
use crate::told::{Frame, done};
use crate::visit::Visit;

/// Minimum number of deltas for a conclusive check.
const MIN_PIECES: usize = 8;

/// Fewer reads or a shorter time mean that something buffered the stream. Neither depends on the distance to the
/// deployment: a network delays all chunks alike and merges only a small part of them.
const MIN_READS: usize = 3;
const MIN_SPAN: Duration = Duration::from_millis(50);

pub(super) async fn first_event(visit: &mut Visit) -> Result<Verdict, Fault> {
    let mut turn = visit.begin(COUNT, None).await?;
    let took = turn.until("`start`", |_| true).await?;
    visit.turn = Some(turn);
    let (limit, took) = (visit.wish.limits.first_event.as_millis(), took.as_millis());
    Fault::unless(took <= limit, &format!("`start` within {limit} ms"), || format!("{took} ms"))?;
    Ok(Verdict::Passed(format!("{took} ms")))
}

pub(super) async fn end(visit: &mut Visit) -> Result<Verdict, Fault> {
    let Some(turn) = &mut visit.turn else { return Ok(no_turn()) };
    turn.read_out(1).await?;
    visit.ended = true;
    done(&turn.frames, &["stop", "length"])?;
    let took = turn.until("the end of the turn", Frame::ends_turn).await?;
    Ok(Verdict::Passed(format!("{} frames, {} ms", turn.frames.len(), took.as_millis())))
}

pub(super) async fn streaming(visit: &mut Visit) -> Result<Verdict, Fault> {
    let Some(turn) = &visit.turn else { return Ok(no_turn()) };
    let pieces = turn.frames.iter().filter(|frame| frame.grows()).count();
    if pieces < MIN_PIECES {
        return Ok(Verdict::Skipped(format!("{pieces} pieces of an answer are too few to tell")));
    }
    let (reads, span) = turn.arrivals();
    let figures = format!("{pieces} pieces in {reads} reads over {} ms", span.as_millis());
    let expected = format!("at least {MIN_READS} reads over {} ms", MIN_SPAN.as_millis());
    Fault::unless(reads >= MIN_READS && span >= MIN_SPAN, &expected, || figures.clone())?;
    Ok(Verdict::Passed(figures))
}

pub(super) fn no_turn() -> Verdict {
    Verdict::Skipped("there is no turn to look at".to_owned())
}
