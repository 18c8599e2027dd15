//! The transcript of a turn: the model's messages and tool results that later prompts read after the user's message.
//!
//! Usually that is one reply, which equals the stored answer. Any other transcript is an attribute of the answer, or
//! its own item if it is large or of an earlier release. That item is valid once the answer refers to it. An item without
//! such a reference is a leftover of a turn that died.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{FinishReason, Message, ProviderData, Summary, ToolCall, ToolMessage};

use super::bounds::{bounded_arguments, is_one_piece, json_len, shorten};
use super::sort_keys::{SUMMARY, seq_in_sk, transcript_key};
use super::turn::{Answer, TurnEnd, TurnLease};
use crate::compressed::{compressed, decompressed};
use crate::item::{Item, ItemExt, SCHEMA_VERSION, item, n, s, to_json};
use crate::key::Key;
use crate::table::Expression;
use crate::{EXPIRES, Result, StoreError};

/// The attribute of an ended answer with the length of its transcript in characters; 0 if the answer holds everything.
/// Older answers lack it and always have a transcript.
pub(super) const TRANSCRIPT: &str = "transcript";

/// The attribute of an answer with the compressed JSON of [the transcript's length in characters, its messages]. Earlier releases
/// ignore it, and read the answer's text.
pub(super) const EXCHANGE: &str = "exchange";

/// The maximum size of a transcript as JSON, in bytes; it is one item.
const MAX_TRANSCRIPT_BYTES: usize = 220 * 1024;

/// The size above which a transcript is written before its turn's end, in bytes. A single write costs half of a write
/// in a transaction; reserving its key costs as much as a single write of 4 KB.
const LARGE_BYTES: usize = 8 * 1024;

/// The length of a tool's result when a transcript is too long, in bytes.
const SHORT_RESULT_BYTES: usize = 2_000;

/// The messages of a turn that its answer's item does not hold.
pub(super) struct Transcript {
    json: String,
    /// Its length in a prompt, in characters; at least 1.
    pub(super) chars: usize,
}

impl Transcript {
    /// Whether it is written before the transaction that makes it valid: in there each kilobyte costs twice.
    pub(super) fn is_large(&self) -> bool {
        self.json.len() > LARGE_BYTES
    }

    /// Builds the update that writes it to the key reserved for this turn.
    pub(super) fn store_update(&self, lease: &TurnLease) -> Expression {
        Expression::set([("said", s(&self.json))]).and_when("turn = :turn").value(":turn", s(&lease.turn_id))
    }

    /// The attribute of the answer that holds it, unless it is large.
    pub(super) fn attribute(&self) -> Option<(&'static str, AttributeValue)> {
        (!self.is_large()).then(|| (EXCHANGE, compressed(&format!("[{},{}]", self.chars, self.json))))
    }

    /// The transcript of a turn that ends; `None` if the answer holds everything.
    pub(super) fn for_answer(answer: &Answer) -> Option<Self> {
        let ends_with_calls = answer.outcome.end == TurnEnd::Done(FinishReason::ToolCalls);
        let messages = shrink_to_fit(pair_calls(&answer.transcript, ends_with_calls));
        let (content, thinking) = (&answer.content, &answer.thinking);
        let is_in_answer = is_one_piece(content, thinking) && messages == answer_messages(content, thinking);
        (!is_in_answer).then(|| Self { json: to_json(&messages), chars: char_count(&messages).max(1) })
    }
}

/// The messages that a stored answer alone represents: its text without leading line breaks.
pub(super) fn answer_messages(content: &str, thinking: &str) -> Vec<Message> {
    paired_exchange((content.trim_start_matches('\n'), thinking), &[], None, &[])
}

