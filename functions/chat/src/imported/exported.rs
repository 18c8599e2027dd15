//! The JSON of this product's own exports, version 1.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Source;
use serde::Deserialize;
use serde_json::Value;
use store::{NewMessage, Role};

use super::tree::Node;
use super::{Parsed, Reason, clean, model_name, parent, role, text};

pub(super) fn parse(exported: &Value) -> Result<Parsed, Reason> {
    let node = |one: &Value| {
        let id = text(&one["id"]).ok_or("A message has no id")?;
        Ok(Node { id, parent: parent(&one["parentId"])?, message: message(one) })
    };
    let head = &exported["conversation"];
    Ok(Parsed {
        title: text(&head["title"]),
        created_at: time(&head["createdAt"]),
        updated_at: time(&head["updatedAt"]),
        nodes: exported["messages"].as_array().into_iter().flatten().map(node).collect::<Result<_, Reason>>()?,
        current: text(&exported["currentId"]),
    })
}

/// The highest number of a source; the next turn counts on from it.
const MAX_SOURCE: usize = 2_000;

/// A question without text is left out; an answer may have failed without any.
fn message(one: &Value) -> Option<NewMessage> {
    let (role, content) = (role(&one["role"])?, clean(one["content"].as_str()?));
    let is_answer = role == Role::Assistant;
    let sources = one["sources"].as_array().into_iter().flatten().filter_map(|source| Source::deserialize(source).ok());
    // Others may read a source: only addresses of the web are links.
    let sources = sources.filter(|source| ["https://", "http://"].iter().any(|scheme| source.url.starts_with(scheme)));
    let sources = sources.filter(|source| (1..=MAX_SOURCE).contains(&source.index));
    (is_answer || !content.trim().is_empty()).then(|| NewMessage {
        parent: None,
        role,
        content,
        sources: if is_answer { sources.collect() } else { Vec::new() },
        model: model_name(&one["model"]),
        is_complete: !is_answer || matches!(one["status"].as_str(), None | Some("complete")),
        created_at: time(&one["createdAt"]).unwrap_or(UNIX_EPOCH),
    })
}

fn time(value: &Value) -> Option<SystemTime> {
    store::parse_time(value.as_str()?)
}
