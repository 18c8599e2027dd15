use agent::{CallRecord, TurnState};
use domain::NumberedSources;
use store::{Answer, StoredCall, TurnEnd};

/// The state of a finished turn as the answer that is stored, without its title.
pub(crate) fn stored_answer(state: TurnState, end: TurnEnd, added_sources: Option<NumberedSources>) -> Answer {
    Answer {
        content: state.answer.content.clone(),
        thinking: state.answer.thinking.clone(),
        thinking_ms: state.thinking_ms(),
        tool_calls: state.calls().map(stored_call).collect(),
        sources: state.answer.sources.clone(),
        added_sources,
        end,
        error_message: None,
        usage: state.usage(),
        summary: state.summary.clone(),
        models: state.models().to_vec(),
        reclassified: state.answer.reclassified,
        transcript: state.transcript(),
        title: None,
    }
}

fn stored_call(record: CallRecord<'_>) -> StoredCall {
    StoredCall::new(record.call, record.outcome, Some(record.position))
}
