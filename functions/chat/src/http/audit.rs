//! The audit trail: one line in the log and one stored entry for each change by an administrator, each export and erasure,
//! and each rejection. Neither contains text or a secret.

use std::panic::AssertUnwindSafe;
use std::time::SystemTime;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::{ErrorCode, RequestOrigin, is_id};
use futures_util::FutureExt;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AuditEntry, Day};
use tracing::Instrument;
use web::{Administrator, ApiError, Caller};

use super::extract::{ParsedQuery, PathId};
use super::usage::{MAX_DAYS, parse_days};
use crate::{App, Result};

/// The target of the lines in the log.
pub(crate) const AUDIT: &str = "audit";

/// The action of a rejected credential.
const REJECTED: &str = "credential.rejected";

/// The action of a caller without the rights for a route that changes nothing.
const DENIED: &str = "access.denied";

/// What the handler of a request changed, as ids or an owner; an extension of its response. By default it is the id in the
/// path.
#[derive(Clone)]
pub(crate) struct Changed(pub(crate) String);

/// The action of a route that changes something or exports data.
fn action(method: &Method, route: &str) -> Option<&'static str> {
    Some(match (method.as_str(), route) {
        ("POST", "/api/admin/agents") => "agent.create",
        ("PUT", "/api/admin/agents/{id}") => "agent.replace",
        ("DELETE", "/api/admin/agents/{id}") => "agent.delete",
        ("POST", "/api/admin/tools") => "tool.create",
        ("PUT", "/api/admin/tools/{id}") => "tool.replace",
        ("DELETE", "/api/admin/tools/{id}") => "tool.delete",
        ("POST", "/api/admin/tools/import") => "tool.import",
        ("POST", "/api/admin/tools/{id}/test") => "tool.test",
        ("POST", "/api/admin/keys") => "key.create",
        ("PUT", "/api/admin/keys/{id}") => "key.replace",
        ("DELETE", "/api/admin/keys/{id}") => "key.revoke",
        ("POST", "/api/admin/articles") => "article.create",
        ("PUT", "/api/admin/articles/{id}") => "article.replace",
        ("DELETE", "/api/admin/articles/{id}") => "article.delete",
        ("POST", "/api/conversations/{id}/shares") => "share.create",
        ("DELETE", "/api/conversations/{id}/shares/{share}") => "share.revoke",
        ("GET", "/api/me/export") => "user.export",
        ("DELETE", "/api/me") => "user.erase",
        _ => return None,
    })
}

/// Records what a request changed, or that it was forbidden, before its response leaves.
pub(crate) async fn record_changes(
    State(app): State<App>,
    Extension(origin): Extension<RequestOrigin>,
    route: MatchedPath,
    id: Result<PathId>,
    caller: Result<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let Some(action) = action(request.method(), route.as_str()) else {
        let response = next.run(request).await;
        if response.status() == StatusCode::FORBIDDEN {
            let entry = new_entry(DENIED, caller.as_ref().ok(), None, response.status(), route.as_str(), &origin);
            record_rejection(&app, "forbidden", entry).await;
        }
        return response;
    };
    let change = async move {
        // A change may be stored before a panic.
        let response = AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(action, "a handler panicked");
            ApiError::from(ErrorCode::Internal).into_response()
        });
        let (caller, id) = (caller.ok(), id.ok().map(|PathId(id)| id));
        // What a failed request has instead of an id may be text.
        let id = id.filter(|id| response.status().is_success() || is_id(id));
        let changed = response.extensions().get().map(|Changed(ids)| ids.clone()).or(id).filter(|ids| !ids.is_empty());
        let entry = new_entry(action, caller.as_ref(), changed, response.status(), route.as_str(), &origin);
        if response.status() == StatusCode::FORBIDDEN {
            record_rejection(&app, "forbidden", entry).await;
        } else {
            log(&entry);
            store(&app, &entry).await;
        }
        response
    };
    // A task of its own, because a client that leaves must not keep a change out of the trail.
    let handled = tokio::spawn(change.in_current_span()).await;
    handled.unwrap_or_else(|error| ApiError::caused_by(ErrorCode::Internal, error).into_response())
}

