use std::time::Duration;

use super::CheckStatus;
use crate::CheckFailure;
use crate::prompts::COUNT;
use crate::session::Session;
use crate::turn_reader::{Frame, check_done};

const MIN_DELTAS: usize = 8;

/// Fewer reads or a shorter time mean that something buffered the stream. Neither depends on the distance to the
/// deployment: a network delays all chunks alike and merges only a small part of them.
const MIN_READS: usize = 3;
const MIN_SPAN: Duration = Duration::from_millis(50);

pub(super) async fn check_first_event(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let mut turn = session.start_turn(COUNT, None).await?;
    let elapsed = turn.read_until("`start`", |_| true).await?;
    session.turn = Some(turn);
    let (limit_ms, elapsed_ms) = (session.options.timeouts.first_event.as_millis(), elapsed.as_millis());
    CheckFailure::ensure(elapsed_ms <= limit_ms, &format!("`start` within {limit_ms} ms"), || {
        format!("{elapsed_ms} ms")
    })?;
    Ok(CheckStatus::Passed(format!("{elapsed_ms} ms")))
}

pub(super) async fn check_end(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let Some(turn) = &mut session.turn else { return Ok(skipped_without_turn()) };
    turn.read_to_end(None).await?;
    session.turn_ended = true;
    check_done(&turn.frames, &["stop", "length"])?;
    let elapsed = turn.read_until("the end of the turn", Frame::ends_turn).await?;
    Ok(CheckStatus::Passed(format!("{} frames, {} ms", turn.frames.len(), elapsed.as_millis())))
}

pub(super) async fn check_streaming(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let Some(turn) = &session.turn else { return Ok(skipped_without_turn()) };
    let deltas = turn.frames.iter().filter(|frame| frame.is_delta()).count();
    if deltas < MIN_DELTAS {
        return Ok(CheckStatus::Skipped(format!("{deltas} pieces of an answer are too few to judge")));
    }
    let (reads, span) = turn.arrivals();
    let figures = format!("{deltas} pieces in {reads} reads over {} ms", span.as_millis());
    let expected = format!("at least {MIN_READS} reads over {} ms", MIN_SPAN.as_millis());
    CheckFailure::ensure(reads >= MIN_READS && span >= MIN_SPAN, &expected, || figures.clone())?;
    Ok(CheckStatus::Passed(figures))
}

pub(super) fn skipped_without_turn() -> CheckStatus {
    CheckStatus::Skipped("there is no turn to look at".to_owned())
}
