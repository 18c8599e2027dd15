//! Reads conversations of other programs and of this one's exports. The input is foreign: its size, the number of
//! conversations, messages and values, and the work for each are bounded, and nothing recurses.

mod chatgpt;
mod exported;
mod tree;

use std::time::SystemTime;

use domain::{ErrorCode, Failure, one_line};
use serde_json::Value;
use serde_json::value::RawValue;
use store::{NewConversation, Role};

use self::tree::Node;

const MAX_CONVERSATIONS: usize = 1_000;

const MAX_MESSAGES: usize = 20_000;

/// The lengths of a name of a model and of a title made of the first question, in characters.
const NAME_CHARS: usize = 100;
const MADE_TITLE_CHARS: usize = 40;

/// Why a conversation is not imported, for its user.
pub(crate) type Reason = &'static str;

/// What a conversation in one of the forms has.
struct Parsed {
    title: Option<String>,
    created_at: Option<SystemTime>,
    updated_at: Option<SystemTime>,
    nodes: Vec<Node>,
    /// The id of the last node of the shown branch.
    current: Option<String>,
}

/// The conversations of a body, or why one cannot be imported: an array, or a single conversation.
///
/// # Errors
/// `invalid_request` for a body that is not JSON, or has too many conversations.
pub(crate) fn parse(body: &[u8], now: SystemTime) -> Result<Vec<Result<NewConversation, Reason>>, Failure> {
    let mut remaining = MAX_MESSAGES;
    let rows = split(body).ok_or_else(|| {
        let message = format!("The body must be a conversation, or an array of at most {MAX_CONVERSATIONS}, in JSON");
        Failure::new(ErrorCode::InvalidRequest, message)
    })?;
    Ok(rows.into_iter().map(|row| parse_one(row, now, &mut remaining)).collect())
}

/// The elements of an array, or the only value; not as one vector of any length, which may take more memory than there is.
fn split(body: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let Some(mut rest) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
        return serde_json::from_str::<&RawValue>(text).ok().map(|value| vec![value.get()]);
    };
    let mut rows = Vec::new();
    while !rest.trim_start().is_empty() || !rows.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        rows.push(values.next()?.ok()?.get());
        rest = rest[values.byte_offset()..].trim_start();
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix(',').filter(|_| rows.len() < MAX_CONVERSATIONS)?;
    }
    Some(rows)
}

fn parse_one(row: &str, now: SystemTime, remaining: &mut usize) -> Result<NewConversation, Reason> {
    let object = domain::parse_object(row.as_bytes());
    let object = Value::Object(object.map_err(|_| "It is not an object, or has more than 200,000 values")?);
    let is_own = !object["mapping"].is_object();
    let parsed = match &object {
        one if !is_own => chatgpt::parse(one)?,
        one if one["messages"].is_array() && one["version"] == 1 => exported::parse(one)?,
        _ => return Err("It is not a conversation in a known form and version"),
    };
    let Parsed { title, created_at, updated_at, nodes, current } = parsed;
    let began_at = created_at.filter(|at| *at <= now).unwrap_or(now);
    let (mut messages, last) = tree::build(nodes, current.as_deref(), is_own)?;
    *remaining = remaining.checked_sub(messages.len()).ok_or("With it the import has more than 20,000 messages")?;
    for message in &mut messages {
        message.created_at = Some(message.created_at).filter(|at| (began_at..=now).contains(at)).unwrap_or(began_at);
    }
    let title = title.map(|title| one_line(&clean(&title), usize::MAX)).filter(|title| !title.is_empty());
    let conversation = NewConversation {
        has_own_title: title.is_some(),
        title: title.unwrap_or_else(|| one_line(&messages[0].content, MADE_TITLE_CHARS)),
        created_at: began_at,
        updated_at: updated_at.filter(|at| *at <= now).unwrap_or(messages[last].created_at),
        messages,
        last,
    };
    if conversation.has_too_many_branches() {
        return Err("It has more than 500 branches");
    }
    Ok(conversation)
}

/// A text without control characters except line breaks and tabs.
fn clean(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}

/// The name of a model; empty without one.
fn model_name(name: &Value) -> String {
    one_line(&clean(name.as_str().unwrap_or_default()), NAME_CHARS)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The id of the node before a node; `None` for a first one.
fn parent(value: &Value) -> Result<Option<String>, Reason> {
    if value.is_null() || value.is_string() {
        Ok(text(value))
    } else {
        Err("A message follows something without an id")
    }
}

fn role(value: &Value) -> Option<Role> {
    match value.as_str()? {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
