//! Turns of conversations that their clients keep. Only their usage and records of their tool calls are stored.

use agent::EventLog;
use domain::{Event, EventBatch, FinishReason, Language, Message, Note, TurnError, TurnStart, new_id};
use futures_util::{Stream, StreamExt};
use store::UsageScope;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::request::{PromptInput, ResolvedAgent, StartStatelessTurn};
use crate::runner::TurnRunner;
use crate::services::TurnServices;
use crate::start::turn_span;

/// Starts the turn; it is stopped when its stream is dropped, because no client could resume it.
///
/// # Errors
/// Those of admission: a limit, a budget, a shutdown, the store.
pub async fn start_stateless(
    services: &TurnServices,
    request: StartStatelessTurn,
) -> Result<impl Stream<Item = EventBatch> + Send + use<>, TurnError> {
    let _permit = services.admit(&request.owner).await?;
    let (events, abandoned) = (EventLog::default(), CancellationToken::new());
    let (subscriber, turn_id) = (events.subscribe(0), new_id());
    let span = turn_span(&request.request, "", &turn_id);
    let turn = run(services.clone(), request, turn_id, events.clone(), abandoned.clone()).instrument(span);
    services.registry.spawn(turn, events);
    let guard = abandoned.drop_guard();
    Ok(subscriber.into_stream().inspect(move |_| _ = &guard))
}

/// Runs the turn, records its usage, and only then ends the stream.
async fn run(
    services: TurnServices,
    request: StartStatelessTurn,
    turn_id: String,
    events: EventLog,
    abandoned: CancellationToken,
) {
    let StartStatelessTurn { owner, agent, input, deadline, request } = request;
    let started_at = Instant::now();
    events.send(started(&agent, &turn_id));
    let runner = TurnRunner {
        services: &services,
        owner: &owner,
        agent: &agent,
        language: agent.locale.language.unwrap_or_else(|| language_of(&input)),
        deadline,
        turn_id: &turn_id,
        events: &events,
        request: &request,
        conversation_id: "",
        started_at,
    };
    runner.log_accepted();
    let answer = Box::pin(async {
        runner.load_model_state().await;
        runner.answer(input, None).await
    });
    let shutdown = services.registry.shutdown_token();
    let answered = tokio::select! {
        biased;
        answered = runner.run_guarded(&shutdown, answer) => answered,
        () = abandoned.cancelled() => Ok(FinishReason::Stopped),
    };
    let (owner, all) = (UsageScope::User(runner.owner), UsageScope::Global);
    tokio::join!(runner.record_usage(owner), runner.record_usage(all));
    runner.report(answered.as_ref().map_or_else(|failure| Err(failure.code), |reason| Ok(*reason)));
    let usage = events.turn_state().usage();
    events.send(Event::Note(Note::Usage(Box::new(usage))));
    events.send(Event::End(answered.map_err(Box::new)));
}

/// The language of the conversation's first user message.
fn language_of(input: &PromptInput) -> Language {
    let earlier = input.history.iter().flat_map(|turn| &turn.messages);
    let first = earlier.filter_map(|message| match message {
        Message::User { text } => Some(text),
        Message::Assistant { .. } | Message::Tool(_) => None,
    });
    Language::of(first.chain([&input.text]).next().unwrap_or(&input.text))
}

fn started(agent: &ResolvedAgent, turn_id: &str) -> Event {
    let model = agent.model_name().to_owned();
    Event::Started(Box::new(TurnStart { conversation_id: String::new(), message_id: turn_id.to_owned(), model }))
}
