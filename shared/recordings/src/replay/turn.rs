use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::{Agent, EventLog, PreSearch, PromptCache, Turn};
use commands::CommandError;
use domain::{Event, Failure, FinishReason, Membership, Note, NumberedSources, Owner, TurnStart};
use llm::ModelClient;
use serde_json::Value;
use tokio::time::Instant;
use tools::{OutboundRedactor, Progress, SourceNumbers, ToolContext, UrlAllowlist};

use super::calls::{Observer, RecordedCalls};
use super::compare::ReplayReport;
use super::script::Script;
use super::sequencer::{Sequencer, StopReason};
use super::server::Server;
use super::{Speed, models};
use crate::recording::{Head, RecordedTurn};

/// Deadline of a turn that needs none.
const NO_DEADLINE: Duration = Duration::from_hours(1);

/// Replays a recorded turn over loopback only; calls `on_event` for each event.
///
/// A turn that hit its deadline is always replayed in real time.
///
/// # Errors
/// The file is not a recording that this program supports.
pub async fn replay(
    file: &Path,
    speed: Speed,
    on_event: impl Fn(&Value) + Send + Sync + 'static,
) -> Result<ReplayReport, CommandError> {
    let recorded = RecordedTurn::read(file)?;
    let speed = if hit_deadline(&recorded) { Speed::Real } else { speed };
    let script = Script::from(&recorded);
    let sequencer = Arc::new(Sequencer::new(&script, speed));
    let observer = Observer::new(Arc::clone(&sequencer), on_event);
    let calls = RecordedCalls::new(script.calls.clone(), Arc::clone(&sequencer));
    let server = Server::start(&recorded.head.models, script.attempts.clone(), Arc::clone(&sequencer)).await;
    let server = server.map_err(|error| CommandError::wrong_use(format!("cannot replay: {error}")))?;
    let clients = models::clients(&recorded, &server, speed)?;
    models::set_endpoint_health(&clients, &script).await;
    let turn = build_turn(&recorded.head, &clients, &script, &observer, speed);
    let stop_reason = run_turn(&recorded, &turn, &calls, &sequencer).await;
    let (events, unrecorded) = (observer.events(), calls.unrecorded());
    Ok(ReplayReport { events, unrecorded, stop_reason, cut_off: script.cut_off, recorded })
}

fn hit_deadline(recorded: &RecordedTurn) -> bool {
    recorded.events().last().is_some_and(|last| last["finishReason"] == "deadline" || last["code"] == "deadline")
}

fn build_turn<'a>(
    head: &Head,
    models: &'a [ModelClient],
    script: &'a Script,
    recorder: &'a Observer,
    speed: Speed,
) -> Turn<'a> {
    let length = if speed == Speed::Real { head.left() } else { NO_DEADLINE };
    Turn {
        attachments: Vec::new(),
        id: head.turn.clone(),
        models,
        tool_modes: script,
        text: head.question.clone(),
        history: head.history.clone(),
        summary: head.summary.clone(),
        instructions: String::new(),
        client: None,
        tool_choice: head.tool_choice.clone(),
        context: ToolContext {
            language: head.language,
            time_zone: head.time_zone(),
            owner: Owner::unverified("replay"),
            membership: Membership::default(),
            deadline: Instant::now() + length,
            allowed_urls: UrlAllowlist::default(),
            sources: SourceNumbers::continuing(&NumberedSources {
                sources: head.sources.clone(),
                last: head.last_source,
            }),
            progress: Progress::default(),
            redactor: OutboundRedactor::default(),
            calculation_budget: tools::CalculationBudget::default(),
            result_budget: tools::ResultBudget::default(),
        },
        today: head.today.clone(),
        recorder: Some(recorder),
    }
}

/// Runs the turn as the product does, with the events before and after the agent; returns why it stopped early.
async fn run_turn(
    recorded: &RecordedTurn,
    turn: &Turn<'_>,
    calls: &Arc<RecordedCalls>,
    sequencer: &Sequencer,
) -> Option<StopReason> {
    let head = &recorded.head;
    let agent = Agent {
        system_prompt: head.system_prompt.clone(),
        built_in_prompt: None,
        added_prompt: head.added_prompt.clone(),
        searches_deeply: head.searches_deeply,
        tools: calls.registry(&head.tools),
        max_rounds: head.max_rounds,
        history_tokens: head.history_tokens,
        summarise: head.summarise,
        // The results of searches that ran concurrently are in the recorded calls.
        pre_search: if head.search_context { PreSearch::Context } else { PreSearch::Off },
        prompts: PromptCache::default(),
    };
    let events = EventLog::default();
    events.send(start_event(recorded));
    let ended = tokio::select! {
        biased;
        ended = agent.run(turn, &events) => ended,
        reason = sequencer.stopped() => return reason,
    };
    send_end_events(recorded, &events, ended);
    None
}

fn start_event(recorded: &RecordedTurn) -> Event {
    let start = recorded.events().find(|event| event["type"] == "start").unwrap_or(&Value::Null);
    let text = |name: &str| start[name].as_str().unwrap_or_default().to_owned();
    Event::Started(Box::new(TurnStart {
        continues: false,
        conversation_id: text("conversationId"),
        message_id: text("messageId"),
        model: text("model"),
    }))
}

fn send_end_events(recorded: &RecordedTurn, events: &EventLog, ended: Result<FinishReason, Failure>) {
    if let Some(title) = recorded.events().find_map(|event| event["title"].as_str()) {
        events.send(Event::Note(Note::Title(title.into())));
    }
    let usage = events.turn_state().usage();
    events.send(Event::Note(Note::Usage(Box::new(usage))));
    events.send(Event::End(ended.map_err(Box::new)));
}
