//! Deletion of conversations with their running and completed turns.

use std::time::SystemTime;

use domain::{Owner, TurnError};
use store::{DeletionCounts, Store};

use crate::services::TurnServices;

/// Deletes a conversation with everything that is stored of its turns, and ends its running turn first.
///
/// # Errors
/// `not_found` for an unknown conversation, or the failure of the store.
pub async fn delete_conversation(
    services: &TurnServices,
    owner: &Owner,
    conversation_id: &str,
) -> Result<(), TurnError> {
    services.registry.cancel_deleted(owner, conversation_id);
    services.registry.forget_completed(owner, conversation_id);
    let Store { conversations, idempotency, executions, streams, .. } = &services.store;
    conversations.delete(owner, conversation_id).await?;
    idempotency.delete_for_conversation(owner, conversation_id).await?;
    executions.delete_for_conversation(owner, conversation_id).await?;
    streams.delete_logs(owner, conversation_id, None).await?;
    Ok(())
}

/// Deletes all data of an owner, including the API keys, and ends the owner's running turns first.
///
/// # Errors
/// `invalid_request` for the last administrator, or the failure of the store; some of the data may be deleted then.
pub async fn erase(services: &TurnServices, owner: &Owner) -> Result<DeletionCounts, TurnError> {
    // Before anything ends.
    services.store.keys.resign(owner).await?;
    services.registry.cancel_all_deleted(owner);
    let erased = services.store.erase(owner, services.limits.rate, SystemTime::now()).await;
    services.registry.forget_all_completed(owner);
    Ok(erased?)
}
