//! The chat function: its routes, the definitions of agents and tools, and its settings.
//!
//! A request enters at the route table and is parsed in `http`, which resolves its agent by `definitions` and starts or
//! resumes a turn through the crate `turns`. `App::new` is the only assembly: Lambda, the local server and the tests share it.

mod app;
mod config;
mod definitions;
mod document_root;
mod http;
mod imported;
mod lambda;
mod parsing;
mod rejections;
mod upload;

use std::time::SystemTime;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::{Extension, Router};
use domain::{Failure, RequestOrigin};
use web::RejectedCredential;
use work::watch_slow_work;

pub use app::App;
pub use config::Config;
pub use definitions::TitleModel;
pub use document_root::{DOCUMENTS_DIR, DocumentRoot};
pub use lambda::run;
pub use turns::{Budget, Budgets, LOG_FLUSH_INTERVAL, LOG_GRACE_PERIOD, Metrics, STAGES, Traces};

use self::http::admin::{Agents, Tools};
use self::http::routing::{any, delete, get, patch, post, put};
use self::http::{
    account, admin, ai_sdk, attachments, audit, catalog, chat, conversations, documents, embeddings, export, feedback,
    import, mcp, openai, page, responses, shares, usage,
};

/// The version with the commit that was built.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("LAMBDA_CHAT_COMMIT"), ")");

/// The result of what a request needs; an error is its response.
type Result<T, E = web::ApiError> = std::result::Result<T, E>;

impl App {
    /// The routes, with the layers that every response passes.
    pub fn router(&self) -> Router {
        let routes = routes(self.clone()).layer(from_fn_with_state(self.clone(), observe));
        web::wrap_routes(routes, self.config.origins.clone(), self.config.exposure)
    }
}

fn routes(app: App) -> Router {
    let authenticated =
        |routes: Router<App>| routes.route_layer(from_fn_with_state(app.auth.clone(), web::authenticate));
    let ai_sdk_routes = ai_sdk::ERRORS.apply_to(authenticated(ai_sdk_routes()));
    let openai_routes = authenticated(openai_routes()).route("/v1/{*rest}", any(openai::not_found));
    let openai_routes = openai::ERRORS.apply_to(openai_routes);
    let mcp_routes = authenticated(Router::new().route("/mcp", post(mcp::serve)));
    let mcp_routes = mcp::ERRORS.apply_to(mcp_routes.layer(from_fn_with_state(app.clone(), mcp::guard)));
    let audited = administration_routes().route_layer(from_fn_with_state(app.clone(), audit::record_changes));
    let api_routes = authenticated(api_routes().merge(audited));
    let shared = share_routes().route_layer(from_fn_with_state(app.auth.clone(), web::limit_reads));
    let all =
        public_routes().merge(shared).merge(api_routes).merge(ai_sdk_routes).merge(openai_routes).merge(mcp_routes);
    all.with_state(app)
}

fn public_routes() -> Router<App> {
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{file}", get(page::asset))
        .route("/healthz", get(catalog::health))
        .route("/openapi.json", get(page::description))
        .route("/api/auth", get(catalog::auth))
        .route("/.well-known/oauth-protected-resource", get(mcp::metadata))
        .route("/.well-known/oauth-protected-resource/mcp", get(mcp::metadata))
}

/// What everyone reads who has the id of a share.
fn share_routes() -> Router<App> {
    Router::new()
        .route("/share/{id}", get(page::share))
        .route("/share/assets/{file}", get(page::asset))
        .route("/api/shares/{id}", get(shares::read))
}

