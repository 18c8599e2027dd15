use http::Method;
use serde_json::Value;
use tokio::time::Instant;

use super::CheckStatus;
use crate::CheckFailure;
use crate::prompts::{SUM, TOOL};
use crate::session::Session;
use crate::target::Request;
use crate::turn_reader::check_done;

/// A route that needs authentication.
const PROTECTED_PATH: &str = "/api/conversations?limit=1";

pub(super) async fn check_health(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let requested_at = Instant::now();
    let response = session.target.fetch(Request::new(Method::GET, "/healthz"), session.options.timeouts.answer).await?;
    response.expect_status(200)?;
    let body = response.json();
    let text = |field: &str| body.get(field).and_then(|value| value.as_str()).unwrap_or_default();
    CheckFailure::ensure(text("status") == "ok", "the status ok", || "another".to_owned())?;
    Ok(CheckStatus::Passed(format!("version {}, {} ms", text("version"), requested_at.elapsed().as_millis())))
}

pub(super) async fn check_page(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let response = session.target.fetch(Request::new(Method::GET, "/"), session.options.timeouts.answer).await?;
    response.expect_status(200)?;
    CheckFailure::ensure(response.content_type.starts_with("text/html"), "a page", || "something else".to_owned())?;
    Ok(CheckStatus::Passed(format!("{} bytes", response.body.len())))
}

pub(super) async fn check_access(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let limit = session.options.timeouts.answer;
    let bare = session.target.fetch(Request::new(Method::GET, PROTECTED_PATH), limit).await?;
    if bare.status == 200 && session.target.is_local && session.target.key.is_none() {
        return Ok(CheckStatus::Skipped("this server on this machine answers without a key".to_owned()));
    }
    CheckFailure::ensure(bare.status == 401, "401 without a key", || bare.status_and_code())?;
    let wrong = Request::new(Method::GET, PROTECTED_PATH).header("x-api-key", "not-a-key");
    let wrong = session.target.fetch(wrong, limit).await?;
    CheckFailure::ensure(wrong.status == 401, "401 with a wrong key", || wrong.status_and_code())?;
    let right = session.fetch(Method::GET, PROTECTED_PATH).await?;
    let expected = if session.target.key.is_some() { "200 with the key" } else { "a key to be given (--key-from)" };
    CheckFailure::ensure(right.status == 200, expected, || right.status_and_code())?;
    Ok(CheckStatus::Passed("401 without a key, 401 with a wrong one, 200 with this one".to_owned()))
}

pub(super) async fn check_tool_round(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    if !is_tool_offered(session).await? {
        return Ok(CheckStatus::Absent(format!("the default agent may not use `{TOOL}`")));
    }
    let mut turn = session.start_turn(SUM, Some(TOOL)).await?;
    turn.read_to_end(None).await?;
    check_done(&turn.frames, &["stop", "length", "tool_limit"])?;
    let Some(at) = turn.frames.iter().position(|frame| frame.kind() == "tool_result") else {
        return Ok(CheckStatus::Skipped("the model called no tool".to_owned()));
    };
    let (before, after) = turn.frames.split_at(at);
    let has_call = before.iter().any(|frame| frame.kind() == "tool_call");
    CheckFailure::ensure(has_call, "a call before its result", || "none".to_owned())?;
    let result = after.first().map(|frame| &frame.event);
    let is_ok = result.and_then(|result| result.get("ok")) == Some(&Value::Bool(true));
    let code = || result.and_then(|result| result.pointer("/error/code")).map(ToString::to_string).unwrap_or_default();
    CheckFailure::ensure(is_ok, "a result that is ok", code)?;
    let has_content = after.iter().any(|frame| frame.kind() == "content");
    CheckFailure::ensure(has_content, "text after the result", || "none".to_owned())?;
    Ok(CheckStatus::Passed(format!("{} frames", turn.frames.len())))
}

async fn is_tool_offered(session: &mut Session) -> Result<bool, CheckFailure> {
    let response = session.fetch(Method::GET, "/api/tools").await?;
    response.expect_status(200)?;
    let document = response.json();
    let tools = document.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(tools.iter().any(|tool| tool.get("name").is_some_and(|name| name == TOOL)))
}
