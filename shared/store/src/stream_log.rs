//! Event logs of longer turns, kept for an hour, so that any instance can replay a turn from its beginning.
//!
//! An item holds a batch of events, one JSON line each; consecutive text events share a line. As a list they need less
//! than half of the bytes, which determine the cost. The key holds the number of the first event, so that a batch that
//! is written twice is one, and a reader notices a gap and waits. A reader stops at an item that another version wrote
//! and this one cannot read, as it does after a failed write; the stored answer then provides the rest.

use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::TransactWriteItem;
use conversation::Event;
use tokio::time::Instant;

use crate::clock::millis;
use crate::conversations::TurnLease;
use crate::gathering::Gathering;
use crate::idempotency::KnownTurn;
use crate::item::{Item, Read, item, n, s};
use crate::key::{Key, Owner, SK, is_ulid};
use crate::table::{Expression, Table};
use crate::{EXPIRES, StoreError};

/// How long events are kept.
const KEPT: Duration = Duration::from_hours(1);

/// The maximum bytes of events in an item; DynamoDB's limit is 400 KB with all attributes.
const MOST_BYTES: usize = 350 * 1024;

/// The maximum bytes of events in the transaction of an answer: there each kilobyte costs twice, and has to fit in
/// addition to the answer.
const MOST_ALONG: usize = 64 * 1024;

/// Events of turns in the ephemeral table, under their conversations.
#[derive(Clone)]
pub struct StreamLog {
    table: Table,
    /// Combines writes of several turns' logs at the same moment.
    gathering: Gathering<Vec<Item>>,
    begun: Instant,
}

/// The last events of a turn's log, to be stored in one transaction with the turn's answer.
#[derive(Clone, Debug)]
pub struct LoggedEnd(pub(crate) TransactWriteItem);

/// A page of a turn's log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logged {
    /// The events in order; empty if there are no more yet.
    pub events: Vec<Event>,
    /// Whether more can be read immediately.
    pub more: bool,
    /// Whether an item follows that this version cannot read.
    pub unreadable: bool,
}

impl StreamLog {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, gathering: Gathering::default(), begun: Instant::now() }
    }

    /// The common start of the flush intervals of all turns at this instance: simultaneous additions share one request.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Appends events as JSON to a turn's log; the first of them is event number `first` of the turn, counted from 0.
    ///
    /// # Errors
    /// Also if one event alone is larger than an item.
    pub async fn append(
        &self,
        owner: &Owner,
        turn: &TurnLease,
        first: usize,
        events: &[String],
        now: SystemTime,
    ) -> Result<(), StoreError> {
        let mut items = Vec::new();
        let mut first = first;
        for lines in batches(events)? {
            items.push(batch(owner, turn, first, lines, now));
            first += lines.len();
        }
        self.gathering.send(items, |all| self.table.put_all(all.into_iter().flatten().collect())).await
    }

    /// Prepares the events that [`append`](Self::append) would write, for
    /// [`finish_with_log`](crate::ConversationStore::finish_with_log); `None` if they are too large for that. Makes no
    /// call.
    pub fn end(
        &self,
        owner: &Owner,
        turn: &TurnLease,
        first: usize,
        events: &[String],
        now: SystemTime,
    ) -> Option<LoggedEnd> {
        let bytes: usize = events.iter().map(|event| event.len() + 1).sum();
        let put = || self.table.putting(batch(owner, turn, first, events, now), Expression::default());
        (bytes <= MOST_ALONG).then(put)?.ok().map(LoggedEnd)
    }

    /// Reads a page of events, starting with number `next`, which must be the first of a batch.
    pub async fn read(
        &self,
        owner: &Owner,
        turn: &KnownTurn,
        next: usize,
        now: SystemTime,
    ) -> Result<Logged, StoreError> {
        let (items, more) = self.page(owner, &turn.conversation_id, &turn.turn_id, next, None).await?;
        let mut logged = Logged { more, ..Logged::default() };
        for item in items.iter().filter(|item| is_kept(item, now)) {
            if place(item) != Some(next + logged.events.len()) {
                break;
            }
            logged.add(item);
        }
        logged.more &= !logged.events.is_empty() && !logged.unreadable;
        Ok(logged)
    }

    /// The turn with this id, if this conversation has its log.
    pub async fn find(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        now: SystemTime,
    ) -> Result<Option<KnownTurn>, StoreError> {
        let (items, _) = self.page(owner, conversation_id, turn_id, 0, Some(1)).await?;
        let Some(first) = items.first().filter(|item| is_kept(item, now)) else { return Ok(None) };
        let (turn_id, conversation_id) = (turn_id.to_owned(), conversation_id.to_owned());
        Ok(Some(KnownTurn { turn_id, conversation_id, answer: first.number("answer")? }))
    }

    /// Deletes the logs of a conversation, or of `turn_id` alone.
    pub async fn forget(&self, owner: &Owner, conversation_id: &str, turn_id: Option<&str>) -> Result<(), StoreError> {
        let mut start = None;
        loop {
            let call = self.table.query(&owner.stream_partition(conversation_id));
            let call = call.key_condition_expression("pk = :pk AND begins_with(sk, :turn)");
            let call = call.expression_attribute_values(":turn", s(turn_id.map_or_else(|| "T#".to_owned(), prefix)));
            let (keys, next) = self.table.page(call.projection_expression("pk, sk"), start).await?;
            self.table.delete_all(&keys).await?;
            if next.is_none() {
                return Ok(());
            }
            start = next;
        }
    }

    /// A page of the batches from event `first` on, and whether there are more.
    async fn page(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        first: usize,
        limit: Option<i32>,
    ) -> Result<(Vec<Item>, bool), StoreError> {
        if !is_ulid(conversation_id) || !is_ulid(turn_id) {
            return Ok((Vec::new(), false));
        }
        let from = key(owner, conversation_id, turn_id, first);
        let call = self.table.query(&from.pk).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        let call = call.expression_attribute_values(":first", s(from.sk));
        let call = call.expression_attribute_values(":last", s(prefix(turn_id) + AFTER_BATCHES));
        let (items, next) = self.table.page(call.set_limit(limit), None).await?;
        Ok((items, next.is_some()))
    }
}

