use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use domain::StrictObject;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{ConversationEdit, ConversationFilter, ConversationQuery, MessageQuery};
use web::{ApiError, Caller};

use super::extract::{JsonBody, Own, Paging, ParsedQuery};
use crate::{App, Result};

/// Rows of a page unless the request has a `limit`.
const CONVERSATIONS: u32 = 20;
const MESSAGES: u32 = 100;

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

const EDITABLE: &str = "`title`, `pinned`, `archived`";

#[derive(Deserialize)]
pub(crate) struct ListQuery {
    #[serde(flatten)]
    paging: Paging,
    q: Option<String>,
    archived: Option<String>,
    pinned: Option<String>,
}

/// The caller's conversations, last updated first: those that are not archived, or with `archived=true` those that are; with
/// `pinned` only those that are pinned, or that are not; with `q` those in which its terms are found.
pub(crate) async fn list(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    ParsedQuery(ListQuery { paging, q, archived, pinned }): ParsedQuery<ListQuery>,
) -> Result<Json<Value>> {
    let (limit, cursor, store) = (paging.limit(CONVERSATIONS)?, paging.cursor.as_deref(), &app.store.conversations);
    let archived = parse_flag("archived", archived.as_deref())?.unwrap_or_default();
    let pinned = parse_flag("pinned", pinned.as_deref())?;
    let filter = ConversationFilter { archived: Some(archived), pinned, temporary: Some(false) };
    let (conversations, next_cursor) = match q.filter(|text| !text.trim().is_empty()) {
        None => {
            let page = store.list_filtered(&owner, filter, limit, cursor).await?;
            (json!(page.items), page.next_cursor)
        }
        Some(text) => {
            let page = store.search(&owner, &search_query(&text)?, filter, limit, cursor, SystemTime::now()).await?;
            (json!(page.items), page.next_cursor)
        }
    };
    Ok(Json(json!({ "conversations": conversations, "nextCursor": next_cursor })))
}

fn search_query(text: &str) -> Result<ConversationQuery> {
    ConversationQuery::parse(text).ok_or_else(|| {
        let max = ConversationQuery::MAX_CHARS;
        let message =
            format!("`q` must have at most {max} characters, and at least one that is a letter, digit or symbol");
        ApiError::invalid_request(message)
    })
}

fn parse_flag(name: &str, text: Option<&str>) -> Result<Option<bool>> {
    let invalid = |_| ApiError::invalid_request(format!("`{name}` must be true or false"));
    text.map(|text| text.parse().map_err(invalid)).transpose()
}

#[derive(Deserialize)]
pub(crate) struct MessagesQuery {
    #[serde(flatten)]
    paging: Paging,
    branch: Option<String>,
    from: Option<String>,
}

/// A conversation and a page of the messages of one branch, oldest first.
pub(crate) async fn read(
    Own { app, owner, id }: Own,
    ParsedQuery(MessagesQuery { paging, branch, from }): ParsedQuery<MessagesQuery>,
) -> Result<Json<Value>> {
    let query = MessageQuery {
        limit: paging.limit(MESSAGES)?,
        cursor: paging.cursor.as_deref(),
        branch: branch.as_deref(),
        from_end: match from.as_deref() {
            None => false,
            Some("end") => true,
            Some(_) => return Err(ApiError::invalid_request("`from` may only be `end`")),
        },
    };
    let conversation = app.store.conversations.get(&owner, &id).await?;
    let page = app.store.messages(&owner, &id, query, SystemTime::now()).await?;
    let (messages, next_cursor) = (page.items, page.next_cursor);
    Ok(Json(json!({ "conversation": conversation, "messages": messages, "nextCursor": next_cursor })))
}

/// Changes the title of a conversation, and whether it is pinned and archived.
pub(crate) async fn edit(Own { app, owner, id }: Own, JsonBody(body): JsonBody) -> Result<Json<Value>> {
    let edit = parse_edit(&body)?;
    let conversation = app.store.conversations.edit(&owner, &id, &edit, SystemTime::now()).await?;
    Ok(Json(json!({ "conversation": conversation })))
}

fn parse_edit(body: &[u8]) -> Result<ConversationEdit> {
    let invalid = |message: String| ApiError::invalid_request(message);
    let mut fields = StrictObject::parse(body)?;
    let title = fields.take_string("title")?.map(|title| title.trim().to_owned());
    if title.as_ref().is_some_and(|title| title.is_empty() || title.chars().nth(MAX_TITLE).is_some()) {
        return Err(invalid(format!("`title` must be a string of 1 to {MAX_TITLE} characters")));
    }
    let edit = ConversationEdit { title, pinned: fields.take_bool("pinned")?, archived: fields.take_bool("archived")? };
    if edit == ConversationEdit::default() {
        return Err(invalid(format!("At least one of {EDITABLE} is required")));
    }
    Ok(edit)
}

/// Deletes a conversation, and ends its running turn first.
pub(crate) async fn delete(Own { app, owner, id }: Own) -> Result<StatusCode> {
    turns::delete_conversation(&app.turns, &owner, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `PUT /api/conversations/{id}/branch`: shows the branch through a message.
pub(crate) async fn select_branch(Own { app, owner, id }: Own, JsonBody(body): JsonBody) -> Result<Json<Value>> {
    let fields = domain::parse_object(&body)?;
    let message_id = fields.get("messageId").and_then(|id| id.as_str());
    let missing = || ApiError::invalid_request("`messageId` is required: the id of a message of the branch");
    let conversation = app.store.conversations.select_branch(&owner, &id, message_id.ok_or_else(missing)?).await?;
    Ok(Json(json!({ "conversation": conversation })))
}

/// `DELETE /api/conversations/{id}/messages/{messageId}`: deletes a message with all messages after it, and ends a turn that
/// runs there.
pub(crate) async fn delete_message(
    Own { app, owner, id: (id, message_id) }: Own<(String, String)>,
) -> Result<StatusCode> {
    turns::delete_message(&app.turns, &owner, &id, &message_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
