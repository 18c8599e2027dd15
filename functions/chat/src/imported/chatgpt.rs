//! The file `conversations.json` that `ChatGPT` exports.
//!
//! A conversation has a `mapping` of node ids to nodes, each with the id of its `parent` and a `message`; `current_node` is
//! the end of the branch that its user saw last. Times are seconds since 1970. Sources, read on 2026-11-26:
//! <https://tomzxcode.github.io/llm-conversations-viewer/docs/formats>,
//! <https://difegam.github.io/chatgpt-to-markdown/reference/data-models>.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use store::{NewMessage, Role};

use super::tree::Node;
use super::{Parsed, Reason, clean, model_name, parent, role, text};

pub(super) fn parse(conversation: &Value) -> Result<Parsed, Reason> {
    let mut mapping: Vec<(&String, &Value)> = conversation["mapping"].as_object().into_iter().flatten().collect();
    // Siblings by creation.
    let created = |node: &Value| node["message"]["create_time"].as_f64().unwrap_or_default();
    mapping.sort_by(|(_, one), (_, other)| created(one).total_cmp(&created(other)));
    let node = |(id, node): (&String, &Value)| {
        Ok(Node { id: id.clone(), parent: parent(&node["parent"])?, message: message(&node["message"]) })
    };
    Ok(Parsed {
        title: text(&conversation["title"]),
        created_at: time(&conversation["create_time"]),
        updated_at: time(&conversation["update_time"]),
        nodes: mapping.into_iter().map(node).collect::<Result<_, Reason>>()?,
        current: text(&conversation["current_node"]),
    })
}

/// What the user saw: texts of the user, and of the assistant for the user and not for a tool.
fn message(message: &Value) -> Option<NewMessage> {
    let (role, content) = (role(&message["author"]["role"])?, &message["content"]);
    let is_text = matches!(content["content_type"].as_str(), None | Some("text" | "multimodal_text"));
    let is_for_user = matches!(message["recipient"].as_str(), None | Some("all"));
    let is_hidden = message["metadata"]["is_visually_hidden_from_conversation"] == true;
    // Pictures and files are objects.
    let texts = content["parts"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let content = clean(&texts.collect::<Vec<_>>().join("\n"));
    (is_text && is_for_user && !is_hidden && !content.trim().is_empty()).then(|| NewMessage {
        parent: None,
        role,
        content,
        sources: Vec::new(),
        model: if role == Role::Assistant { model_name(&message["metadata"]["model_slug"]) } else { String::new() },
        is_complete: true,
        created_at: time(&message["create_time"]).unwrap_or(UNIX_EPOCH),
    })
}

fn time(seconds: &Value) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds.as_f64()?).ok()?)
}
