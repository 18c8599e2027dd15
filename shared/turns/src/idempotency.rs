//! Requests that may be sent twice: `Idempotency-Key`.

use std::time::SystemTime;

use domain::{ErrorCode, Owner, TurnError};
use store::{IdempotencyClaim, IdempotencyStatus};
use tokio::time::Instant;

use crate::handle::TurnStream;
use crate::replay;
use crate::request::StartTurn;
use crate::services::TurnServices;
use crate::start::start;

/// What makes two requests the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The client's key.
    pub key: String,
    /// What was requested: the same key with another fingerprint is a mistake of the client's.
    pub fingerprint: Vec<u8>,
}

/// Starts a turn. Repeating a request with the same key within 24 hours returns the same turn: live while it runs, replayed
/// once it has finished, and interrupted if its process died.
///
/// # Errors
/// `idempotency_mismatch` for a key that was used for another request.
pub async fn start_or_replay(
    services: &TurnServices,
    key: Option<IdempotencyKey>,
    request: StartTurn,
) -> Result<TurnStream, TurnError> {
    let Some(key) = key else { return start(services, request, None).await };
    let (owner, deadline) = (request.owner.clone(), request.deadline);
    let claim = match find(services, &owner, &key, deadline).await? {
        KeyUse::Free(claim) => claim,
        KeyUse::Began(turn) => return Ok(turn),
    };
    match start(services, request, Some(claim)).await {
        Ok(turn) => Ok(turn),
        // The same request may have begun the turn meanwhile, here or at another instance.
        Err(error) => match find(services, &owner, &key, deadline).await? {
            KeyUse::Free(_) => Err(error),
            KeyUse::Began(turn) => Ok(turn),
        },
    }
}

/// What a key is used for so far.
enum KeyUse {
    Free(IdempotencyClaim),
    Began(TurnStream),
}

async fn find(
    services: &TurnServices,
    owner: &Owner,
    key: &IdempotencyKey,
    deadline: Instant,
) -> Result<KeyUse, TurnError> {
    let IdempotencyKey { key, fingerprint } = key;
    match services.store.idempotency.status(owner, key, fingerprint, SystemTime::now()).await? {
        IdempotencyStatus::New(claim) => Ok(KeyUse::Free(claim)),
        IdempotencyStatus::Existing(turn) => replay::repeated(services, owner, turn, deadline).await.map(KeyUse::Began),
        IdempotencyStatus::Mismatch => Err(ErrorCode::IdempotencyMismatch.into()),
        IdempotencyStatus::Pending => Err(ErrorCode::TurnInProgress.into()),
    }
}