/// Records that a credential of this kind was rejected.
pub(crate) async fn record_rejected_credential(
    app: &App,
    kind: &'static str,
    status: StatusCode,
    route: &str,
    origin: &RequestOrigin,
) {
    let entry = AuditEntry { caller: kind.to_owned(), ..new_entry(REJECTED, None, None, status, route, origin) };
    record_rejection(app, kind, entry).await;
}

fn new_entry(
    action: &str,
    caller: Option<&Caller>,
    target: Option<String>,
    status: StatusCode,
    route: &str,
    origin: &RequestOrigin,
) -> AuditEntry {
    AuditEntry {
        caller: caller.map_or("none", |caller| caller.owner.as_str()).to_owned(),
        action: action.to_owned(),
        target,
        route: Some(route.to_owned()),
        status: Some(status.as_u16()),
        request_id: origin.request_id.clone(),
        count: None,
    }
}

async fn record_rejection(app: &App, kind: &'static str, entry: AuditEntry) {
    log(&entry);
    if let Some(count) = app.rejections.count(kind, SystemTime::now()) {
        store(app, &AuditEntry { count: Some(count).filter(|count| *count > 1), ..entry }).await;
    }
}

fn log(AuditEntry { caller, action, target: id, route, status, request_id, .. }: &AuditEntry) {
    let (id, route) = (id.as_deref(), route.as_deref());
    tracing::info!(target: AUDIT, caller, action, id, route, status, requestId = request_id, "recorded");
}

/// A failure is logged: a change that is done stays done.
async fn store(app: &App, entry: &AuditEntry) {
    if let Err(error) = app.store.audit.record(entry, SystemTime::now()).await {
        tracing::error!(%error, "an entry of the audit trail could not be stored");
    }
}

#[derive(Deserialize)]
pub(crate) struct AuditQuery {
    days: Option<String>,
    cursor: Option<String>,
}

/// `GET /api/admin/audit`: the entries of the last days, the newest first.
pub(crate) async fn list(
    State(app): State<App>,
    _: Administrator,
    ParsedQuery(query): ParsedQuery<AuditQuery>,
) -> Result<Json<Value>> {
    let (today, days) = (Day::of(SystemTime::now()), parse_days(query.days.as_deref(), MAX_DAYS)?);
    let page = app.store.audit.list(today.before(days - 1), today, query.cursor.as_deref()).await?;
    Ok(Json(json!({ "entries": page.items, "nextCursor": page.next_cursor })))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use axum::routing::delete;
    use platform::settings::Settings;
    use tower::ServiceExt;
    use web::Platform;

    use super::*;
    use crate::Config;

    async fn start_app() -> App {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()));
        let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", url.as_str())]);
        let http = platform::transport::build_client().unwrap();
        let config = Config::from_settings(&settings, Platform::Local, http).unwrap();
        let aws = store::sdk_config(&settings).unwrap();
        store::create_tables(&aws, &config.tables).await.unwrap();
        App::new(config, &aws)
    }

    async fn panic_after_change() -> StatusCode {
        panic!("after the change")
    }

    #[tokio::test]
    async fn change_of_panicking_handler_is_recorded() {
        let app = start_app().await;
        let id = domain::new_id();
        let origin = RequestOrigin {
            request_id: domain::new_id(),
            received_at: Instant::now(),
            deadline: None,
            trace_parent: None,
            admitted_after: std::sync::Arc::default(),
        };
        let routes = Router::new()
            .route("/api/admin/agents/{id}", delete(panic_after_change))
            .route_layer(from_fn_with_state(app.clone(), record_changes))
            .route_layer(from_fn_with_state(app.auth.clone(), web::authenticate))
            .layer(Extension(origin))
            .with_state(app.clone());
        let request = Request::delete(format!("/api/admin/agents/{id}")).body(Body::empty()).unwrap();
        assert_eq!(routes.oneshot(request).await.unwrap().status(), StatusCode::INTERNAL_SERVER_ERROR);
        let today = Day::of(SystemTime::now());
        let listed = app.store.audit.list(today.before(1), today, None).await.unwrap().items;
        let entry = &listed[0].entry;
        assert_eq!(
            (entry.action.as_str(), entry.target.as_deref(), entry.status),
            ("agent.delete", Some(&*id), Some(500))
        );
    }
}
