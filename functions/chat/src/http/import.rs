//! `POST /api/conversations/import`.

use std::sync::LazyLock;
use std::time::SystemTime;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use domain::{ErrorCode, Owner, derived_id, new_id};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use store::{IdempotencyStatus, TurnRef};
use web::Caller;
use work::FairSlots;

use super::extract::idempotency_key;
use crate::{App, Result, imported, parsing};

const MAX_BODY_BYTES: usize = 20 * 1024 * 1024;

/// Conversations of an import that are stored at a time.
const PARALLEL: usize = 2;

/// Imports of a process at the same time, of one owner one: each holds a body of up to 20 MiB until all of it is stored.
static IMPORTS: LazyLock<FairSlots<Owner>> = LazyLock::new(|| FairSlots::new(2));

/// Imports conversations, each as a whole or not at all.
///
/// The ids of the conversations derive from one that an idempotency key maps to: a repetition stores what is missing, and
/// has the same ids.
pub(crate) async fn import(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Value>)> {
    let key = idempotency_key(&headers)?;
    let _slot = IMPORTS.acquire(&owner).await.map_err(|_| ErrorCode::Internal)?;
    let body = web::read_json_body_up_to(&headers, body, MAX_BODY_BYTES).await?;
    let now = SystemTime::now();
    let parse = move || imported::parse(&body, now).map(|rows| (rows, store::fingerprint(&body)));
    let (rows, print) = parsing::parse(&owner, parsing::HEAVY, parse).await?;
    let seed = match key {
        Some(key) => seed_of_key(&app, &owner, &key, &print, now).await?,
        None => new_id(),
    };
    let outcomes = rows.into_iter().enumerate().map(async |(index, row)| {
        let (id, conversation) = (derived_id(&seed, index), row?);
        let stored = app.store.conversations.import(&owner, &id, &conversation).await;
        stored.map(|()| id).map_err(|error| {
            tracing::error!(%error, "a conversation could not be imported");
            error.code().message()
        })
    });
    // Collected, because the compiler cannot prove that futures made by a stream's own iterator may change threads.
    let mut outcomes = stream::iter(outcomes.collect::<Vec<_>>()).buffered(PARALLEL).enumerate();
    let (mut ids, mut skipped) = (Vec::new(), Vec::new());
    while let Some((index, outcome)) = outcomes.next().await {
        match outcome {
            Ok(id) => ids.push(id),
            Err(reason) => skipped.push(json!({ "index": index, "reason": reason })),
        }
    }
    Ok((StatusCode::CREATED, Json(json!({ "imported": ids, "skipped": skipped }))))
}

/// The ULID that a key maps to; a new one for a new key.
async fn seed_of_key(app: &App, owner: &Owner, key: &str, print: &str, now: SystemTime) -> Result<String> {
    // Keys of turns are others.
    let status = app.store.idempotency.status(owner, &format!("import\n{key}"), print.as_bytes(), now).await?;
    match status {
        IdempotencyStatus::Existing(TurnRef { turn_id, .. }) => Ok(turn_id),
        IdempotencyStatus::Mismatch => Err(ErrorCode::IdempotencyMismatch.into()),
        IdempotencyStatus::Pending => Err(ErrorCode::StorageBusy.into()),
        IdempotencyStatus::New(claim) => {
            let seed = new_id();
            // Otherwise an equal request has just taken it.
            if app.store.idempotency.record_import(&claim, &seed, now).await? {
                Ok(seed)
            } else {
                Err(ErrorCode::StorageBusy.into())
            }
        }
    }
}
