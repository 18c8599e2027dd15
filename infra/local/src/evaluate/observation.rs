use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use domain::{AnswerDelta, Event, Note, ToolCall, ToolEvent, Usage};
use llm::{ModelClient, ResponseRecorder, ToolMode};
use tokio::time::Instant;
use tools::ToolRun;

/// What happened in a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Observation {
    /// The shown text.
    pub(super) text: String,
    /// The calls of the model, in their order.
    pub(super) calls: Vec<ObservedCall>,
    /// Calls of models.
    pub(super) rounds: u32,
    /// How the model was given tools last; `None` if it was not called.
    pub(super) tool_mode: Option<ToolMode>,
    /// From the request to the first shown text.
    pub(super) first_token: Option<Duration>,
    pub(super) usage: Usage,
    /// The name of the model that took over.
    pub(super) other_model: Option<String>,
    /// The error code of a failed turn.
    pub(super) failure: Option<String>,
    /// Whether the turn ended with an answer.
    pub(super) is_done: bool,
}

/// A call of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObservedCall {
    pub(super) call: ToolCall,
    /// The code of its failure.
    pub(super) failure: Option<String>,
}

/// Observes the turns of a product that runs one turn at a time; clones share their state.
#[derive(Clone, Default)]
pub(super) struct TurnObserver(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    started_at: Option<Instant>,
    observation: Observation,
}

impl TurnObserver {
    /// Starts to observe a turn whose request is about to be sent.
    pub(super) fn start(&self) {
        *self.lock() = State { started_at: Some(Instant::now()), observation: Observation::default() };
    }

    /// Takes what was observed since [`start`](Self::start).
    pub(super) fn take(&self) -> Observation {
        std::mem::take(&mut *self.lock()).observation
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnRecorderFactory for TurnObserver {
    fn begin(&self, _agent: &Agent, _turn: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>> {
        Some(Arc::new(self.clone()))
    }
}

impl TurnRecorder for TurnObserver {
    fn on_event(&self, event: &Event) {
        let mut state = self.lock();
        let first_token = state.started_at.map(|start| start.elapsed());
        let observation = &mut state.observation;
        match event {
            Event::Delta(AnswerDelta::Text(delta)) => {
                observation.first_token = observation.first_token.or(first_token);
                observation.text.push_str(delta);
            }
            Event::Delta(AnswerDelta::Reclassified(characters)) => {
                domain::split_last_characters(&mut observation.text, *characters);
            }
            Event::Tool(ToolEvent::Call(call)) => {
                observation.calls.push(ObservedCall { call: (**call).clone(), failure: None });
            }
            Event::Tool(ToolEvent::Result(outcome)) => {
                if let Some(one) = observation.calls.iter_mut().rfind(|one| one.call.id == outcome.id) {
                    one.failure = outcome.error.as_ref().map(|error| error.code.clone());
                }
            }
            Event::Note(Note::ModelSwitched(model)) => observation.other_model = Some(model.to_string()),
            Event::Note(Note::Usage(usage)) => observation.usage = **usage,
            Event::End(Err(failure)) => observation.failure = Some(failure.code.as_str().to_owned()),
            Event::End(Ok(_)) => observation.is_done = true,
            Event::Started(_)
            | Event::Delta(AnswerDelta::Thinking(_))
            | Event::Tool(ToolEvent::Progress(_) | ToolEvent::ClientCall(_))
            | Event::Note(Note::EarlierSource(_) | Note::Title(_)) => {}
        }
    }

    fn on_model_call(&self, _model: &ModelClient, tool_mode: ToolMode) -> Arc<dyn ResponseRecorder> {
        let mut state = self.lock();
        state.observation.rounds += 1;
        state.observation.tool_mode = Some(tool_mode);
        Arc::new(NoRecorder)
    }

    fn on_tool_result(&self, _call: &ToolCall, _run: Option<&ToolRun>) {}
}

/// Ignores the bytes of responses.
struct NoRecorder;

impl ResponseRecorder for NoRecorder {}
