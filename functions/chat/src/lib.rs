//! The chat function: its routes, and the way of a turn.
//!
//! A request enters at the route table, is read in `chat`, begun in `begin` (or found again in `repeat`), and runs in `turn`,
//! a task of its own. That stores everything before the stream's last byte and writes down what happens
//! (`turn_log`) for readers elsewhere (`attach`). `App::new` is the only seam between Lambda, the local server and the tests.

mod admin;
mod agents;
mod answering;
mod app;
mod attach;
mod begin;
mod budgets;
mod capabilities;
mod catalog;
mod chat;
mod config;
mod conversations;
mod defined_tools;
mod elsewhere;
mod executions;
mod heavy;
mod lambda;
mod me;
mod metrics;
mod models;
mod observed;
mod openai;
mod outages;
mod page;
mod paging;
mod passing;
mod recent;
mod regenerate;
mod repeat;
mod retold;
mod rows;
mod running;
mod stop;
mod stream;
mod traces;
mod turn;
mod turn_log;
mod ui_chat;
mod upstreams;
mod usage;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, delete, get, post};

pub use app::App;
pub use budgets::{Budget, Budgets};
pub use config::Config;
pub use lambda::run;
pub use metrics::Metrics;
pub use traces::Traces;
pub use turn_log::{AFTER as LOG_AFTER, PERIOD as LOG_PERIOD};

/// The route table.
fn routes(app: App) -> Router {
    let authenticated =
        |routes: Router<App>| routes.route_layer(from_fn_with_state(app.auth.clone(), web::authenticate));
    let of_ai_sdk = ui_chat::ERRORS.of(authenticated(for_ai_sdk()));
    let of_openai = openai::ERRORS.of(authenticated(for_openai()).route("/v1/{*rest}", any(openai::nowhere)));
    let all = for_everybody().merge(authenticated(for_callers())).merge(of_ai_sdk).merge(of_openai);
    all.with_state(app)
}

/// For OpenAI's clients, whose errors have another shape.
fn for_openai() -> Router<App> {
    Router::new()
        .route("/v1/chat/completions", post(openai::completions))
        .route("/v1/models", get(openai::list))
        .route("/v1/models/{*model}", get(openai::model))
}

fn for_everybody() -> Router<App> {
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{file}", get(page::asset))
        .route("/healthz", get(catalog::health))
}

fn for_callers() -> Router<App> {
    Router::new()
        .route("/api/chat", post(chat::chat))
        .route("/api/agent", post(chat::agent))
        .route("/api/conversations", get(conversations::list))
        .route(
            "/api/conversations/{id}",
            get(conversations::read).patch(conversations::rename).delete(conversations::delete),
        )
        .route("/api/conversations/{id}/stop", post(stop::stop))
        .route("/api/conversations/{id}/regenerate", post(regenerate::regenerate))
        .route("/api/conversations/{id}/stream", get(stream::resume))
        .route("/api/models", get(catalog::models))
        .route("/api/tools", get(catalog::tools))
        .route("/api/agents", get(catalog::agents))
        .route("/api/admin/executions", get(admin::executions::list))
        .route("/api/admin/agents", get(admin::agents::list).post(admin::agents::create))
        .route(
            "/api/admin/agents/{id}",
            get(admin::agents::get).put(admin::agents::replace).delete(admin::agents::delete),
        )
        .route("/api/admin/tools", get(admin::tools::list).post(admin::tools::create))
        .route("/api/admin/tools/import", post(admin::import::import))
        .route("/api/admin/tools/{id}", get(admin::tools::get).put(admin::tools::replace).delete(admin::tools::delete))
        .route("/api/admin/tools/{id}/test", post(admin::trial::run))
        .route("/api/usage", get(usage::usage))
        .route("/api/me", delete(me::erase))
        .route("/api/me/export", get(me::export))
}

fn for_ai_sdk() -> Router<App> {
    Router::new().route("/api/ui/chat", post(ui_chat::chat)).route("/api/ui/chat/{id}/stream", get(ui_chat::resume))
}
