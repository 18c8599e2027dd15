use std::sync::Arc;
use std::time::SystemTime;

use attachments::PromptBudget;
use domain::{Failure, HistoryTurn, Message, Owner, TurnError};
use tools::Tool;

use crate::request::ResolvedAgent;
use crate::services::TurnServices;

/// Which part of a model's window the documents of a message may fill.
const DOCUMENT_SHARE: u64 = 3;

/// Loads what the prompt has of the files of a conversation. Returns the tools that read its documents.
pub(crate) async fn load(
    services: &TurnServices,
    owner: &Owner,
    agent: &ResolvedAgent,
    history: &mut [HistoryTurn],
    question: &mut [Message],
) -> Result<Vec<Arc<dyn Tool>>, Failure> {
    let earlier = history.iter_mut().flat_map(|turn| &mut turn.messages);
    let (Some(attachments), Some(model)) = (&services.attachments, agent.models.first()) else {
        // No tool can read files without their storage.
        let files = earlier.chain(question).flat_map(Message::attachments_mut);
        files.for_each(|file| file.characters = 0);
        return Ok(Vec::new());
    };
    // A token has at least about one character in every language.
    let space = model.context_tokens() / DOCUMENT_SHARE;
    let budget = PromptBudget {
        takes_images: agent.models.iter().any(|model| model.takes_images(SystemTime::now()) != Some(false)),
        // What follows may cut earlier turns to this length.
        earlier_chars: space.min(agent.agent.history_tokens),
        new_chars: space,
    };
    let readable = attachments.load(owner, earlier.collect(), question.iter_mut().collect(), budget).await;
    let readable = readable.map_err(logged)?;
    Ok(if readable.is_empty() { Vec::new() } else { attachments.tools(owner, readable) })
}

/// The failure of an error that it logs.
pub(crate) fn logged(error: TurnError) -> Failure {
    tracing::error!(cause = error.cause, "the files of a conversation could not be read");
    error.failure
}
