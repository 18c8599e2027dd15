//! Requests that may come twice: `Idempotency-Key`.

use std::time::{Duration, SystemTime};

use conversation::{ErrorCode, new_id};
use http::HeaderMap;
use store::Claimed;
use tokio::time::{Instant, sleep};
use web::ApiError;

use crate::App;
use crate::attach;
use crate::begin::{self, Asked, Told};
use crate::chat::storage;

/// The longest key, in characters.
const LONGEST_KEY: usize = 255;

/// How often a turn that another process is about to begin is looked for.
const LOOK: Duration = Duration::from_millis(500);

/// The request's idempotency key.
///
/// # Errors
/// `invalid_request` for a key that cannot be one.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| (1..=LONGEST_KEY).contains(&text.len()));
    let sentence = "`Idempotency-Key` must be 1 to 255 visible ASCII characters";
    text.map(|text| Some(text.to_owned())).ok_or_else(|| ApiError::new(ErrorCode::InvalidRequest, sentence))
}

/// Begins the turn, or attaches to the one that the same request began.
pub(crate) async fn once(app: &App, key: &str, body: &[u8], asked: Asked) -> Result<Told, ApiError> {
    let turn_id = new_id();
    loop {
        let claimed = app.store.idempotency.claim(&asked.owner, key, body, &turn_id, SystemTime::now()).await;
        match claimed.map_err(|error| storage(&error))? {
            Claimed::New(claim) => {
                // It runs as it is read: behind the next write, so that a repetition finds it from its first word on.
                let begun = begin::begin(app, turn_id, asked).await;
                let kept = match &begun {
                    Ok((lease, _)) => app.store.idempotency.record(&claim, lease).await,
                    Err(_) => app.store.idempotency.release(&claim).await,
                };
                kept.map_err(|error| storage(&error))?;
                return Ok(begun?.1);
            }
            Claimed::Known(turn) => return attach::known(app, &asked.owner, turn, asked.deadline).await,
            Claimed::Mismatch => return Err(ErrorCode::IdempotencyMismatch.into()),
            Claimed::Pending if Instant::now() + LOOK < asked.deadline => sleep(LOOK).await,
            Claimed::Pending => return Err(ErrorCode::TurnInProgress.into()),
        }
    }
}
