use http::Method;
use tokio::time::Instant;

use super::Verdict;
use crate::Fault;
use crate::door::Request;
use crate::visit::Visit;

/// A route that needs authentication.
const GUARDED: &str = "/api/conversations?limit=1";

pub(super) async fn health(visit: &mut Visit) -> Result<Verdict, Fault> {
    let asked = Instant::now();
    let answer = visit.target.answered(Request::new(Method::GET, "/healthz"), visit.wish.limits.answer).await?;
    answer.must_be(200)?;
    let body = answer.json();
    let text = |field: &str| body.get(field).and_then(|value| value.as_str()).unwrap_or_default();
    Fault::unless(text("status") == "ok", "the status ok", || "another".to_owned())?;
    Ok(Verdict::Passed(format!("version {}, {} ms", text("version"), asked.elapsed().as_millis())))
}

pub(super) async fn page(visit: &mut Visit) -> Result<Verdict, Fault> {
    let answer = visit.target.answered(Request::new(Method::GET, "/"), visit.wish.limits.answer).await?;
    answer.must_be(200)?;
    Fault::unless(answer.content_type.starts_with("text/html"), "a page", || "something else".to_owned())?;
    Ok(Verdict::Passed(format!("{} bytes", answer.body.len())))
}

pub(super) async fn access(visit: &mut Visit) -> Result<Verdict, Fault> {
    let limit = visit.wish.limits.answer;
    let bare = visit.target.answered(Request::new(Method::GET, GUARDED), limit).await?;
    if bare.status == 200 && visit.target.is_here() && !visit.target.has_key() {
        return Ok(Verdict::Skipped("this server on this machine answers without a key".to_owned()));
    }
    Fault::unless(bare.status == 401, "401 without a key", || bare.said())?;
    let wrong = Request::new(Method::GET, GUARDED).header("x-api-key", "not-a-key");
    let wrong = visit.target.answered(wrong, limit).await?;
    Fault::unless(wrong.status == 401, "401 with a wrong key", || wrong.said())?;
    let right = visit.ask(Method::GET, GUARDED).await?;
    let expected = if visit.target.has_key() { "200 with the key" } else { "a key to be given (--key-from)" };
    Fault::unless(right.status == 200, expected, || right.said())?;
    Ok(Verdict::Passed("401 without a key, 401 with a wrong one, 200 with this one".to_owned()))
}