fn api_routes() -> Router<App> {
    Router::new()
        .route("/api/chat", post(chat::chat))
        .route("/api/agent", post(chat::agent))
        .route("/api/conversations", get(conversations::list))
        .route(
            "/api/conversations/{id}",
            get(conversations::read).merge(patch(conversations::edit)).merge(delete(conversations::delete)),
        )
        .route("/api/conversations/{id}/stop", post(chat::stop))
        .route("/api/conversations/{id}/regenerate", post(chat::regenerate))
        .route("/api/conversations/{id}/continue", post(chat::continue_answer))
        .route("/api/conversations/{id}/branch", put(conversations::select_branch))
        .route("/api/conversations/{id}/messages/{messageId}", delete(conversations::delete_message))
        .route("/api/conversations/{id}/stream", get(chat::resume))
        .route("/api/conversations/{id}/export", get(export::conversation))
        .route("/api/conversations/import", post(import::import))
        .route(
            "/api/conversations/{id}/messages/{messageId}/feedback",
            put(feedback::put).merge(delete(feedback::delete)),
        )
        .route("/api/documents/{*path}", get(documents::read))
        .route("/api/attachments", post(attachments::upload))
        .route("/api/attachments/uploads", post(attachments::begin))
        .route("/api/attachments/{id}", get(attachments::content).merge(delete(attachments::remove)))
        .route("/api/attachments/{id}/content", post(attachments::receive))
        .route("/api/attachments/{id}/complete", post(attachments::complete))
        .route("/api/attachments/{id}/text", get(attachments::text))
        .route("/api/pictures", get(attachments::picture))
        .route("/api/me/instructions", get(account::instructions).merge(put(account::replace_instructions)))
        .route("/api/models", get(catalog::models))
        .route("/api/tools", get(catalog::tools))
        .route("/api/agents", get(catalog::agents))
}

/// The routes of administrators and of what callers publish, export and erase, whose changes the audit trail has.
fn administration_routes() -> Router<App> {
    let routes = Router::new()
        .route("/api/admin/audit", get(audit::list))
        .route("/api/admin/usage", get(admin::usage::table))
        .route("/api/admin/executions", get(admin::executions::list))
        .route("/api/admin/executions/{id}", get(admin::executions::get))
        .route("/api/admin/feedback", get(feedback::list))
        .route("/api/admin/agents", get(admin::list::<Agents>).merge(post(admin::create::<Agents>)))
        .route(
            "/api/admin/agents/{id}",
            get(admin::get::<Agents>).merge(put(admin::replace::<Agents>)).merge(delete(admin::delete::<Agents>)),
        )
        .route("/api/admin/keys", get(admin::keys::list).merge(post(admin::keys::create)))
        .route(
            "/api/admin/keys/{id}",
            get(admin::keys::get).merge(put(admin::keys::replace)).merge(delete(admin::keys::revoke)),
        )
        .route("/api/admin/tools", get(admin::list::<Tools>).merge(post(admin::create::<Tools>)))
        .route("/api/admin/tools/import", post(admin::import::import))
        .route(
            "/api/admin/tools/{id}",
            get(admin::get::<Tools>).merge(put(admin::replace::<Tools>)).merge(delete(admin::delete::<Tools>)),
        )
        .route("/api/admin/tools/{id}/test", post(admin::test_call::run))
        .route("/api/conversations/{id}/shares", get(shares::list).merge(post(shares::create)))
        .route("/api/conversations/{id}/shares/{share}", delete(shares::revoke))
        .route("/api/usage", get(usage::usage))
        .route("/api/me", get(account::describe).merge(delete(account::erase)))
        .route("/api/me/export", get(account::export));
    #[cfg(feature = "articles")]
    let routes =
        routes.route("/api/admin/articles", get(admin::articles::list).merge(post(admin::articles::create))).route(
            "/api/admin/articles/{id}",
            get(admin::articles::get).merge(put(admin::articles::replace)).merge(delete(admin::articles::delete)),
        );
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
        .route("/v1/responses", post(responses::create))
        .route("/v1/responses/{id}", get(responses::retrieve).merge(delete(responses::delete)))
        .route("/v1/responses/{id}/cancel", post(responses::cancel))
        .route("/v1/embeddings", post(embeddings::create))
        .route("/v1/models", get(openai::list))
        .route("/v1/models/{*model}", get(openai::model))
}

/// Counts the requests that are rejected, records rejected credentials, and counts those whose handlers hold the serving thread for long.
async fn observe(
    State(app): State<App>,
    Extension(context): Extension<RequestOrigin>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("unknown path", MatchedPath::as_str);
    let response = watch_slow_work(path, next.run(request)).await;
    let rejected = response.extensions().get().copied();
    if let Some(RejectedCredential(kind)) = rejected {
        audit::record_rejected_credential(&app, kind, response.status(), path, &context).await;
    }
    if let Some(failure) = response.extensions().get::<Failure>() {
        app.config.metrics.request_rejected(failure.code, &context.request_id, SystemTime::now());
    }
    response
}
