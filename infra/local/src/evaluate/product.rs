use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use chat::{App, Config};
use http_body_util::BodyExt;
use llm::ModelClient;
use platform::settings::Settings;
use serde_json::{Value, json};
use store::RateLimit;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;
use web::{AuthConfig, Exposure, Platform};

use super::observation::{Observation, TurnObserver};
use super::question::{Expectation, Question};
use crate::database::{self, Data, EmbeddedDatabase};
use crate::{StartError, server};

/// The time limit of one question, if `TURN_SECONDS` is not lower.
const MAX_TURN_DURATION: Duration = Duration::from_mins(2);

/// No evaluation reaches this rate.
const NO_LIMIT: RateLimit = RateLimit { burst: 1_000_000, window: Duration::from_mins(1) };

/// The agent that answers from documents.
const DOCUMENTS_AGENT: &str = "documents";

/// The caller of turns, for a model without `onlyFor`.
const CALLER: &str = "evaluate";

/// The whole product in this process, with a new database in memory.
pub(super) struct Product {
    app: App,
    routes: Router,
    observer: TurnObserver,
    demo_search: bool,
    _demo: DropGuard,
    _database: EmbeddedDatabase,
}

impl Product {
    /// Assembles the product with models, search and budgets as configured, but without authentication, rate limits and
    /// recordings. Without a configured search, the demo pages are served.
    pub(super) async fn start(mut config: Config, mut settings: Settings) -> Result<Self, StartError> {
        let observer = TurnObserver::default();
        let stop = CancellationToken::new();
        let demo_search = server::start_demo_endpoints(&mut config, &mut settings, &stop).await?;
        config.auth = AuthConfig::from_settings(&Settings::default(), Platform::Local)?;
        config.exposure = Exposure::Public;
        config.chat_limit = NO_LIMIT;
        config.search.iter_mut().for_each(|search| search.limit = NO_LIMIT);
        config.max_turn_duration = config.max_turn_duration.min(MAX_TURN_DURATION);
        config.recorder = Some(Arc::new(observer.clone()));
        let database = EmbeddedDatabase::start(&Data::Memory, None)?;
        let aws = database::sdk_config(Some(&database), &mut settings)?;
        store::create_tables(&aws, &config.tables).await?;
        let app = App::new(config, &aws);
        let routes = app.router();
        Ok(Self { app, routes, observer, demo_search, _demo: stop.drop_guard(), _database: database })
    }

    /// Whether the search finds demo pages only.
    pub(super) fn has_demo_search(&self) -> bool {
        self.demo_search
    }

    /// Runs a turn with a new conversation, and returns what happened.
    pub(super) async fn answer(&self, model: &ModelClient, question: &Question) -> Observation {
        let config = model.config();
        let caller = config.only_for.as_deref().unwrap_or(CALLER);
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

    /// Stops running turns.
    pub(super) async fn shut_down(&self) {
        self.app.shut_down().await;
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