/// Builds the update that reserves the key of a transcript under a valid lease; repeating it, also late, changes
/// nothing.
pub(super) fn reserve_update(lease: &TurnLease) -> (Key, Expression) {
    let change = "SET turn = :turn, said = if_not_exists(said, :nothing), v = if_not_exists(v, :v)";
    let mut change = Expression::update(change).value(":turn", s(&lease.turn_id)).value(":nothing", s("[]"));
    if let Some(seconds) = lease.expires_secs {
        change = change.and(&format!(", {EXPIRES} = :expires")).value(":expires", n(seconds));
    }
    (transcript_key(&lease.partition, lease.answer_seq), change.value(":v", n(SCHEMA_VERSION)))
}

pub(super) fn summary_item(lease: &TurnLease, summary: &Summary) -> Item {
    item(&summary_key(&lease.partition), [("summary", s(to_json(summary)))])
}

pub(super) fn summary_key(partition: &str) -> Key {
    Key::new(partition, SUMMARY)
}

/// Reads a transcript; returns the seq of its answer too.
pub(super) fn read_transcript(item: &Item) -> Result<(u64, Vec<Message>)> {
    let seq = seq_in_sk(item.text("sk")?).filter(|_| item.is_readable());
    Ok((seq.ok_or_else(|| StoreError::fault("a transcript of another version"))?, item.json("said")?))
}

/// The minimum length of an answer's transcript in characters; `None` if the answer holds everything.
pub(super) fn transcript_chars(answer: &Item) -> Result<Option<usize>> {
    Ok(match answer.optional_number(TRANSCRIPT)? {
        Some(length) => Some(length).filter(|length| *length > 0),
        None => answer.contains_key("endedAt").then_some(0),
    })
}

/// The transcript that an answer's item holds. A turn of an earlier release that continued the answer has left another
/// one there, which has not the length that the answer states.
pub(super) fn transcript_in(answer: &Item) -> Option<Vec<Message>> {
    let chars = transcript_chars(answer).ok()??;
    let (length, messages): (usize, Vec<Message>) = serde_json::from_str(&decompressed(answer, EXCHANGE)?).ok()?;
    (length == chars).then_some(messages)
}

/// The length of messages in a prompt, in characters, without formatting.
pub(super) fn char_count(messages: &[Message]) -> usize {
    messages.iter().map(message_length).sum()
}

fn message_length(message: &Message) -> usize {
    let chars = |text: &str| text.chars().count();
    match message {
        Message::User { text, .. } => chars(text),
        Message::Tool(result) => chars(&result.content),
        Message::Assistant { text, thinking, calls, .. } => {
            let calls = calls.iter().map(|call| chars(&call.name) + chars(&call.arguments.to_string()));
            chars(text) + chars(thinking) + calls.sum::<usize>()
        }
    }
}

/// Replaces results at the beginning, whose calls did not fit, by a message of the user with their texts.
pub fn results_as_message(messages: &mut Vec<Message>) {
    let count = messages.iter().take_while(|message| matches!(message, Message::Tool(_))).count();
    if count > 0 {
        let text = |message| if let Message::Tool(result) = message { result.content } else { String::new() };
        let texts: Vec<String> = messages.drain(..count).map(text).collect();
        messages.insert(0, Message::user(texts.join("\n\n")));
    }
}

/// Removes calls that the client has not run.
pub fn drop_open_calls(messages: &mut Vec<Message>) {
    let Some(Message::Assistant { text, calls, .. }) = messages.last_mut() else { return };
    calls.clear();
    if text.trim().is_empty() {
        messages.pop();
    }
}

/// Removes calls without results, results without calls, and empty replies. If the last message `ends_with_calls`, these are
/// of the client's tools and remain.
pub fn pair_calls(messages: &[Message], ends_with_calls: bool) -> Vec<Message> {
    let mut kept: Vec<Message> = Vec::with_capacity(messages.len());
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        let results = after.iter().take_while(|message| matches!(message, Message::Tool(_))).count();
        let (results, next) = after.split_at(results);
        match message {
            Message::Assistant { calls, .. } if ends_with_calls && after.is_empty() && !calls.is_empty() => {
                kept.push(message.clone());
            }
            Message::Assistant { text, thinking, calls, provider_data } => {
                kept.extend(paired_exchange((text, thinking), calls, provider_data.as_deref(), results));
            }
            Message::User { .. } => kept.push(message.clone()),
            // A result without a preceding reply is dropped.
            Message::Tool(_) => {}
        }
        rest = next;
    }
    kept
}

