use agent::TurnState;
use domain::NumberedSources;
use store::{Answer, StoredCall, TurnEnd};

/// The state of a finished turn as the answer that is stored, without title and layout.
pub(crate) fn stored_answer(state: TurnState, end: TurnEnd, added_sources: Option<NumberedSources>) -> Answer {
    Answer {
        content: state.answer.content.clone(),
        thinking: state.answer.thinking.clone(),
        tool_calls: state.calls().map(|record| StoredCall::new(record.call, record.outcome)).collect(),
        sources: state.answer.sources.clone(),
        added_sources,
        end,
        usage: state.usage(),
        summary: state.summary.clone(),
        models: state.models().to_vec(),
        transcript: state.transcript(),
        title: None,
        layout: None,
    }
}
