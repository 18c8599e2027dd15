//! The chat function: its routes, the definitions of agents and tools, and its settings.
//!
//! A request enters at the route table and is parsed in `http`, which resolves its agent by `definitions` and starts or
//! resumes a turn through the crate `turns`. `App::new` is the only assembly: Lambda, the local server and the tests share it.

mod app;
mod config;
mod definitions;
mod document_root;
mod http;
mod lambda;
mod parsing;

use std::time::SystemTime;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use domain::{Failure, RequestOrigin};
use work::watch_slow_work;

pub use app::App;
pub use config::Config;
pub use document_root::{DOCUMENTS_DIR, DocumentRoot};
pub use lambda::run;
pub use turns::{Budget, Budgets, LOG_FLUSH_INTERVAL, LOG_GRACE_PERIOD, Metrics, STAGES, Traces};

use self::http::admin::{Agents, Tools};
use self::http::{
    account, admin, ai_sdk, catalog, chat, conversations, documents, openai, page, regenerate, resume, stop, usage,
};

impl App {
    /// The routes, with the layers that every response passes.
    pub fn router(&self) -> Router {
        let routes = routes(self.clone()).layer(from_fn_with_state(self.clone(), observe));
        web::wrap_routes(routes, self.config.origins.clone(), self.config.exposure)
    }
}

/// The route table.
fn routes(app: App) -> Router {
    let authenticated =
        |routes: Router<App>| routes.route_layer(from_fn_with_state(app.auth.clone(), web::authenticate));
    let ai_sdk_routes = ai_sdk::ERRORS.apply_to(authenticated(ai_sdk_routes()));
    let openai_routes = authenticated(openai_routes()).route("/v1/{*rest}", any(openai::not_found));
    let openai_routes = openai::ERRORS.apply_to(openai_routes);
    let all = public_routes().merge(authenticated(api_routes())).merge(ai_sdk_routes).merge(openai_routes);
    all.with_state(app)
}

fn public_routes() -> Router<App> {
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{file}", get(page::asset))
        .route("/healthz", get(catalog::health))
        .route("/api/auth", get(catalog::auth))
}

fn api_routes() -> Router<App> {
    let routes = Router::new()
        .route("/api/chat", post(chat::chat))
        .route("/api/agent", post(chat::agent))
        .route("/api/conversations", get(conversations::list))
        .route(
            "/api/conversations/{id}",
            get(conversations::read).patch(conversations::rename).delete(conversations::delete),
        )
        .route("/api/conversations/{id}/stop", post(stop::stop))
        .route("/api/conversations/{id}/regenerate", post(regenerate::regenerate))
        .route("/api/conversations/{id}/stream", get(resume::resume))
        .route("/api/documents/{*path}", get(documents::read))
        .route("/api/models", get(catalog::models))
        .route("/api/tools", get(catalog::tools))
        .route("/api/agents", get(catalog::agents))
        .route("/api/admin/executions", get(admin::executions::list))
        .route("/api/admin/agents", get(admin::list::<Agents>).post(admin::create::<Agents>))
        .route(
            "/api/admin/agents/{id}",
            get(admin::get::<Agents>).put(admin::replace::<Agents>).delete(admin::delete::<Agents>),
        )
        .route("/api/admin/keys", get(admin::keys::list).post(admin::keys::create))
        .route("/api/admin/keys/{id}", get(admin::keys::get).put(admin::keys::replace).delete(admin::keys::revoke))
        .route("/api/admin/tools", get(admin::list::<Tools>).post(admin::create::<Tools>))
        .route("/api/admin/tools/import", post(admin::import::import))
        .route(
            "/api/admin/tools/{id}",
            get(admin::get::<Tools>).put(admin::replace::<Tools>).delete(admin::delete::<Tools>),
        )
        .route("/api/admin/tools/{id}/test", post(admin::test_call::run))
        .route("/api/usage", get(usage::usage))
        .route("/api/me", get(account::describe).delete(account::erase))
        .route("/api/me/export", get(account::export));
    #[cfg(feature = "articles")]
    let routes = routes
        .route("/api/admin/articles", get(admin::articles::list).post(admin::articles::create))
        .route("/api/admin/articles/{id}", get(admin::articles::get).delete(admin::articles::delete));
    routes
}

/// For the AI SDK, which expects errors as text.
fn ai_sdk_routes() -> Router<App> {
    Router::new().route("/api/ui/chat", post(ai_sdk::chat)).route("/api/ui/chat/{id}/stream", get(ai_sdk::resume))
}

/// For OpenAI's clients, which expect errors in another JSON form.
fn openai_routes() -> Router<App> {
    Router::new()
        .route("/v1/chat/completions", post(openai::completions))
        .route("/v1/models", get(openai::list))
        .route("/v1/models/{*model}", get(openai::model))
}

/// Counts the requests that are rejected, and those whose handlers hold the serving thread for long.
async fn observe(
    State(app): State<App>,
    Extension(context): Extension<RequestOrigin>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("unknown path", MatchedPath::as_str);
    let response = watch_slow_work(path, next.run(request)).await;
    if let Some(failure) = response.extensions().get::<Failure>() {
        app.config.metrics.request_rejected(failure.code, &context.request_id, SystemTime::now());
    }
    response
}
