use http::Method;
use tokio::time::Instant;

use super::CheckStatus;
use crate::CheckFailure;
use crate::session::Session;
use crate::transports::Request;

/// A route that needs authentication.
const PROTECTED_PATH: &str = "/api/conversations?limit=1";

pub(super) async fn check_health(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let requested_at = Instant::now();
    let response = session.target.fetch(Request::new(Method::GET, "/healthz"), session.options.timeouts.answer).await?;
    response.expect_status(200)?;
    let body = response.json();
    let text = |field: &str| body.get(field).and_then(|value| value.as_str()).unwrap_or_default();
    CheckFailure::ensure(text("status") == "ok", "the status ok", || "another".to_owned())?;
    Ok(CheckStatus::Passed(format!("version {}, {} ms", text("version"), requested_at.elapsed().as_millis())))
}

pub(super) async fn check_page(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let response = session.target.fetch(Request::new(Method::GET, "/"), session.options.timeouts.answer).await?;
    response.expect_status(200)?;
    CheckFailure::ensure(response.content_type.starts_with("text/html"), "a page", || "something else".to_owned())?;
    Ok(CheckStatus::Passed(format!("{} bytes", response.body.len())))
}

pub(super) async fn check_access(session: &mut Session) -> Result<CheckStatus, CheckFailure> {
    let limit = session.options.timeouts.answer;
    let bare = session.target.fetch(Request::new(Method::GET, PROTECTED_PATH), limit).await?;
    if bare.status == 200 && session.target.is_local && !session.target.has_key() {
        return Ok(CheckStatus::Skipped("this server on this machine answers without a key".to_owned()));
    }
    CheckFailure::ensure(bare.status == 401, "401 without a key", || bare.status_and_code())?;
    let wrong = Request::new(Method::GET, PROTECTED_PATH).header("x-api-key", "not-a-key");
    let wrong = session.target.fetch(wrong, limit).await?;
    CheckFailure::ensure(wrong.status == 401, "401 with a wrong key", || wrong.status_and_code())?;
    let right = session.fetch(Method::GET, PROTECTED_PATH).await?;
    let expected = if session.target.has_key() { "200 with the key" } else { "a key to be given (--key-from)" };
    CheckFailure::ensure(right.status == 200, expected, || right.status_and_code())?;
    Ok(CheckStatus::Passed("401 without a key, 401 with a wrong one, 200 with this one".to_owned()))
}
