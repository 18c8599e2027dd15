use http::Method;
use serde_json::Value;
use tokio::time::Instant;

use super::CheckStatus;
use super::stream::skipped_without_turn;
use crate::CheckFailure;
use crate::prompts::LONG;
use crate::session::Session;
use crate::turn_reader::{Frame, TurnReader, check_done};

pub(super) async fn check_storage(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let Some(turn) = session.turn.as_ref().filter(|_| session.turn_ended) else { return Ok(skipped_without_turn()) };
    let (id, content) = (turn.start_field("conversationId"), turn.content());
    session.expect_stored(&id, &content).await?;
    Ok(CheckStatus::Passed(format!("{} characters", content.chars().count())))
}

pub(super) async fn check_resume(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let mut first = session.start_turn(LONG, None).await?;
    first.read_until("words", Frame::is_delta).await?;
    let (id, received) = (first.start_field("conversationId"), first.content());
    let last = first.frames.last().and_then(|frame| frame.id.clone());
    let Some((turn, position)) = last else { return Ok(CheckStatus::Skipped("the turn was over at once".to_owned())) };
    drop(first);
    let path = format!("/api/conversations/{id}/stream");
    let request =
        session.target.caller_request(Method::GET, &path).await?.header("last-event-id", format!("{turn}-{position}"));
    let mut rest = TurnReader::open(&session.target, request, session.options.timeouts).await?;
    rest.read_to_end(Some(&position)).await?;
    let resumed_turn = rest.frames.first().and_then(|frame| frame.id.as_ref()).map(|(turn, _)| turn);
    CheckFailure::ensure(resumed_turn == Some(&turn), "the rest of the same turn", || "another turn".to_owned())?;
    check_done(&rest.frames, &["stop", "length"])?;
    session.expect_stored(&id, &(received + &rest.content())).await?;
    Ok(CheckStatus::Passed(format!("{} frames after {position}", rest.frames.len())))
}

pub(super) async fn check_stop(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let mut turn = session.start_turn(LONG, None).await?;
    turn.read_until("words", Frame::is_delta).await?;
    let requested_at = Instant::now();
    let response =
        session.fetch(Method::POST, &format!("/api/conversations/{}/stop", turn.start_field("conversationId"))).await?;
    let is_stopping = response.json().get("stopping") == Some(&Value::Bool(true));
    CheckFailure::ensure(response.status == 202 && is_stopping, "202 and a turn that is stopping", || {
        response.status_and_code()
    })?;
    turn.set_time_limit(session.options.timeouts.stop);
    turn.read_to_end(None).await?;
    check_done(&turn.frames, &["stopped"])?;
    Ok(CheckStatus::Passed(format!("{} ms", requested_at.elapsed().as_millis())))
}

/// Deletes all created conversations, even after a failure, and checks that they are gone.
pub(super) async fn check_deletion(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let conversations = std::mem::take(&mut session.created_conversations);
    let mut result = Ok(());
    for id in &conversations {
        result = result.and(delete_and_verify(session, id).await);
    }
    result.map(|()| CheckStatus::Passed(format!("{} conversations", conversations.len())))
}

async fn delete_and_verify(session: &mut Session, id: &str) -> Result<(), CheckFailure> {
    let path = format!("/api/conversations/{id}");
    session.fetch(Method::DELETE, &path).await?.expect_status(204)?;
    session.fetch(Method::GET, &path).await?.expect_status(404)
}
