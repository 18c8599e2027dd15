//! What later prompts read of a turn: what was asked, then what the model wrote and read.

use std::collections::HashSet;

use conversation::{Message, PastTurn, Summary, ToolCall, ToolResult};

use super::bounds::{json_len, short_arguments, shorten};
use super::message::{json, placed, set_aside};
use super::turn::{Answer, TurnLease};
use crate::StoreError;
use crate::item::{Item, Read, item, s};
use crate::key::Key;
use crate::table::Expression;

/// What the sort keys of transcripts begin with.
pub(super) const TRANSCRIPT_PREFIX: &str = "T#";

/// The sort key of what stands for the oldest turns.
pub(super) const SUMMARY: &str = "S";

/// The longest question in a prompt, in bytes; the message itself keeps all of it.
const LONGEST_ASKED: usize = 160 * 1024;

/// The longest rest of a transcript as JSON, in bytes; both stand in one item.
const LONGEST_SAID: usize = 220 * 1024;

/// What stays of a tool's result when a transcript is too long, in bytes.
const SHORT_RESULT: usize = 2_000;

/// The sort key of the transcript of the turn whose answer stands at a place.
pub(super) fn transcript_sk(answer: u64) -> String {
    format!("{TRANSCRIPT_PREFIX}{answer:012}")
}

/// The transcript of a turn that has just begun; it stays as it is if the turn never ends.
pub(super) fn opened(lease: &TurnLease, asked: &str) -> Item {
    let key = transcript_key(&lease.partition, lease.answer);
    set_aside(lease, item(&key, [("asked", s(shorten(asked, LONGEST_ASKED))), ("said", s("[]"))]))
}

pub(super) fn transcript_key(partition: &str, answer: u64) -> Key {
    Key::new(partition, transcript_sk(answer))
}

/// The end of a turn's transcript.
pub(super) fn ended(lease: &TurnLease, answer: &Answer) -> Result<(Key, Expression), StoreError> {
    let change = Expression::update(placed("SET said = :said", lease, answer)).and_when("attribute_exists(pk)");
    let said = json(&fitting(paired(&answer.transcript)))?;
    Ok((transcript_key(&lease.partition, lease.answer), change.value(":said", s(said))))
}

/// The item of a conversation's summary.
pub(super) fn summary_item(lease: &TurnLease, summary: &Summary) -> Result<Item, StoreError> {
    Ok(item(&summary_key(lease), [("summary", s(json(summary)?))]))
}

pub(super) fn summary_key(lease: &TurnLease) -> Key {
    Key::new(&lease.partition, SUMMARY)
}

/// A turn as prompts read it, the question first.
pub(super) fn read(item: &Item) -> Result<PastTurn, StoreError> {
    if !item.is_understood() {
        return Err(StoreError::fault("a transcript of another version"));
    }
    let mut messages = vec![Message::User { text: item.text("asked")?.to_owned() }];
    messages.extend(item.json::<Vec<Message>>("said")?);
    let place = item.text("sk")?.get(TRANSCRIPT_PREFIX.len()..).and_then(|place| place.parse().ok());
    Ok(PastTurn { place: place.ok_or_else(|| StoreError::fault("a transcript that cannot be read"))?, messages })
}

/// The length of a turn in a prompt, in characters, without the words around it.
pub(super) fn length(messages: &[Message]) -> usize {
    messages.iter().map(message_length).sum()
}

fn message_length(message: &Message) -> usize {
    let chars = |text: &str| text.chars().count();
    match message {
        Message::User { text } => chars(text),
        Message::Tool(result) => chars(&result.content),
        Message::Assistant { text, thinking, calls } => {
            let calls = calls.iter().map(|call| chars(&call.name) + chars(&call.arguments.to_string()));
            chars(text) + chars(thinking) + calls.sum::<usize>()
        }
    }
}

/// Messages in which every call has its result and every result its call, without replies that say nothing.
fn paired(messages: &[Message]) -> Vec<Message> {
    let mut kept: Vec<Message> = Vec::with_capacity(messages.len());
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        let results = after.iter().take_while(|message| matches!(message, Message::Tool(_))).count();
        let (results, next) = after.split_at(results);
        match message {
            Message::Assistant { text, thinking, calls } => kept.extend(exchange(text, thinking, calls, results)),
            Message::User { .. } => kept.push(message.clone()),
            // A result that follows no reply belongs to nothing.
            Message::Tool(_) => {}
        }
        rest = next;
    }
    kept
}

/// A reply and the results of its calls, as far as they belong together.
fn exchange(text: &str, thinking: &str, calls: &[ToolCall], results: &[Message]) -> Vec<Message> {
    let asked: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    let answers = results.iter().filter_map(|message| match message {
        Message::Tool(result) if asked.contains(result.call_id.as_str()) => Some(result),
        _ => None,
    });
    let answers: Vec<&ToolResult> = answers.collect();
    let answered = |call: &&ToolCall| answers.iter().any(|result| result.call_id == call.id);
    let calls: Vec<ToolCall> = calls.iter().filter(answered).cloned().collect();
    if text.trim().is_empty() && calls.is_empty() {
        return Vec::new();
    }
    let reply = Message::Assistant { text: text.to_owned(), thinking: thinking.to_owned(), calls };
    std::iter::once(reply).chain(answers.into_iter().cloned().map(Message::Tool)).collect()
}

/// Messages that fit their item: reasoning goes first, then old results and arguments, then text; pairs stay whole.
fn fitting(mut messages: Vec<Message>) -> Vec<Message> {
    // Half, because JSON writes some characters as several.
    let share = LONGEST_SAID / 2 / messages.len().max(1);
    let shorten_text = |message: &mut Message| shorten_text(message, share);
    let steps: [&dyn Fn(&mut Message); 4] = [&drop_thinking, &shorten_result, &shorten_arguments, &shorten_text];
    let mut len = json_len(&messages);
    for step in steps {
        for message in &mut messages {
            if len <= LONGEST_SAID {
                return messages;
            }
            len -= json_len(message);
            step(message);
            len += json_len(message);
        }
    }
    while json_len(&messages) > LONGEST_SAID {
        drop_first_exchange(&mut messages);
    }
    messages
}

fn drop_thinking(message: &mut Message) {
    if let Message::Assistant { thinking, .. } = message {
        thinking.clear();
    }
}

fn shorten_result(message: &mut Message) {
    if let Message::Tool(result) = message {
        result.content = shorten(&result.content, SHORT_RESULT);
    }
}

fn shorten_arguments(message: &mut Message) {
    if let Message::Assistant { calls, .. } = message {
        for call in calls {
            call.arguments = short_arguments(&call.arguments);
        }
    }
}

fn shorten_text(message: &mut Message, most: usize) {
    match message {
        Message::User { text } | Message::Assistant { text, .. } => *text = shorten(text, most),
        Message::Tool(result) => result.content = shorten(&result.content, most),
    }
}

/// Removes the first message and the results that belong to it.
fn drop_first_exchange(messages: &mut Vec<Message>) {
    let results = messages.iter().skip(1).take_while(|message| matches!(message, Message::Tool(_))).count();
    messages.drain(..messages.len().min(1 + results));
}
