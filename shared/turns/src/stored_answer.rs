use agent::{CallRecord, TurnState};
use domain::{Message, NumberedSources, Source, ToolCall};
use store::{Answer, Continued, StoredCall, TurnEnd, TurnOutcome};

/// The state of a finished turn as the answer that is stored, without its title; with the calls and the sources of the answer
/// that it continues. The text of that is in the state.
pub(crate) fn stored_answer(
    state: TurnState,
    continued: Option<&Continued>,
    end: TurnEnd,
    added_sources: Option<NumberedSources>,
) -> Answer {
    let client_calls = state.answer.client_tool_calls.clone();
    let before = continued.map(|continued| &continued.message);
    let mut sources = before.map(|before| before.sources.clone()).unwrap_or_default();
    Source::join(&mut sources, &state.answer.sources);
    Answer {
        content: state.answer.content.clone(),
        thinking: state.answer.thinking.clone(),
        tool_calls: before
            .iter()
            .flat_map(|one| one.tool_calls.clone())
            .chain(state.calls().map(stored_call))
            .chain(client_calls.iter().map(StoredCall::of_client))
            .collect(),
        sources,
        added_sources,
        outcome: TurnOutcome {
            usage: state.usage(),
            end,
            models: state.models().to_vec(),
            thinking_ms: state.thinking_ms(),
            error_message: None,
            reclassified: state.answer.reclassified,
        },
        summary: state.summary.clone(),
        transcript: with_client_calls(state.transcript(), client_calls),
        title: None,
        new_title: None,
    }
}

/// Adds the calls with which a turn ended to its last reply, or as one of their own.
fn with_client_calls(mut transcript: Vec<Message>, client_calls: Vec<ToolCall>) -> Vec<Message> {
    match transcript.last_mut() {
        _ if client_calls.is_empty() => {}
        Some(Message::Assistant { calls, .. }) if calls.is_empty() => *calls = client_calls,
        _ => transcript.push(Message::Assistant {
            text: String::new(),
            thinking: String::new(),
            calls: client_calls,
            provider_data: None,
        }),
    }
    transcript
}

fn stored_call(record: CallRecord<'_>) -> StoredCall {
    StoredCall::new(record.call, record.outcome, Some(record.position))
}
