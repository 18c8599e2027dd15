use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{Attachment, ErrorCode, Failure, FinishReason, Source};

use super::bounds::{Piece, bounded_calls, bounded_sources, split_pieces};
use super::continued::{CONTINUED_AT, EARLIER, RECOVERED};
use super::head::Head;
use super::sort_keys::{MESSAGE_PREFIX, MESSAGE_SK_LEN, message_key, message_sk};
use super::sources::{EXCERPTS, read_sources, split_excerpts};
use super::transcript::{TRANSCRIPT, Transcript, transcript_chars};
use super::turn::{Answer, Continued, EarlierTurn, NewTurn, StoredTurn, TurnEnd, TurnLease, TurnOutcome};
use super::{MessageError, Role, Status, StoredCall, StoredMessage, continued};
use crate::clock::{millis, rfc3339, span_millis};
use crate::compressed::compressed;
use crate::item::{Item, ItemExt, item, n, s, to_json, variant};
use crate::key::Key;
use crate::table::Expression;
use crate::turn_ref::TurnRef;
use crate::{Result, StoreError};

// Attributes of a message, which the table in `lib.rs` describes.
pub(super) const PARTS: &str = "parts";
pub(super) const FEEDBACK: &str = "feedback";
pub(super) const PARENT: &str = "parent";
pub(super) const SUPERSEDED: &str = "aside";
pub(super) const REQUEST: &str = "clientRequest";
pub(super) const ATTACHMENTS: &str = "attachments";

/// How long after its begin an answer may be recovered: a log lives for an hour, and no turn is half as long.
const RECOVERABLE: Duration = Duration::from_mins(90);

/// Builds the items of the user's message and its further pieces.
pub(super) fn user_message_items(lease: &TurnLease, turn: &NewTurn, text: &str, now: SystemTime) -> Vec<Item> {
    let (seq, parent) = (lease.question_seq, lease.before.last().unwrap_or_default());
    let pieces = split_pieces(text, "");
    let content = ("", Status::Complete, pieces[0].content.as_str(), pieces.len() - 1);
    let mut message = message_item(lease, (seq, parent), Role::User, &turn.user_message_id, content, now);
    message.extend(turn.request.iter().map(|request| (REQUEST.to_owned(), compressed(&to_json(request)))));
    if !turn.attachments.is_empty() {
        message.insert(ATTACHMENTS.to_owned(), s(to_json(&turn.attachments)));
    }
    let mut items = vec![message];
    items.extend(further_items(&lease.partition, seq, &pieces));
    items
}

