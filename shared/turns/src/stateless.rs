//! Turns of conversations that their clients keep. Only their usage is stored.

use std::sync::OnceLock;

use agent::{ClientContext, EventLog};
use domain::{
    ErrorCode, Event, EventBatch, FinishReason, Language, Membership, Message, Owner, RequestOrigin, ToolCall,
    TurnError, TurnStart, new_id,
};
use futures_util::{Stream, StreamExt};
use store::{Status, StoredResponse, UsageScope};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::SourceNumbers;
use tracing::Instrument;

use crate::closing_events::closing_events;
use crate::files;
use crate::prompt_parts::prompt_parts;
use crate::request::{PromptInput, ResolvedAgent, StartStatelessTurn, StatelessInput};
use crate::runner::TurnRunner;
use crate::services::TurnServices;
use crate::start::turn_span;
use crate::telemetry::log_accepted;

/// Starts the turn; it is stopped when its stream is dropped, because no client could resume it.
///
/// # Errors
/// Those of admission: a limit, a budget, a shutdown, the store; `turn_in_progress` while the answer before it is written.
pub async fn start_stateless(
    services: &TurnServices,
    turn: StartStatelessTurn,
) -> Result<impl Stream<Item = EventBatch> + Send + use<>, TurnError> {
    let StartStatelessTurn { owner, membership, agent, input, deadline, request } = turn;
    let _permit = services.admit(&owner, &membership.groups).await?;
    let is_task = matches!(input, StatelessInput::Task(_));
    let (input, keeps_text) = match input {
        StatelessInput::Message(prompt) | StatelessInput::Task(prompt) => (Input::Prompt(prompt), true),
        StatelessInput::Call(call) => (Input::Call(call), true),
        StatelessInput::After { answer, messages, context } => {
            let prompt = prompt_after(services, (&owner, &agent), &answer, messages, *context).await?;
            (Input::Prompt(Box::new(prompt)), !answer.is_temporary())
        }
    };
    let (events, abandoned) = (EventLog::default(), CancellationToken::new());
    let (subscriber, turn_id) = (events.subscribe(0), new_id());
    request.record_admission();
    let span = turn_span(&request, "", &turn_id);
    let turn = StatelessTurn { owner, membership, agent, input, deadline, request, turn_id, keeps_text, is_task };
    let turn = turn.run(services.clone(), events.clone(), abandoned.clone()).instrument(span);
    services.registry.spawn(turn, events);
    let guard = abandoned.drop_guard();
    Ok(subscriber.into_stream().inspect(move |_| _ = &guard))
}

/// The prompt for messages that follow a stored answer, in a turn that is not stored itself.
async fn prompt_after(
    services: &TurnServices,
    (owner, agent): (&Owner, &ResolvedAgent),
    answer: &StoredResponse,
    mut input: Vec<Message>,
    context: ClientContext,
) -> Result<PromptInput, TurnError> {
    if answer.message.status == Status::Running {
        return Err(ErrorCode::TurnInProgress.into());
    }
    if answer.message.status == Status::Interrupted {
        services.recover_turn(owner, &answer.turn).await;
    }
    let conversations = &services.store.conversations;
    let (mut history, sources) = conversations.history_to(answer, agent.history_chars()).await?;
    let tools = files::load(services, owner, agent, &mut history, &mut input).await?;
    let (history, (text, attachments), trailing_messages) = prompt_parts(history, input);
    let (client, sources) = (ClientContext { trailing_messages, ..context }, SourceNumbers::continuing(&sources));
    Ok(PromptInput { text, attachments, history, client: Some(client), sources, tools, ..PromptInput::default() })
}

/// A turn that was admitted.
struct StatelessTurn {
    owner: Owner,
    membership: Membership,
    agent: ResolvedAgent,
    input: Input,
    deadline: Instant,
    request: RequestOrigin,
    turn_id: String,
    keeps_text: bool,
    is_task: bool,
}

/// What a turn answers.
enum Input {
    Prompt(Box<PromptInput>),
    Call(ToolCall),
}

impl StatelessTurn {
    /// Answers, records the usage, and only then ends the stream.
    async fn run(self, services: TurnServices, events: EventLog, abandoned: CancellationToken) {
        let Self { owner, membership, agent, input, deadline, request, turn_id, keeps_text, is_task } = self;
        let started_at = Instant::now();
        events.send(started(&agent, &turn_id));
        let runner = TurnRunner {
            services: &services,
            owner: &owner,
            membership: &membership,
            agent: &agent,
            language: agent.locale.language.unwrap_or_else(|| language_of(&input)),
            deadline,
            turn_id: &turn_id,
            events: &events,
            request: &request,
            conversation_id: "",
            earlier_calls: 0,
            started_at,
            keeps_text,
            is_task,
            question: OnceLock::new(),
        };
        log_accepted(&agent);
        let answer = Box::pin(async {
            match input {
                Input::Prompt(input) => {
                    runner.load_model_state().await;
                    runner.answer(*input, None).await
                }
                Input::Call(call) => {
                    let context = runner.tool_context(SourceNumbers::default());
                    agent::run_call(&runner.agent.agent.tools, context, call, runner.events).await
                }
            }
        });
        let shutdown = services.registry.shutdown_token();
        let answered = tokio::select! {
            biased;
            answered = runner.run_guarded(&shutdown, answer) => answered,
            () = abandoned.cancelled() => Ok(FinishReason::Stopped),
        };
        tokio::join!(runner.record_usage(UsageScope::User(runner.owner)), runner.record_shared_usage());
        runner.report(answered.as_ref().map_or_else(|failure| Err(failure.code), |reason| Ok(*reason)), false);
        for event in closing_events(&events, None, answered) {
            events.send(event);
        }
    }
}

/// The language of the conversation's first user message, or of a call.
fn language_of(input: &Input) -> Language {
    let input = match input {
        Input::Prompt(input) => input,
        Input::Call(call) => return Language::of(&call.arguments.to_string()),
    };
    let earlier = input.history.iter().flat_map(|turn| &turn.messages);
    let first = earlier.filter_map(|message| match message {
        Message::User { text, .. } => Some(text),
        Message::Assistant { .. } | Message::Tool(_) => None,
    });
    Language::of(first.chain([&input.text]).next().unwrap_or(&input.text))
}

fn started(agent: &ResolvedAgent, turn_id: &str) -> Event {
    let model = agent.model_name().to_owned();
    Event::Started(Box::new(TurnStart {
        continues: false,
        conversation_id: String::new(),
        message_id: turn_id.to_owned(),
        model,
    }))
}
