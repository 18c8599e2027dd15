//! A turn that runs, or ran, in another process, told from what that process writes down of it.
//!
//! Its log is read again and again. When nothing new is in it, the head of the conversation says whether the turn still
//! runs; once it does not, what the log lacks is told from the stored answer.

use std::time::{Duration, SystemTime};

use conversation::{Batch, ErrorCode, Event, Failure, Started};
use futures_util::StreamExt;
use futures_util::stream::{once, unfold};
use store::{KnownTurn, Owner, ReadError, StoreError, StoredTurn};
use tokio::time::{Instant, sleep};
use web::ApiError;

use crate::App;
use crate::begin::Told;
use crate::chat::storage;
use crate::retold::{self, Said};

/// How often the log is read.
const LOOK: Duration = Duration::from_millis(300);

/// How long after a turn's answer was seen to be stored its log may still get its last batch, where that did not come
/// with the answer.
const LATE: Duration = Duration::from_secs(3);

/// How long a storage may fail before a reader is told.
const UNREADABLE: Duration = Duration::from_secs(15);

/// The most frames that a reader may have which the log lost: a process writes several times a second.
const MOST_LOST: u64 = 100_000;

/// Who tells a turn of another process.
struct Reader {
    app: App,
    owner: Owner,
    turn: KnownTurn,
    /// The frames that the client has already.
    has: u64,
    deadline: Instant,
    said: Said,
    /// The number of the next event in the log.
    next: usize,
    /// Whether to read on without waiting.
    at_once: bool,
    readable: bool,
    /// Since when the answer is known to be stored.
    stored: Option<Instant>,
    /// Since when the storage fails.
    failing: Option<Instant>,
    over: bool,
}

/// The turn from its first event on, for a client that has the first `has` frames of it.
pub(crate) async fn told(
    app: &App,
    owner: &Owner,
    turn: KnownTurn,
    has: u64,
    deadline: Instant,
) -> Result<Told, ApiError> {
    let StoredTurn { message, .. } = stored(app, owner, &turn).await.map_err(refused)?;
    let started = Event::Started(Box::new(Started {
        conversation_id: turn.conversation_id.clone(),
        message_id: message.id,
        model: message.model,
    }));
    let turn_id = turn.turn_id.clone();
    let reader = Reader {
        app: app.clone(),
        owner: owner.clone(),
        turn,
        has,
        deadline,
        said: Said::default(),
        next: 0,
        at_once: true,
        readable: true,
        stored: None,
        failing: None,
        over: false,
    };
    let first = once(std::future::ready(started)).map(|started| vec![started]);
    let rest = unfold(reader, |mut reader| async move { Some((reader.batch().await?, reader)) });
    Ok(Told::new(turn_id, first.chain(rest).map(Batch::from_vec)))
}

async fn stored(app: &App, owner: &Owner, turn: &KnownTurn) -> Result<StoredTurn, ReadError> {
    app.store.conversations.turn(owner, &turn.conversation_id, turn.answer, SystemTime::now()).await
}

pub(crate) fn refused(error: ReadError) -> ApiError {
    match error {
        ReadError::NotFound | ReadError::BadCursor => ErrorCode::NotFound.into(),
        ReadError::Store(error) => storage(&error),
    }
}

impl Reader {
    /// What comes after the start, as soon as there is something; `None` after the end.
    async fn batch(&mut self) -> Option<Vec<Event>> {
        let mut batch = Vec::new();
        while batch.is_empty() && !self.over {
            if !std::mem::take(&mut self.at_once) {
                sleep(LOOK).await;
            }
            batch = match self.news().await {
                Ok(batch) => self.read(batch),
                Err(error) => self.unread(&error),
            };
            self.over = batch.last().is_some_and(Event::is_end);
        }
        (!batch.is_empty()).then_some(batch)
    }

    fn read(&mut self, batch: Vec<Event>) -> Vec<Event> {
        self.failing = None;
        batch
    }

    /// The turn goes on whether or not it can be read: only a storage that fails for long ends the stream.
    fn unread(&mut self, error: &StoreError) -> Vec<Event> {
        let since = *self.failing.get_or_insert_with(Instant::now);
        if since.elapsed() >= UNREADABLE || Instant::now() >= self.deadline {
            return self.cut(storage(error).0);
        }
        tracing::warn!(%error, "a turn could not be read and is read again");
        Vec::new()
    }

    async fn news(&mut self) -> Result<Vec<Event>, StoreError> {
        let logged = self.logged().await?;
        if !logged.is_empty() {
            return Ok(logged);
        }
        let conversations = &self.app.store.conversations;
        match conversations.running(&self.owner, &self.turn.conversation_id, SystemTime::now()).await {
            Ok(Some(running)) if running == self.turn => Ok(self.too_late()),
            Ok(_) => self.ending().await,
            Err(ReadError::Store(error)) => Err(error),
            Err(_) => Ok(self.behind(retold::gone())),
        }
    }

    /// What is new in the log. Its first event is the start, which was told before.
    async fn logged(&mut self) -> Result<Vec<Event>, StoreError> {
        if !self.readable {
            return Ok(Vec::new());
        }
        let logged = self.app.store.streams.read(&self.owner, &self.turn, self.next, SystemTime::now()).await?;
        self.next += logged.events.len();
        (self.readable, self.at_once) = (!logged.unreadable, logged.more);
        logged.events.iter().for_each(|event| self.said.note(event));
        Ok(logged.events.into_iter().filter(|event| !matches!(event, Event::Started(_))).collect())
    }

    /// How a turn ends that does not run any more.
    async fn ending(&mut self) -> Result<Vec<Event>, StoreError> {
        let turn = match stored(&self.app, &self.owner, &self.turn).await {
            Ok(turn) => turn,
            Err(ReadError::Store(error)) => return Err(error),
            Err(_) => return Ok(self.behind(retold::gone())),
        };
        // Its last batch comes with the answer or after it, and may have come since the log was read.
        let logged = self.logged().await?;
        let since = *self.stored.get_or_insert_with(Instant::now);
        // Of a turn that ended before it was written down nothing comes; of one that a client has more of, it may.
        let begun = self.next > 0 || self.has > 1;
        let awaited = turn.tally.is_some() && begun && self.readable && since.elapsed() < LATE;
        if !logged.is_empty() || awaited {
            return Ok(logged);
        }
        if self.next == 0 {
            self.said.frames = 1;
        }
        // What else the client has is unknown, so nothing can be added to it.
        let known = turn.tally.is_none() || self.has <= self.said.frames;
        let rest = if known { self.said.rest(turn) } else { None };
        Ok(rest.map_or_else(|| self.cut(ErrorCode::Interrupted.into()), |rest| self.behind(rest)))
    }

    /// Nothing, or the end for a reader whose own process or time is over; on Lambda a turn's own deadline comes first.
    fn too_late(&self) -> Vec<Event> {
        let goes_on = Instant::now() < self.deadline && !self.app.running.is_shutting_down();
        if goes_on { Vec::new() } else { self.cut(ErrorCode::Interrupted.into()) }
    }

    fn cut(&self, failure: Failure) -> Vec<Event> {
        self.behind(retold::cut(failure))
    }

    /// The end of the turn behind the frames that the client has and the log has lost: they count as empty text.
    fn behind(&self, rest: Vec<Event>) -> Vec<Event> {
        let lost = self.has.saturating_sub(self.said.frames.max(1)).min(MOST_LOST);
        let empty = (0..lost).map(|_| Event::Text { delta: String::new() });
        empty.chain(rest).collect()
    }
}