pub(super) fn running_answer_item(lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Item {
    let seqs = (lease.answer_seq, lease.question_seq);
    let content = (turn.model.as_str(), Status::Running, "", 0);
    message_item(lease, seqs, Role::Assistant, &turn.assistant_message_id, content, now)
}

fn message_item(
    lease: &TurnLease,
    (seq, parent): (u64, u64),
    role: Role,
    id: &str,
    (model, status, content, parts): (&str, Status, &str, usize),
    now: SystemTime,
) -> Item {
    let attributes = [
        ("id", s(id)),
        ("turn", s(&lease.turn_id)),
        ("author", variant(role)),
        (PARENT, n(parent)),
        ("model", s(model)),
        ("progress", variant(status)),
        ("createdAt", n(millis(now))),
        ("content", s(content)),
        ("thinking", s("")),
        (PARTS, n(parts)),
        ("calls", s("[]")),
        ("sources", s("[]")),
    ];
    item(&message_key(&lease.partition, seq), attributes)
}

pub(super) fn further_items(partition: &str, seq: u64, pieces: &[Piece]) -> Vec<Item> {
    let further = pieces.iter().enumerate().skip(1);
    let key = |number: usize| Key::new(partition, format!("{}#{number:03}", message_sk(seq)));
    further
        .map(|(number, piece)| item(&key(number), [("content", s(&piece.content)), ("thinking", s(&piece.thinking))]))
        .collect()
}

/// The end of a turn: the update of the answer's item and the items of its further pieces.
pub(super) fn end_answer(
    lease: &TurnLease,
    answer: &Answer,
    transcript: Option<&Transcript>,
    now: SystemTime,
) -> (Key, Expression, Vec<Item>) {
    let pieces = split_pieces(&answer.content, &answer.thinking);
    let is_done = matches!(answer.outcome.end, TurnEnd::Done(_));
    let status = if is_done { Status::Complete } else { Status::Interrupted };
    let written = answer_attributes(&pieces, &answer.tool_calls, &answer.sources, &answer.outcome);
    let end_attributes = [("progress", variant(status)), ("endedAt", n(millis(now)))];
    // A continuation that ended before it wrote anything may not have read the transcript.
    let is_unchanged = |before: &Continued| {
        let message = &before.message;
        before.has_transcript
            && (&message.content, message.tool_calls.len()) == (&answer.content, answer.tool_calls.len())
    };
    let is_kept = transcript.is_none() && lease.continued.as_deref().is_some_and(is_unchanged);
    let chars = (!is_kept).then(|| (TRANSCRIPT, n(transcript.map_or(0, |transcript| transcript.chars))));
    let change =
        Expression::set(written.chain(end_attributes).chain(chars).chain(transcript.and_then(Transcript::attribute)))
            .and(&format!("REMOVE {RECOVERED}"))
            .and_when("turn = :turn")
            .value(":turn", s(&lease.turn_id));
    let further = further_items(&lease.partition, lease.answer_seq, &pieces);
    (message_key(&lease.partition, lease.answer_seq), change, further)
}

/// What a turn has written so far, within the limits of an item.
pub(super) fn answer_attributes(
    pieces: &[Piece],
    calls: &[StoredCall],
    sources: &[Source],
    outcome: &TurnOutcome,
) -> impl Iterator<Item = (&'static str, AttributeValue)> {
    let (sources, excerpts) = split_excerpts(bounded_sources(sources));
    let attributes = [
        ("content", s(&pieces[0].content)),
        ("thinking", s(&pieces[0].thinking)),
        ("calls", s(to_json(&bounded_calls(calls)))),
        ("sources", s(to_json(&sources))),
        (PARTS, n(pieces.len() - 1)),
        ("tally", s(to_json(outcome))),
    ];
    attributes.into_iter().chain(excerpts.map(|excerpts| (EXCERPTS, excerpts)))
}

/// Builds the update that marks the answer of an expired turn as interrupted.
pub(super) fn interrupt_update(partition: &str, seq: u64) -> (Key, Expression) {
    let change = Expression::update("SET progress = :progress").and_when("attribute_exists(pk)");
    (message_key(partition, seq), change.value(":progress", variant(Status::Interrupted)))
}

/// Whether this item is the answer of the turn, and the turn has ended regularly.
pub(super) fn is_ended_by(item: &Item, turn_id: &str) -> bool {
    item.contains_key("endedAt") && item.text("turn").is_ok_and(|turn| turn == turn_id)
}

pub(super) fn answer_key(lease: &TurnLease) -> Key {
    message_key(&lease.partition, lease.answer_seq)
}

/// A message assembled from its items.
#[derive(Debug)]
pub(super) struct AssembledMessage {
    pub(super) seq: u64,
    pub(super) turn_id: String,
    /// The number of its further pieces.
    parts: usize,
    pub(super) message: StoredMessage,
    /// The model and the begin of its last turn.
    model: String,
    began_at: i64,
    pub(super) ended_secs: Option<u64>,
    /// Whether it holds what the log of its turn held.
    is_recovered: bool,
    tally: Option<TurnOutcome>,
    /// The turns that wrote it before.
    pub(super) earlier: Vec<EarlierTurn>,
    has_transcript: bool,
}

impl AssembledMessage {
    pub(super) fn read(item: &Item) -> Result<Self> {
        item.check_version("a message")?;
        let tally: Option<TurnOutcome> = item.optional_json("tally")?;
        let models = tally.as_ref().map(|outcome| outcome.models.clone()).unwrap_or_default();
        let is_recovered = item.contains_key(RECOVERED);
        // A recovered answer has no outcome: its turn did not end.
        let outcome = tally.as_ref().filter(|_| !is_recovered);
        let created_at = item.number("createdAt")?;
        let error = outcome.and_then(message_error);
        let message = StoredMessage {
            id: item.text("id")?.to_owned(),
            parent_id: None,
            siblings: Vec::new(),
            role: item.variant("author")?,
            attachments: listed_attachments(item)?,
            content: item.text("content")?.to_owned(),
            thinking: item.text("thinking")?.to_owned(),
            thinking_ms: outcome.and_then(|outcome| outcome.thinking_ms),
            usage: outcome.map(|outcome| outcome.usage),
            model: item.text("model")?.to_owned(),
            tool_calls: item.json("calls")?,
            sources: read_sources(item)?,
            status: if error.is_some() { Status::Failed } else { item.variant("progress")? },
            models,
            finish_reason: outcome.and_then(early_finish_reason),
            error,
            feedback: item.optional_json(FEEDBACK)?,
            created_at: rfc3339(created_at),
        };
        Ok(Self {
            seq: require(item.text("sk")?.get(MESSAGE_PREFIX.len()..).and_then(|seq| seq.parse().ok()))?,
            turn_id: item.text("turn")?.to_owned(),
            parts: item.number(PARTS)?,
            model: message.model.clone(),
            began_at: item.optional_number(CONTINUED_AT)?.unwrap_or(created_at),
            ended_secs: item.optional_number::<u64>("endedAt")?.map(|millis| millis / 1000),
            is_recovered,
            tally,
            earlier: item.optional_json(EARLIER)?.unwrap_or_default(),
            has_transcript: transcript_chars(item)?.is_some(),
            message,
        })
    }

    /// Whether an item is a further piece of it. Its key range may hold more: pieces of another answer that a restore
    /// has left.
    pub(super) fn has_piece(&self, item: &Item) -> Result<bool> {
        let piece = item.text("sk")?.strip_prefix(&message_sk(self.seq)).and_then(|rest| rest.strip_prefix('#'));
        let Some(piece) = piece else { return Ok(false) };
        Ok(require(piece.parse::<usize>().ok())? <= self.parts)
    }

    pub(super) fn append(&mut self, piece: &Item) -> Result<()> {
        self.message.content.push_str(piece.text("content")?);
        self.message.thinking.push_str(piece.text("thinking")?);
        Ok(())
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.message.content.len() + self.message.thinking.len()
    }

    /// The message as of `now`, based on the head that was read before it.
    ///
    /// An answer marked as running runs only if the head confirms it. One that began after the head was read has a seq
    /// above the head's last one.
    pub(super) fn into_message(mut self, head: &Head, now: SystemTime) -> StoredMessage {
        if self.message.status == Status::Running && !self.runs(head, now) {
            self.message.status = Status::Interrupted;
        }
        continued::join_turns(&mut self.message, &self.earlier);
        self.message
    }

    /// What one of its turns has written, by default its last one.
    pub(super) fn into_turn(mut self, turn_id: &str, head: &Head, now: SystemTime) -> StoredTurn {
        let index = self.earlier.iter().position(|earlier| earlier.turn == turn_id);
        let mut outcome = self.tally.take().filter(|_| !self.is_recovered);
        let mut earlier = std::mem::take(&mut self.earlier);
        let is_titled = head.was_titled_in(self.seq);
        let mut message = self.into_message(head, now);
        if let Some(index) = index {
            earlier.truncate(index + 1);
            outcome = earlier.pop().and_then(|turn| continued::end_with(&mut message, turn));
        }
        let before = earlier.last().map(|before| continued::split_after(&mut message, before));
        let title = (is_titled && before.is_none()).then(|| head.title.clone());
        StoredTurn { message, continues: before.is_some(), before: before.unwrap_or_default(), outcome, title }
    }

    /// The answer for a turn that continues it; `None` unless it ended early, or that turn has begun.
    pub(super) fn into_continued(self, turn_id: &str) -> Option<Continued> {
        let Self { message, mut earlier, has_transcript, .. } = self;
        if self.turn_id != turn_id {
            if !is_continuable(&message) {
                return None;
            }
            earlier.push(EarlierTurn {
                turn: self.turn_id,
                model: self.model,
                content: message.content.len(),
                thinking: message.thinking.len(),
                calls: message.tool_calls.len(),
                sources: message.sources.len(),
                tally: self.tally,
            });
        }
        Some(Continued { message, earlier, has_transcript })
    }

    fn runs(&self, head: &Head, now: SystemTime) -> bool {
        match &head.running {
            _ if self.seq > head.last_seq => true,
            Some(running) => running.turn_id == self.turn_id && running.remaining_lease(now).is_some(),
            None => false,
        }
    }

    /// The turn of this answer if its process died and its log may still hold what the answer lacks.
    pub(super) fn recoverable_turn(&self, head: &Head, now: SystemTime) -> Option<TurnRef> {
        let has_ended = self.tally.is_some() || self.message.status == Status::Complete;
        let is_recent = self.began_at.saturating_add(span_millis(RECOVERABLE)) > millis(now);
        let is_recoverable = !has_ended && !self.is_recovered && is_recent && !self.runs(head, now);
        is_recoverable.then(|| TurnRef::new(&self.turn_id, &head.id, self.seq))
    }
}

/// The files of a message as clients see them.
fn listed_attachments(item: &Item) -> Result<Vec<Attachment>> {
    let files: Vec<Attachment> = item.optional_json(ATTACHMENTS)?.unwrap_or_default();
    Ok(files.into_iter().map(|file| Attachment { characters: 0, ..file }).collect())
}

/// Whether an item is a further piece, not a message's main item.
pub(super) fn is_further_piece(item: &Item) -> Result<bool> {
    Ok(item.text("sk")?.len() > MESSAGE_SK_LEN)
}

/// Whether an answer ended before it was complete, for a reason that a second attempt may not meet. No turn runs.
fn is_continuable(message: &StoredMessage) -> bool {
    match (message.status, message.finish_reason, &message.error) {
        (Status::Interrupted | Status::Running, ..)
        | (_, Some(FinishReason::Length | FinishReason::Stopped | FinishReason::Deadline), _) => true,
        (_, _, Some(error)) => error.code == ErrorCode::Deadline,
        _ => false,
    }
}

/// Why a complete answer ends before the model stopped by itself.
fn early_finish_reason(outcome: &TurnOutcome) -> Option<FinishReason> {
    match outcome.end {
        TurnEnd::Done(FinishReason::Stop) | TurnEnd::Failed(_) => None,
        TurnEnd::Done(reason) => Some(reason),
    }
}

/// The error of a failed answer; an interrupted one has only its status.
fn message_error(outcome: &TurnOutcome) -> Option<MessageError> {
    let Failure { code, message, .. } = outcome.failure().filter(|failure| failure.code != ErrorCode::Interrupted)?;
    Some(MessageError { code, message })
}

fn require<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| StoreError::fault("a message that cannot be read"))
}
