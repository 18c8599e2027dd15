use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use chat::{App, Config, TitleModel};
use commands::CommandError;
use domain::{AnswerDelta, CallState, Event, Note, ToolCall, TurnAccumulator, Usage};
use http_body_util::BodyExt;
use llm::{ModelClient, OnlyFor, ResponseRecorder, ToolMode};
use local_dynamodb::{Data, EmbeddedDatabase};
use platform::settings::Settings;
use serde_json::{Value, json};
use store::RateLimit;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;
use web::{AuthConfig, Exposure, Platform};
use work::lock;

use super::question::{Expectation, Question};

/// The time limit of one question, if `TURN_SECONDS` is not lower.
const MAX_TURN_DURATION: Duration = Duration::from_mins(2);

/// No evaluation reaches this rate.
const NO_LIMIT: RateLimit = RateLimit { burst: 1_000_000, window: Duration::from_mins(1) };

const DOCUMENTS_AGENT: &str = "documents";

/// The caller of turns, for a model without `onlyFor`.
const CALLER: &str = "evaluate";

/// The whole product in this process, with a new database in memory.
pub(super) struct Product {
    pub(super) app: App,
    routes: Router,
    observer: TurnObserver,
    /// Whether the search finds demo pages only.
    pub(super) demo_search: bool,
    _demo: DropGuard,
    _database: EmbeddedDatabase,
}

impl Product {
    /// Assembles the product with models, search and budgets as configured, but without authentication, rate limits and
    /// recordings. Without a configured search, `start_demo` serves the demo pages.
    pub(super) async fn start(
        mut config: Config,
        mut settings: Settings,
        start_demo: impl AsyncFnOnce(&mut Config, &mut Settings, &CancellationToken) -> Result<bool, CommandError>,
    ) -> Result<Self, CommandError> {
        let observer = TurnObserver::default();
        let stop = CancellationToken::new();
        let demo_search = start_demo(&mut config, &mut settings, &stop).await?;
        config.auth = AuthConfig::from_settings(&Settings::default(), Platform::Local)?;
        config.exposure = Exposure::Public;
        config.chat_limit = NO_LIMIT;
        config.title_model = TitleModel::None;
        config.search.iter_mut().for_each(|search| search.limit = NO_LIMIT);
        config.max_turn_duration = config.max_turn_duration.min(MAX_TURN_DURATION);
        config.recorder = Some(Arc::new(observer.clone()));
        let database = EmbeddedDatabase::start(&Data::Memory, None)?;
        let aws = local_dynamodb::sdk_config(Some(&database), &mut settings)?;
        store::create_tables(&aws, &config.tables).await?;
        let app = App::new(config, &aws);
        let routes = app.router();
        Ok(Self { app, routes, observer, demo_search, _demo: stop.drop_guard(), _database: database })
    }

    /// Runs a turn with a new conversation, and returns what happened.
    pub(super) async fn answer(&self, model: &ModelClient, question: &Question) -> Observation {
        let config = model.config();
        let caller = match &config.only_for {
            Some(OnlyFor::Caller(name)) => name,
            _ => CALLER,
        };
        let mut body = json!({ "message": question.text, "modelType": config.name, "userId": caller, "stream": false });
        if question.expectation == Expectation::Documents {
            body["agentId"] = DOCUMENTS_AGENT.into();
        }
        self.observer.start();
        let document = self.send(&body).await;
        let mut observation = self.observer.take();
        if !observation.is_done && observation.failure.is_none() {
            observation.failure = document["error"]["code"].as_str().map(str::to_owned);
        }
        observation
    }

    /// Returns the document of a turn, or of the error; null if there is none.
    async fn send(&self, body: &Value) -> Value {
        let request = Request::post("/api/chat").header(header::CONTENT_TYPE, "application/json");
        let Ok(request) = request.body(Body::from(body.to_string())) else { return Value::Null };
        let Ok(response) = self.routes.clone().oneshot(request).await;
        let Ok(body) = response.into_body().collect().await else { return Value::Null };
        serde_json::from_slice(&body.to_bytes()).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Observation {
    pub(super) text: String,
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

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObservedCall {
    pub(super) call: ToolCall,
    pub(super) failure: Option<String>,
}

/// Observes the turns of a product that runs one turn at a time; clones share their state.
#[derive(Clone, Default)]
pub(super) struct TurnObserver(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    started_at: Option<Instant>,
    turn: TurnAccumulator,
    /// What the turn's sum does not have.
    observation: Observation,
}

impl From<CallState> for ObservedCall {
    fn from(CallState { call, outcome, .. }: CallState) -> Self {
        Self { call, failure: outcome.and_then(|outcome| Some(outcome.error?.code)) }
    }
}

impl TurnObserver {
    /// Starts to observe a turn whose request is about to be sent.
    pub(super) fn start(&self) {
        *lock(&self.0) = State { started_at: Some(Instant::now()), ..State::default() };
    }

    /// Takes what was observed since [`start`](Self::start).
    pub(super) fn take(&self) -> Observation {
        let State { turn, observation, .. } = std::mem::take(&mut *lock(&self.0));
        Observation {
            text: turn.content,
            calls: turn.calls.into_iter().map(ObservedCall::from).collect(),
            usage: turn.usage.unwrap_or_default(),
            is_done: matches!(turn.end, Some(Ok(_))),
            failure: turn.end.and_then(Result::err).map(|failure| failure.code.as_str().to_owned()),
            ..observation
        }
    }
}

impl TurnRecorderFactory for TurnObserver {
    fn begin(&self, _agent: &Agent, _turn: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>> {
        Some(Arc::new(self.clone()))
    }
}

impl TurnRecorder for TurnObserver {
    fn on_event(&self, event: &Event) {
        let mut state = lock(&self.0);
        let elapsed = state.started_at.map(|start| start.elapsed());
        if let Event::Delta(AnswerDelta::Text(_)) = event {
            state.observation.first_token = state.observation.first_token.or(elapsed);
        }
        if let Event::Note(Note::ModelSwitched(model)) = event {
            state.observation.other_model = Some(model.to_string());
        }
        state.turn.apply(event);
    }

    fn on_model_call(&self, _model: &ModelClient, tool_mode: ToolMode) -> Option<Arc<dyn ResponseRecorder>> {
        let mut state = lock(&self.0);
        state.observation.rounds += 1;
        state.observation.tool_mode = Some(tool_mode);
        None
    }
}
