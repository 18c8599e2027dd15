//! Event logs of longer turns, kept for an hour, so that any instance can replay a turn from its beginning.
//!
//! An item holds a batch of events, one JSON line each; consecutive text events share a line. As a list they need less
//! than half of the bytes, which determine the cost. The key holds the number of the first event, so that a batch that
//! is written twice is one, and a reader notices a gap and waits. A reader stops at an item that another version wrote
//! and this one cannot read, as it does after a failed write; the stored answer then provides the rest.

mod entry;

use std::time::{Duration, SystemTime};

use domain::{Event, Owner};
use tokio::time::Instant;

pub use self::entry::LogEntry;
use self::entry::{format_lines, parse_line};
use crate::answer_writes::AnswerWrites;
use crate::coalescer::Coalescer;
use crate::conversations::TurnLease;
use crate::item::{Item, ItemExt, expires_at, item, n, s};
use crate::key::{Key, OwnerPartitions, SK, is_ulid};
use crate::table::{Expression, Table};
use crate::turn_ref::TurnRef;
use crate::{Result, StoreError};

const TTL: Duration = Duration::from_hours(1);

/// The maximum bytes of events in an item; DynamoDB's limit is 400 KB with all attributes.
const MAX_ITEM_BYTES: usize = 350 * 1024;

/// The maximum bytes of events in the transaction of an answer: there each kilobyte costs twice, and has to fit in
/// addition to the answer.
const MAX_TAIL_BYTES: usize = 64 * 1024;

/// Events of turns in the ephemeral table, under their conversations.
#[derive(Clone)]
pub struct StreamLog {
    table: Table,
    /// Combines writes of several turns' logs at the same moment.
    coalescer: Coalescer<(), Vec<Item>, Result<()>>,
    flush_epoch: Instant,
}

/// A page of a turn's log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPage {
    /// The events in order; empty if there are no more yet.
    pub events: Vec<Event>,
    /// Whether more can be read immediately.
    pub has_more: bool,
    /// Whether an item follows that this version cannot read.
    pub unreadable: bool,
}

impl StreamLog {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, coalescer: Coalescer::default(), flush_epoch: Instant::now() }
    }

    /// The common start of the flush intervals of all turns at this instance: simultaneous additions share one request.
    pub fn flush_epoch(&self) -> Instant {
        self.flush_epoch
    }

    /// Appends events to a turn's log; the first of them is event number `first` of the turn, counted from 0.
    ///
    /// # Errors
    /// Also if one event alone is larger than an item.
    pub async fn append(
        &self,
        owner: &Owner,
        turn: &TurnLease,
        first: usize,
        events: &[LogEntry],
        now: SystemTime,
    ) -> Result<()> {
        let mut items = Vec::new();
        let mut first = first;
        for lines in split_batches(events)? {
            items.push(batch_item(owner, turn, first, lines, now));
            first += lines.len();
        }
        self.coalescer.send(&(), items, |all| self.table.put_all(all.into_iter().flatten().collect())).await
    }

    /// Prepares the events that [`append`](Self::append) would write, for
    /// [`finish_with`](crate::ConversationStore::finish_with); `None` if they are too large for that. Makes no
    /// call.
    pub fn prepare_tail(
        &self,
        owner: &Owner,
        turn: &TurnLease,
        first: usize,
        events: &[LogEntry],
        now: SystemTime,
    ) -> Option<AnswerWrites> {
        let bytes: usize = events.iter().map(LogEntry::bytes).sum();
        let put = || self.table.put_write(batch_item(owner, turn, first, events, now), Expression::default());
        (bytes <= MAX_TAIL_BYTES).then(|| AnswerWrites(vec![put()]))
    }

    /// Reads a page of events, starting with number `next`, which must be the first of a batch.
    pub async fn read(&self, owner: &Owner, turn: &TurnRef, next: usize, now: SystemTime) -> Result<LogPage> {
        let (items, has_more) = self.page(owner, &turn.conversation_id, &turn.turn_id, next, None).await?;
        let mut page = LogPage { has_more, ..LogPage::default() };
        for item in items.iter().filter(|item| item.is_unexpired(now)) {
            if first_event(item) != Some(next + page.events.len()) {
                break;
            }
            page.push_item(item);
        }
        page.has_more &= !page.events.is_empty() && !page.unreadable;
        Ok(page)
    }

    /// The turn with this id, if this conversation has its log.
    pub async fn find(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        now: SystemTime,
    ) -> Result<Option<TurnRef>> {
        let (items, _) = self.page(owner, conversation_id, turn_id, 0, Some(1)).await?;
        let Some(first) = items.first().filter(|item| item.is_unexpired(now)) else { return Ok(None) };
        Ok(Some(TurnRef::new(turn_id, conversation_id, first.number("answer")?)))
    }

    /// Deletes the logs of a conversation, or of `turn_id` alone.
    pub async fn delete_logs(&self, owner: &Owner, id: &str, turn_id: Option<&str>) -> Result<()> {
        let prefix = turn_id.map_or_else(|| "T#".to_owned(), turn_prefix);
        let query = self.table.query_prefix(&owner.stream_partition(id), &prefix);
        self.table.delete_queried(query).await.map(drop)
    }

    /// A page of the batches from event `first` on, and whether there are more.
    async fn page(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        first: usize,
        limit: Option<i32>,
    ) -> Result<(Vec<Item>, bool)> {
        if !is_ulid(conversation_id) || !is_ulid(turn_id) {
            return Ok((Vec::new(), false));
        }
        let from = batch_key(owner, conversation_id, turn_id, first);
        let call = self.table.query_range(&from.pk, from.sk, turn_prefix(turn_id) + AFTER_BATCHES);
        let (items, next) = self.table.query_page(call.set_limit(limit), None).await?;
        Ok((items, next.is_some()))
    }
}

impl LogPage {
    fn push_item(&mut self, item: &Item) {
        let text = item.text("events").ok().filter(|_| item.is_readable());
        for line in text.unwrap_or("?").split('\n') {
            match parse_line(line) {
                Some(events) if !self.unreadable => self.events.extend(events),
                _ => self.unreadable = true,
            }
        }
    }
}

/// Sorts after the event numbers of all batches.
const AFTER_BATCHES: &str = "~";

fn turn_prefix(turn_id: &str) -> String {
    format!("T#{turn_id}#")
}

fn batch_key(owner: &Owner, conversation_id: &str, turn_id: &str, first: usize) -> Key {
    Key::new(owner.stream_partition(conversation_id), format!("{}{first:012}", turn_prefix(turn_id)))
}

fn batch_item(owner: &Owner, turn: &TurnLease, first: usize, events: &[LogEntry], now: SystemTime) -> Item {
    let attributes = [("events", s(format_lines(events))), ("answer", n(turn.answer_seq)), expires_at(now + TTL)];
    item(&batch_key(owner, &turn.conversation_id, &turn.turn_id, first), attributes)
}

fn first_event(item: &Item) -> Option<usize> {
    item.text(SK).ok()?.rsplit_once('#')?.1.parse().ok()
}

/// Splits events into batches that fit into items.
fn split_batches(events: &[LogEntry]) -> Result<Vec<&[LogEntry]>> {
    let (mut batches, mut rest) = (Vec::new(), events);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|event| {
            bytes += event.bytes();
            bytes <= MAX_ITEM_BYTES
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
