use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::{Agent, EventLog, Measured, Turn};
use conversation::{Event, Failure, FinishReason, Started};
use model::ModelClient;
use serde_json::Value;
use store::Owner;
use tokio::sync::watch;
use tokio::time::Instant;
use tools::{KnownPages, Outgoing, Progress, ToolContext};

use super::Replayed;
use super::calls::Calls;
use super::models::{self, Paths};
use super::order::Order;
use super::score::Score;
use super::server::{Program, Server, Stop};
use super::stage::Stage;
use crate::recording::{Head, Recorded, Unreadable};

/// Deadline of a turn that needs none.
const LONG: Duration = Duration::from_hours(1);

/// Speed of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Speed {
    /// In the time that it took.
    Real,
    /// Without waiting.
    #[default]
    Fast,
}

/// Why a turn cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is not a valid recording.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The recorded models cannot be configured.
    #[error("the recording's models cannot be set up: {0}")]
    Models(#[from] settings::SettingError),
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Transport(#[from] transport::TransportError),
    /// The system refuses something that a replay needs.
    #[error("cannot replay: {0}")]
    System(#[from] std::io::Error),
}

/// Replays a recorded turn over loopback only; calls `on_event` for each event.
///
/// A turn that hit its deadline is always replayed in real time.
///
/// # Errors
/// The file is not a recording that this program supports.
pub async fn replay(
    file: &Path,
    speed: Speed,
    show: impl Fn(&Value) + Send + Sync + 'static,
) -> Result<Replayed, ReplayError> {
    let recorded = Recorded::read(file)?;
    let speed = if ran_out_of_time(&recorded) { Speed::Real } else { speed };
    let score = Score::from(&recorded);
    let order = Arc::new(Order::new(&score, speed));
    let stage = Stage::new(Arc::clone(&order), Box::new(show));
    let (stop, cut_off) = (watch::Sender::new(None), score.cut_off);
    let calls = Calls::new(score.calls.clone(), Arc::clone(&order), cut_off, stop.clone());
    let models = recorded.head.models.iter().map(|model| model.name.clone()).collect();
    let attempts = Mutex::new(score.attempts.clone());
    let program = Program { models, attempts, order, speed, cut_off, stop: stop.clone() };
    let server = Server::start(Arc::new(program)).await?;
    let clients = models::clients(&recorded, &server, speed)?;
    models::advise(&clients, &score).await;
    let paths = Paths(score.paths);
    let turn = turn(&recorded.head, &clients, &paths, &stage, speed);
    let stopped = play(&recorded, &turn, &calls, stop.subscribe()).await;
    Ok(Replayed { events: stage.seen(), strange: calls.strange(), stopped, cut_off, recorded })
}

fn ran_out_of_time(recorded: &Recorded) -> bool {
    recorded.events().last().is_some_and(|last| last["finishReason"] == "deadline" || last["code"] == "deadline")
}

fn turn<'a>(head: &Head, models: &'a [ModelClient], paths: &'a Paths, recorder: &'a Stage, speed: Speed) -> Turn<'a> {
    let length = if speed == Speed::Real { head.left() } else { LONG };
    Turn {
        id: head.turn.clone(),
        models,
        paths,
        text: head.question.clone(),
        history: head.history.iter().cloned().map(Into::into).collect(),
        summary: head.summary.clone(),
        caller: None,
        tool_choice: head.tool_choice.clone().into(),
        context: ToolContext {
            owner: Owner::unverified("replay"),
            deadline: Instant::now() + length,
            pages: KnownPages::default(),
            progress: Progress::default(),
            outgoing: Outgoing::default(),
            calculations: tools::CalculationBudget::default(),
        },
        today: head.today.clone(),
        nonce: head.nonce.clone(),
        recorder: Some(recorder),
    }
}

/// Runs the turn as the product does, with the events before and after the agent; returns why it stopped early.
async fn play(
    recorded: &Recorded,
    turn: &Turn<'_>,
    calls: &Arc<Calls>,
    mut stop: watch::Receiver<Option<Stop>>,
) -> Option<Stop> {
    let head = &recorded.head;
    let agent = Agent {
        system_prompt: head.system_prompt.clone(),
        tools: calls.registry(&head.tools),
        max_rounds: head.max_rounds,
        history_tokens: head.history_tokens,
        summarise: head.summarise,
        // The results of prefetched searches are in the recorded calls.
        pre_search: false,
        measured: Measured::default(),
    };
    let events = EventLog::default();
    events.send(started(recorded));
    let ended = tokio::select! {
        biased;
        ended = agent.run(turn, &events) => ended,
        stop = stop.wait_for(Option::is_some) => return stop.ok().and_then(|stop| stop.clone()),
    };
    finish(recorded, &events, ended);
    None
}

fn started(recorded: &Recorded) -> Event {
    let start = recorded.events().find(|event| event["type"] == "start").unwrap_or(&Value::Null);
    let text = |name: &str| start[name].as_str().unwrap_or_default().to_owned();
    Event::Started(Box::new(Started {
        conversation_id: text("conversationId"),
        message_id: text("messageId"),
        model: text("model"),
    }))
}

fn finish(recorded: &Recorded, events: &EventLog, ended: Result<FinishReason, Failure>) {
    if let Some(title) = recorded.events().find_map(|event| event["title"].as_str()) {
        events.send(Event::Title(title.to_owned()));
    }
    let usage = events.draft().usage();
    events.send(Event::Usage(Box::new(usage)));
    events.send(match ended {
        Ok(finish_reason) => Event::Done { finish_reason },
        Err(failure) => Event::Failed(Box::new(failure)),
    });
}
