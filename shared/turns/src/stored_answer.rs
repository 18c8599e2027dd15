use agent::{CallRecord, TurnState};
use store::{Answer, StoredCall, TurnEnd};

/// The state of a finished turn as the answer that is stored.
pub(crate) fn stored_answer(state: TurnState, end: TurnEnd) -> Answer {
    Answer {
        content: state.answer.content.clone(),
        thinking: state.answer.thinking.clone(),
        tool_calls: state.calls().map(stored_call).collect(),
        sources: state.answer.sources.clone(),
        end,
        usage: state.usage(),
        summary: state.summary.clone(),
        models: state.models().to_vec(),
        transcript: state.transcript(),
    }
}

fn stored_call(record: CallRecord<'_>) -> StoredCall {
    let (ok, summary) = match record.outcome {
        Some(outcome) => (outcome.ok, outcome.summary.clone()),
        None => (false, "not finished".to_owned()),
    };
    StoredCall {
        id: record.call.id.clone(),
        name: record.call.name.clone(),
        arguments: record.call.arguments.clone(),
        ok,
        summary,
    }
}
