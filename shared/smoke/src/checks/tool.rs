use http::Method;
use serde_json::Value;

use super::Verdict;
use crate::Fault;
use crate::questions::{SUM, TOOL};
use crate::told::done;
use crate::visit::Visit;

pub(super) async fn round(visit: &mut Visit) -> Result<Verdict, Fault> {
    if !offered(visit).await? {
        return Ok(Verdict::Absent(format!("the default agent may not use `{TOOL}`")));
    }
    let mut turn = visit.begin(SUM, Some(TOOL)).await?;
    turn.read_out(1).await?;
    done(&turn.frames, &["stop", "length", "tool_limit"])?;
    let Some(at) = turn.frames.iter().position(|frame| frame.kind() == "tool_result") else {
        return Ok(Verdict::Skipped("the model called no tool".to_owned()));
    };
    let (before, after) = turn.frames.split_at(at);
    let called = before.iter().any(|frame| frame.kind() == "tool_call");
    Fault::unless(called, "a call before its result", || "none".to_owned())?;
    let result = after.first().map(|frame| &frame.event);
    let good = result.and_then(|result| result.get("ok")) == Some(&Value::Bool(true));
    let code = || result.and_then(|result| result.pointer("/error/code")).map(ToString::to_string).unwrap_or_default();
    Fault::unless(good, "a result that is ok", code)?;
    let goes_on = after.iter().any(|frame| frame.kind() == "content");
    Fault::unless(goes_on, "words behind the result", || "none".to_owned())?;
    Ok(Verdict::Passed(format!("{} frames", turn.frames.len())))
}

async fn offered(visit: &mut Visit) -> Result<bool, Fault> {
    let answer = visit.ask(Method::GET, "/api/tools").await?;
    answer.must_be(200)?;
    let document = answer.json();
    let tools = document.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(tools.iter().any(|tool| tool.get("name").is_some_and(|name| name == TOOL)))
}