/// A reply and its results, without unmatched calls and results.
fn paired_exchange(
    (text, thinking): (&str, &str),
    calls: &[ToolCall],
    provider_data: Option<&ProviderData>,
    results: &[Message],
) -> Vec<Message> {
    let call_ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    let answers = results.iter().filter_map(|message| match message {
        Message::Tool(result) if call_ids.contains(result.call_id.as_str()) => Some(result),
        _ => None,
    });
    let answers: Vec<&ToolMessage> = answers.collect();
    let answered = |call: &&ToolCall| answers.iter().any(|result| result.call_id == call.id);
    let calls: Vec<ToolCall> = calls.iter().filter(answered).cloned().collect();
    if text.trim().is_empty() && calls.is_empty() {
        return Vec::new();
    }
    let provider_data = provider_data.cloned().map(Box::new);
    let reply = Message::Assistant { text: text.to_owned(), thinking: thinking.to_owned(), calls, provider_data };
    std::iter::once(reply).chain(answers.into_iter().cloned().map(Message::Tool)).collect()
}

/// Shrinks messages to fit their item: reasoning is dropped first, then old results and arguments are shortened, then
/// text; pairs stay whole.
fn shrink_to_fit(mut messages: Vec<Message>) -> Vec<Message> {
    // Half, because JSON escapes some characters as several.
    let share = MAX_TRANSCRIPT_BYTES / 2 / messages.len().max(1);
    let shorten_text = |message: &mut Message| shorten_text(message, share);
    let steps: [&dyn Fn(&mut Message) -> bool; 4] =
        [&drop_thinking, &shorten_result, &shorten_arguments, &shorten_text];
    let mut lens: Vec<usize> = messages.iter().map(json_len).collect();
    // Brackets and commas.
    let mut len = lens.iter().sum::<usize>() + messages.len() + 1;
    for step in steps {
        for (message, message_len) in messages.iter_mut().zip(&mut lens) {
            if len <= MAX_TRANSCRIPT_BYTES {
                return messages;
            }
            if step(message) {
                len -= *message_len;
                *message_len = json_len(message);
                len += *message_len;
            }
        }
    }
    while json_len(&messages) > MAX_TRANSCRIPT_BYTES {
        drop_first_exchange(&mut messages);
    }
    messages
}

/// Whether there was reasoning to drop; the other steps return the same of their part.
fn drop_thinking(message: &mut Message) -> bool {
    let Message::Assistant { thinking, provider_data, .. } = message else { return false };
    let is_changed = !thinking.is_empty() || provider_data.is_some();
    thinking.clear();
    *provider_data = None;
    is_changed
}

fn shorten_result(message: &mut Message) -> bool {
    let Message::Tool(result) = message else { return false };
    replace_text(&mut result.content, SHORT_RESULT_BYTES)
}

fn shorten_arguments(message: &mut Message) -> bool {
    let Message::Assistant { calls, .. } = message else { return false };
    for call in &mut *calls {
        call.arguments = bounded_arguments(&call.arguments);
    }
    !calls.is_empty()
}

fn shorten_text(message: &mut Message, max_bytes: usize) -> bool {
    match message {
        Message::User { text, .. } | Message::Assistant { text, .. } => replace_text(text, max_bytes),
        Message::Tool(result) => replace_text(&mut result.content, max_bytes),
    }
}

fn replace_text(text: &mut String, max_bytes: usize) -> bool {
    let is_changed = text.len() > max_bytes;
    if is_changed {
        *text = shorten(text, max_bytes);
    }
    is_changed
}

/// Removes the first message and the results that belong to it.
fn drop_first_exchange(messages: &mut Vec<Message>) {
    let results = messages.iter().skip(1).take_while(|message| matches!(message, Message::Tool(_))).count();
    messages.drain(..messages.len().min(1 + results));
}
