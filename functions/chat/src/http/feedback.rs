//! Ratings of answers.

use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use domain::{Owner, StrictObject};
use http::StatusCode;
use serde_json::{Value, json};
use store::{Feedback, Rating};
use web::{Administrator, ApiError};

use super::extract::{JsonBody, Own, Paging, ParsedQuery};
use crate::{App, Result};

/// The longest reason, in characters.
const MAX_REASON: usize = 2_000;

/// `PUT …/messages/{messageId}/feedback`: rates an answer.
pub(crate) async fn put(
    Own { app, owner, id: ids }: Own<(String, String)>,
    JsonBody(body): JsonBody,
) -> Result<StatusCode> {
    let mut fields = StrictObject::parse(&body)?;
    let rating = match fields.take_string("rating")?.as_deref() {
        Some("up") => Rating::Up,
        Some("down") => Rating::Down,
        _ => return Err(fields.field_error("rating", "\"up\" or \"down\"").into()),
    };
    let feedback = Feedback { rating, reason: fields.take_non_blank("reason", MAX_REASON)? };
    rate(&app, &owner, &ids, Some(&feedback)).await
}

/// `DELETE …/messages/{messageId}/feedback`: removes the rating of an answer, if it has one.
pub(crate) async fn delete(Own { app, owner, id: ids }: Own<(String, String)>) -> Result<StatusCode> {
    rate(&app, &owner, &ids, None).await
}

async fn rate(
    app: &App,
    owner: &Owner,
    (id, message): &(String, String),
    feedback: Option<&Feedback>,
) -> Result<StatusCode> {
    let is_answer = app.store.conversations.rate(owner, id, message, feedback, SystemTime::now()).await?;
    let question = || ApiError::invalid_request("Only answers are rated: this message is a question");
    is_answer.then_some(StatusCode::NO_CONTENT).ok_or_else(question)
}

/// `GET /api/admin/feedback`: the ratings of the last year, the newest first.
pub(crate) async fn list(
    State(app): State<App>,
    _: Administrator,
    ParsedQuery(paging): ParsedQuery<Paging>,
) -> Result<Json<Value>> {
    let page = app.store.conversations.list_feedback(paging.cursor.as_deref(), SystemTime::now()).await?;
    Ok(Json(json!({ "feedback": page.items, "nextCursor": page.next_cursor })))
}
