//! `GET /api/conversations/{id}/export`: the shown branch as Markdown, or the whole tree as JSON, page by page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::SystemTime;

use axum::response::{IntoResponse, Response};
use domain::{AnswerPart, Attachment, CitationScanner, ErrorCode, Language, Owner, Source, one_line};
use http::header;
use serde::Deserialize;
use serde_json::json;
use store::{Conversation, MessageQuery, ReadError, Role, Store};
use tokio::sync::mpsc::{Sender, channel};
use web::ApiError;

use super::extract::{Own, ParsedQuery};
use super::render::body_of_parts;
use crate::Result;

/// The version of the JSON; it changes when a reader of an earlier version would misread it.
const VERSION: u32 = 1;

#[derive(Deserialize)]
pub(crate) struct ExportQuery {
    format: Option<String>,
}

/// The writer ends when its reader has left.
type Parts = Sender<Result<String, ReadError>>;

/// Exports a conversation. If its beginning cannot be read, the response has an error status; later the body ends early,
/// without the `currentId` of the JSON.
pub(crate) async fn conversation(
    Own { app, owner, id }: Own,
    ParsedQuery(query): ParsedQuery<ExportQuery>,
) -> Result<Response> {
    let head = app.store.conversations.get(&owner, &id).await?;
    if head.expires_at.is_some() {
        // A temporary one is in no export.
        return Err(ErrorCode::NotFound.into());
    }
    let ((parts, received), store) = (channel(1), app.store.clone());
    let (ending, content_type) = match query.format.as_deref() {
        Some("markdown") => {
            tokio::spawn(async move { report(write_markdown(&store, &owner, head, &parts).await, &parts).await });
            ("md", "text/markdown; charset=utf-8")
        }
        Some("json") => {
            tokio::spawn(async move { report(write_json(&store, &owner, head, &parts).await, &parts).await });
            ("json", "application/json")
        }
        _ => return Err(ApiError::invalid_request("`format` must be `markdown` or `json`")),
    };
    // An id is a ULID, so the name is safe in every file system.
    let name = format!("attachment; filename=\"conversation-{id}.{ending}\"");
    let headers = [(header::CONTENT_TYPE, content_type.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, body_of_parts(received).await?).into_response())
}

async fn report(outcome: Result<(), ReadError>, parts: &Parts) {
    if let Err(error) = outcome {
        let _gone = parts.send(Err(error)).await;
    }
}

/// Writes the tree of a conversation as one object.
async fn write_json(store: &Store, owner: &Owner, head: Conversation, parts: &Parts) -> Result<(), ReadError> {
    let Conversation { id, title, created_at, updated_at, .. } = head;
    let head = json!({ "id": id, "title": title, "createdAt": created_at, "updatedAt": updated_at });
    let mut part = format!("{{\"version\":{VERSION},\"conversation\":{head},\"messages\":[");
    let (mut current, mut comma) = (None, "");
    let mut after = Some(0);
    while let Some(start) = after {
        let page = store.all_messages(owner, &id, start, SystemTime::now()).await?;
        for (is_hidden, message) in page.messages {
            let calls: Vec<_> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
            let mut row = json!({
                "id": message.id, "parentId": message.parent_id, "role": message.role, "content": message.content,
                "sources": message.sources, "calls": calls, "model": message.model, "status": message.status,
                "createdAt": message.created_at,
            });
            if !message.attachments.is_empty() {
                row["attachments"] = json!(message.attachments);
            }
            // Writing to a String cannot fail.
            let _ = write!(part, "{comma}\n{row}");
            (comma, current) = (",", if is_hidden { current } else { Some(message.id) });
        }
        if parts.send(Ok(std::mem::take(&mut part))).await.is_err() {
            // The client has left.
            return Ok(());
        }
        after = page.next;
    }
    let _gone = parts.send(Ok(format!("\n],\"currentId\":{}}}\n", json!(current)))).await;
    Ok(())
}

/// Writes the shown branch, with a footnote for each cited source.
async fn write_markdown(store: &Store, owner: &Owner, head: Conversation, parts: &Parts) -> Result<(), ReadError> {
    let names = match Language::of(&head.title) {
        Language::Zh => ["用户", "助手"],
        Language::En => ["User", "Assistant"],
    };
    let (mut sources, mut cited, mut cursor) = (BTreeMap::new(), BTreeSet::new(), None::<String>);
    let mut part = format!("# {}\n\n", one_line(&head.title, usize::MAX));
    loop {
        let query = MessageQuery { limit: 100, cursor: cursor.as_deref(), ..MessageQuery::default() };
        let page = store.messages(owner, &head.id, query, SystemTime::now()).await?;
        for message in page.items {
            sources.extend(message.sources.into_iter().map(|source| (source.index, source)));
            let (name, text) = match message.role {
                Role::User => (names[0], with_file_names(message.content, &message.attachments)),
                Role::Assistant => (names[1], with_footnotes(&message.content, &sources, &mut cited)),
            };
            let _ = write!(part, "## {name}\n\n{text}\n\n");
        }
        if parts.send(Ok(std::mem::take(&mut part))).await.is_err() {
            // The client has left.
            return Ok(());
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let footnotes =
        cited.iter().filter_map(|number| sources.get(number)).map(|Source { index, title, url, .. }| {
            let title = one_line(title, usize::MAX).replace(['[', ']', '<', '>', '\\'], " ");
            format!("[^{index}]: {title} <{}>\n", url.replace(['<', '>', ' ', '\n'], ""))
        });
    let _gone = parts.send(Ok(footnotes.collect())).await;
    Ok(())
}

/// The text below the names of its files.
fn with_file_names(text: String, files: &[Attachment]) -> String {
    let names = files.iter().map(|file| format!("📎 {}\n\n", file.name));
    names.chain([text]).collect()
}

/// The text with a footnote for each citation of a known source, whose numbers are added to the cited ones.
fn with_footnotes(text: &str, sources: &BTreeMap<usize, Source>, cited: &mut BTreeSet<usize>) -> String {
    let (mut scanner, mut parts) = (CitationScanner::default(), Vec::new());
    scanner.push(text, &mut parts);
    scanner.finish(&mut parts);
    let part = |part| match part {
        AnswerPart::Citation { numbers, .. } if numbers.iter().all(|number| sources.contains_key(number)) => {
            cited.extend(&numbers);
            numbers.iter().map(|number| format!("[^{number}]")).collect::<Vec<_>>().concat()
        }
        AnswerPart::Citation { raw: text, .. } | AnswerPart::Text(text) => text,
    };
    parts.into_iter().map(part).collect()
}
