use http::Method;
use serde_json::Value;

use super::CheckStatus;
use crate::CheckFailure;
use crate::frames::check_done;
use crate::prompts::{SUM, TOOL};
use crate::session::Session;

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