impl Logged {
    fn add(&mut self, item: &Item) {
        let text = item.text("events").ok().filter(|_| item.is_understood());
        for line in text.unwrap_or("?").split('\n') {
            match read(line) {
                Some(events) if !self.unreadable => self.events.extend(events),
                _ => self.unreadable = true,
            }
        }
    }
}

/// The JSON before and after the text of a `Text` event.
const AROUND_TEXT: (&str, &str) = (r#"{"t":{"d":"#, "}}");

/// Formats events as lines: consecutive texts, which are the majority of events, are a list on one line.
fn lines(events: &[String]) -> String {
    let mut lines = String::with_capacity(events.iter().map(|event| event.len() + 1).sum());
    let mut in_list = false;
    for event in events {
        let text = event.strip_prefix(AROUND_TEXT.0).and_then(|rest| rest.strip_suffix(AROUND_TEXT.1));
        let before = match (in_list, text.is_some()) {
            (true, true) => ",",
            (true, false) => "]\n",
            (false, true) if lines.is_empty() => "[",
            (false, true) => "\n[",
            (false, false) if lines.is_empty() => "",
            (false, false) => "\n",
        };
        lines.push_str(before);
        lines.push_str(text.unwrap_or(event));
        in_list = text.is_some();
    }
    if in_list {
        lines.push(']');
    }
    lines
}

/// Parses the events of a line; `None` if it is unreadable.
fn read(line: &str) -> Option<Vec<Event>> {
    if !line.starts_with('[') {
        return serde_json::from_str(line).ok().map(|event| vec![event]);
    }
    let texts: Vec<String> = serde_json::from_str(line).ok()?;
    Some(texts.into_iter().map(|delta| Event::Text { delta }).collect())
}

/// Sorts after the event numbers of all batches.
const AFTER_BATCHES: &str = "~";

fn prefix(turn_id: &str) -> String {
    format!("T#{turn_id}#")
}

fn key(owner: &Owner, conversation_id: &str, turn_id: &str, first: usize) -> Key {
    Key::new(owner.stream_partition(conversation_id), format!("{}{first:012}", prefix(turn_id)))
}

/// Builds the item of a batch that fits.
fn batch(owner: &Owner, turn: &TurnLease, first: usize, events: &[String], now: SystemTime) -> Item {
    let attributes =
        [("events", s(lines(events))), ("answer", n(turn.answer)), (EXPIRES, n(millis(now + KEPT) / 1000))];
    item(&key(owner, &turn.conversation_id, &turn.turn_id, first), attributes)
}

/// The number of the first event of a batch.
fn place(item: &Item) -> Option<usize> {
    item.text(SK).ok()?.rsplit_once('#')?.1.parse().ok()
}

fn is_kept(item: &Item, now: SystemTime) -> bool {
    item.number::<i64>(EXPIRES).is_ok_and(|expires| expires > millis(now) / 1000)
}

/// Splits events into batches that fit into items.
fn batches(events: &[String]) -> Result<Vec<&[String]>, StoreError> {
    let (mut batches, mut rest) = (Vec::new(), events);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|event| {
            bytes += event.len() + 1;
            bytes <= MOST_BYTES
        });
        let (batch, others) = rest.split_at(fits.count());
        if batch.is_empty() {
            return Err(StoreError::fault("an event that no item can hold"));
        }
        batches.push(batch);
        rest = others;
    }
    Ok(batches)
}
