//! Requests that may be sent twice: `Idempotency-Key`.

use std::time::{Duration, SystemTime};

use domain::{ErrorCode, new_id};
use store::IdempotencyStatus;
use tokio::time::{Instant, sleep};
use web::ApiError;

use crate::handle::TurnStream;
use crate::replay;
use crate::request::StartTurn;
use crate::services::TurnServices;
use crate::start::start;

/// Poll interval while another instance is about to start the turn.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// What makes two requests the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The client's key.
    pub key: String,
    /// What was requested: the same key with another fingerprint is a mistake of the client's.
    pub fingerprint: Vec<u8>,
}

/// Starts a turn. Repeating a request with the same key within 24 hours returns the same turn: live while it runs, replayed
/// once it has finished.
///
/// # Errors
/// `idempotency_mismatch` for a key that was used for another request; `turn_in_progress` if another instance has claimed
/// the key and started no turn until the deadline.
pub async fn start_or_replay(
    services: &TurnServices,
    key: Option<IdempotencyKey>,
    request: StartTurn,
) -> Result<TurnStream, ApiError> {
    let turn_id = new_id();
    let Some(IdempotencyKey { key, fingerprint }) = key else {
        return Ok(start(services, turn_id, request).await?.1);
    };
    let idempotency = &services.store.idempotency;
    loop {
        match idempotency.claim(&request.owner, &key, &fingerprint, &turn_id, SystemTime::now()).await? {
            IdempotencyStatus::New(claim) => {
                let started = start(services, turn_id, request).await;
                match &started {
                    Ok((lease, _)) => idempotency.record(&claim, lease).await?,
                    Err(_) => idempotency.release(&claim).await?,
                }
                return Ok(started?.1);
            }
            IdempotencyStatus::Existing(turn) => {
                return replay::repeated(services, &request.owner, turn, request.deadline).await;
            }
            IdempotencyStatus::Mismatch => return Err(ErrorCode::IdempotencyMismatch.into()),
            IdempotencyStatus::Pending if Instant::now() + POLL_INTERVAL < request.deadline => {
                sleep(POLL_INTERVAL).await;
            }
            IdempotencyStatus::Pending => return Err(ErrorCode::TurnInProgress.into()),
        }
    }
}
