use http::Method;
use serde_json::Value;
use tokio::time::Instant;

use super::Verdict;
use super::stream::no_turn;
use crate::Fault;
use crate::questions::LONG;
use crate::told::{Frame, done};
use crate::turn::Turn;
use crate::visit::Visit;

pub(super) async fn storage(visit: &mut Visit) -> Result<Verdict, Fault> {
    let Some(turn) = visit.turn.as_ref().filter(|_| visit.ended) else { return Ok(no_turn()) };
    let (id, words) = (turn.started("conversationId"), turn.content());
    visit.must_hold(&id, &words).await?;
    Ok(Verdict::Passed(format!("{} characters", words.chars().count())))
}

pub(super) async fn resume(visit: &mut Visit) -> Result<Verdict, Fault> {
    let mut first = visit.begin(LONG, None).await?;
    first.until("words", Frame::grows).await?;
    let (id, has) = (first.started("conversationId"), first.content());
    let last = first.frames.last().and_then(|frame| frame.id.clone());
    let Some((turn, number)) = last else { return Ok(Verdict::Skipped("the turn was over at once".to_owned())) };
    drop(first);
    let path = format!("/api/conversations/{id}/stream");
    let request = visit.target.caller(Method::GET, &path).await?.header("last-event-id", format!("{turn}-{number}"));
    let mut rest = Turn::open(&visit.target, request, visit.wish.limits).await?;
    rest.read_out(number + 1).await?;
    let told_by = rest.frames.first().and_then(|frame| frame.id.as_ref()).map(|(turn, _)| turn);
    Fault::unless(told_by == Some(&turn), "the rest of the same turn", || "another turn".to_owned())?;
    done(&rest.frames, &["stop", "length"])?;
    visit.must_hold(&id, &(has + &rest.content())).await?;
    Ok(Verdict::Passed(format!("{} frames behind frame {number}", rest.frames.len())))
}

pub(super) async fn stop(visit: &mut Visit) -> Result<Verdict, Fault> {
    let mut turn = visit.begin(LONG, None).await?;
    turn.until("words", Frame::grows).await?;
    let asked = Instant::now();
    let answer =
        visit.ask(Method::POST, &format!("/api/conversations/{}/stop", turn.started("conversationId"))).await?;
    let stopping = answer.json().get("stopping") == Some(&Value::Bool(true));
    Fault::unless(answer.status == 202 && stopping, "202 and a turn that is stopping", || answer.said())?;
    turn.within(visit.wish.limits.stop);
    turn.read_out(1).await?;
    done(&turn.frames, &["stopped"])?;
    Ok(Verdict::Passed(format!("{} ms", asked.elapsed().as_millis())))
}

/// Deletes all created conversations, even after a failure, and checks that they are gone.
pub(super) async fn deletion(visit: &mut Visit) -> Result<Verdict, Fault> {
    let made = std::mem::take(&mut visit.made);
    let mut first = Ok(());
    for id in &made {
        first = first.and(gone(visit, id).await);
    }
    first.map(|()| Verdict::Passed(format!("{} conversations", made.len())))
}

async fn gone(visit: &mut Visit, id: &str) -> Result<(), Fault> {
    let path = format!("/api/conversations/{id}");
    visit.ask(Method::DELETE, &path).await?.must_be(204)?;
    visit.ask(Method::GET, &path).await?.must_be(404)
}
