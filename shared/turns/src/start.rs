use std::sync::OnceLock;
use std::time::SystemTime;

use agent::EventLog;
use domain::{Event, Language, RequestOrigin, TurnError, TurnStart, new_id};
use store::{BeginError, ConversationStore, IdempotencyClaim, NewTurn, TurnLease, UserInput};
use tracing::{Instrument, Span};

use crate::handle::TurnStream;
use crate::request::StartTurn;
use crate::services::TurnServices;
use crate::stateful::StatefulTurn;

/// The longest title made of a first message, in characters.
const MAX_TITLE: usize = 60;

/// Stores the turn as running and spawns it. It runs to its end whether or not a client reads its events.
pub(crate) async fn start(
    services: &TurnServices,
    request: StartTurn,
    idempotency: Option<IdempotencyClaim>,
) -> Result<TurnStream, TurnError> {
    let _permit = services.admit(&request.owner).await?;
    // By the wall clock a lease may seem to have expired that this very process renews.
    if request.conversation_id.as_ref().is_some_and(|id| services.registry.holds(&request.owner, id)) {
        return Err(BeginError::InProgress { retry_after: ConversationStore::LEASE }.into());
    }
    let new_turn = new_turn(&request, idempotency);
    let lease = services.store.conversations.begin(&request.owner, &new_turn, SystemTime::now()).await?;
    let events = EventLog::default();
    let subscriber = events.subscribe(0);
    let span = turn_span(&request.request, &lease.conversation_id, &lease.turn_id);
    let turn = StatefulTurn {
        services: services.clone(),
        guard: services.registry.register(&request.owner, &lease, &events),
        title: lease.is_first().then_some(new_turn.title),
        events: events.clone(),
        started: started(&lease, new_turn.assistant_message_id.clone(), new_turn.model),
        message_id: new_turn.assistant_message_id,
        lease,
        request,
        sources: OnceLock::new(),
    };
    services.registry.spawn(turn.run().instrument(span), events);
    Ok(TurnStream::of_subscriber(new_turn.turn_id, subscriber))
}

/// The span of every log line that a turn writes; of the highest level, so that no filter drops it.
pub(crate) fn turn_span(request: &RequestOrigin, conversation_id: &str, turn_id: &str) -> Span {
    tracing::error_span!("turn", requestId = request.request_id, conversationId = conversation_id, turnId = turn_id)
}

fn new_turn(request: &StartTurn, idempotency: Option<IdempotencyClaim>) -> NewTurn {
    NewTurn {
        conversation_id: request.conversation_id.clone(),
        chat_id: request.chat_id.clone(),
        turn_id: new_id(),
        user_message_id: new_id(),
        assistant_message_id: new_id(),
        input: request.question.clone(),
        model: request.agent.model_name().to_owned(),
        language: match &request.question {
            UserInput::Message(message) => Language::of(message),
            UserInput::Regenerate => Language::default(),
        },
        title: match &request.question {
            UserInput::Message(message) => title(message),
            UserInput::Regenerate => String::new(),
        },
        idempotency,
    }
}

fn started(lease: &TurnLease, message_id: String, model: String) -> Event {
    Event::Started(Box::new(TurnStart { conversation_id: lease.conversation_id.clone(), message_id, model }))
}

/// A title from the beginning of a user message, on one line.
fn title(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_TITLE {
        return line;
    }
    let mut title: String = line.chars().take(MAX_TITLE - 1).collect();
    title.truncate(title.trim_end().len());
    title.push('…');
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_the_beginning_of_the_message() {
        assert_eq!(title("  今天\n天气  怎么样？ "), "今天 天气 怎么样？");
        let long = title(&"word ".repeat(50));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with("word…"));
    }
}
