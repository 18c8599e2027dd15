use domain::{Event, Failure, FinishReason, ToolCall, ToolEvent};
use serde_json::Value;
use tools::{ToolContext, ToolRegistry};

use crate::{EventLog, reply};

/// Runs one call that a client made itself: a turn without a model, whose answer is the result. An address in the
/// call may be read, as one in a message may.
///
/// # Errors
/// The tool ended the turn.
pub async fn run_call(
    tools: &ToolRegistry,
    context: ToolContext,
    call: ToolCall,
    events: &EventLog,
) -> Result<FinishReason, Failure> {
    for text in call.arguments.as_object().into_iter().flat_map(|fields| fields.values()).filter_map(Value::as_str) {
        context.allowed_urls.add_address(text);
    }
    events.send(Event::Tool(ToolEvent::Call(Box::new(call.clone()))));
    let run = reply::run_with_progress(&tools.session(context), events, &call).await;
    let run = reply::report(events, None, &call, run).map_err(|error| error.failure())?;
    events.send_result(run.result.content);
    Ok(FinishReason::Stop)
}
