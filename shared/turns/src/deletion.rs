//! Deletion of conversations with their running and completed turns.

use std::time::SystemTime;

use domain::{Owner, TurnError};
use store::{DeletionCounts, ReadError, Store};

use crate::services::TurnServices;

/// Deletes a conversation with everything that is stored of its turns, and ends its running turn first.
///
/// # Errors
/// `not_found` for an unknown conversation, or the failure of the store.
pub async fn delete_conversation(services: &TurnServices, owner: &Owner, id: &str) -> Result<(), TurnError> {
    services.registry.cancel_deleted(owner, |of, _| of == id);
    services.registry.forget_completed(owner, Some(id));
    let Store { conversations, idempotency, executions, streams, .. } = &services.store;
    let deleted = conversations.delete(owner, id).await;
    if let Some(attachments) =
        services.attachments.as_ref().filter(|_| deleted.is_ok() || deleted == Err(ReadError::NotFound))
    {
        // Also what an interrupted deletion has left.
        attachments.release(owner, |conversation, _| conversation == id).await?;
    }
    deleted?;
    idempotency.delete_for_conversation(owner, id).await?;
    executions.delete_for_conversation(owner, id).await?;
    streams.delete_logs(owner, id, None).await?;
    Ok(())
}

/// Deletes a message with all messages after it and everything that is stored of their turns, and ends a running one of
/// these.
///
/// # Errors
/// `not_found` for an unknown conversation or message, or the failure of the store.
pub async fn delete_message(services: &TurnServices, owner: &Owner, id: &str, message: &str) -> Result<(), TurnError> {
    let Store { conversations, idempotency, executions, streams, .. } = &services.store;
    let deleted = conversations.delete_message(owner, id, message, SystemTime::now()).await?;
    services.registry.cancel_deleted(owner, |of, turn| of == id && deleted.turns.contains(turn));
    services.registry.forget_completed(owner, Some(id));
    idempotency.delete_for_answers(owner, id, &deleted.seqs).await?;
    executions.delete_for_answers(owner, id, &deleted.ids).await?;
    for turn in &deleted.turns {
        streams.delete_logs(owner, id, Some(turn)).await?;
    }
    if let Some(attachments) = &services.attachments {
        let is_gone = |of: &str, one: &str| of == id && deleted.ids.contains(one);
        attachments.release(owner, is_gone).await?;
    }
    Ok(())
}

/// Deletes all data of an owner, including the API keys, and ends the owner's running turns first.
///
/// # Errors
/// `invalid_request` for the last administrator, or the failure of the store; some of the data may be deleted then.
pub async fn erase(services: &TurnServices, owner: &Owner) -> Result<DeletionCounts, TurnError> {
    // Before anything ends.
    services.store.keys.resign(owner).await?;
    services.registry.cancel_deleted(owner, |_, _| true);
    if let Some(attachments) = &services.attachments {
        attachments.erase(owner).await?;
    }
    let erased = services.store.erase(owner, SystemTime::now()).await;
    services.registry.forget_completed(owner, None);
    Ok(erased?)
}
