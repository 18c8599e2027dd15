use std::time::SystemTime;

use agent::{CallRecord, Draft, EventLog};
use conversation::{ErrorCode, Event, Failure, FinishReason, Summary};
use store::{
    Answer, ConversationStore, LeaseError, LoggedEnd, Question, ReadError, Renewed, StoreError, StoredCall, TurnEnd,
    TurnLease,
};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::App;
use crate::answering::{Answering, Past};
use crate::begin::Asked;
use crate::observed::Ended;
use crate::running::Place;
use crate::turn_log::TurnLog;

/// Characters that are read of earlier turns for a token that may be sent: long results are shortened on the way.
const CHARACTERS: usize = 5;

/// A turn that is stored as running and now runs.
pub(crate) struct TurnTask {
    pub(crate) app: App,
    pub(crate) place: Place,
    pub(crate) lease: TurnLease,
    pub(crate) asked: Asked,
    /// Set for a new conversation.
    pub(crate) title: Option<String>,
    pub(crate) started: Event,
    /// The answer's id.
    pub(crate) message_id: String,
    pub(crate) events: EventLog,
}

/// How a turn came to its end.
enum Ending {
    Answered(FinishReason),
    Failed(Failure),
    /// The conversation is deleted: nothing may be stored.
    Gone,
    /// Another turn took the conversation over: nothing may be stored, and no stop of this one was requested.
    Superseded,
}

impl Ending {
    /// How it counts: who deletes a conversation wants no more of its turn.
    fn told(&self) -> Result<FinishReason, ErrorCode> {
        match self {
            Self::Answered(reason) => Ok(*reason),
            Self::Failed(failure) => Err(failure.code),
            Self::Gone => Ok(FinishReason::Stopped),
            Self::Superseded => Err(ErrorCode::Interrupted),
        }
    }
}

/// The user wants no more; what was said is an answer.
const STOPPED: Ending = Ending::Answered(FinishReason::Stopped);

impl TurnTask {
    /// Runs the turn, stores the answer with what is left of its log, and only then ends the stream: Lambda freezes the
    /// process after the last byte.
    pub(crate) async fn drive(self) {
        let started_at = Instant::now();
        let mut log = TurnLog::new(&self.app.store.streams, &self.asked.owner, &self.lease, &self.events);
        self.events.send(self.started.clone());
        let ended = CancellationToken::new();
        let (ending, ()) = tokio::join!(self.run(&ended), log.follow(&ended));
        let ending = Box::pin(self.end(ending, &mut log, started_at)).await;
        let last = self.last(&ending);
        if matches!(ending, Ending::Gone) {
            log.discard().await;
        } else {
            log.finish(&last).await;
            self.keep(&mut log).await;
        }
        for event in last {
            self.events.send(event);
        }
    }

    /// Keeps the turn for clients that come back, unless its conversation was deleted since its end was stored: that cannot
    /// have seen what was written down afterwards.
    async fn keep(&self, log: &mut TurnLog<'_>) {
        self.place.keep(&self.lease.turn_id, &self.events);
        if log.is_late() && self.is_deleted().await || self.place.gone.is_cancelled() {
            self.app.running.forget(&self.asked.owner, &self.lease.conversation_id);
            log.discard().await;
        }
    }

    async fn is_deleted(&self) -> bool {
        let found = self.app.store.conversations.get(&self.asked.owner, &self.lease.conversation_id).await;
        matches!(found, Err(ReadError::NotFound))
    }

    /// Runs the turn to its end, and the log with it.
    async fn run(&self, ended: &CancellationToken) -> Ending {
        let ending = Box::pin(self.until_end()).await;
        ended.cancel();
        ending
    }

    /// Stores the end, counts what the turn used and tells of it.
    async fn end(&self, ending: Ending, log: &mut TurnLog<'_>, started_at: Instant) -> Ending {
        let answering = self.answering();
        let (ending, ()) = tokio::join!(self.save(ending, log), answering.count());
        let (arrival, conversation_id) = (&self.asked.arrival, self.lease.conversation_id.as_str());
        answering.tell(&Ended { arrival, conversation_id, started_at, end: ending.told() });
        ending
    }

    /// The events that are left when the turn is stored.
    fn last(&self, ending: &Ending) -> Vec<Event> {
        let usage = self.events.draft().usage();
        let title = self.title.clone().map(Event::Title);
        title.into_iter().chain([Event::Usage(Box::new(usage)), terminal(ending)]).collect()
    }

    /// Answers until there is an answer or something ends the turn from outside.
    async fn until_end(&self) -> Ending {
        let answering = self.answering();
        tokio::select! {
            biased;
            answered = answering.within(&self.place.shutdown, Box::pin(self.answer())) => match answered {
                Ok(reason) => Ending::Answered(reason),
                Err(failure) => Ending::Failed(failure),
            },
            ending = self.keep_lease() => ending,
            () = self.place.gone.cancelled() => Ending::Gone,
            () = self.place.stop.cancelled() => STOPPED,
        }
    }

    fn answering(&self) -> Answering<'_> {
        Answering {
            app: &self.app,
            owner: &self.asked.owner,
            chosen: &self.asked.chosen,
            deadline: self.asked.deadline,
            turn_id: &self.lease.turn_id,
            events: &self.events,
        }
    }

    async fn answer(&self) -> Result<FinishReason, Failure> {
        let answering = self.answering();
        let tokens = self.asked.chosen.agent.history_tokens;
        let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARACTERS);
        let history = self.app.store.conversations.history(&self.lease, most);
        let (history, summary, ()) = tokio::join!(history, self.summary(), answering.learn());
        let history = history.map_err(|error| crate::chat::storage(&error).0)?;
        let text = self.question().await.map_err(|error| crate::chat::storage(&error).0)?;
        let past = Past { text, history, summary, caller: None };
        answering.answer(past, self.app.config.recorder.as_deref()).await
    }

    /// The user's words, those of the message that is answered again too.
    async fn question(&self) -> Result<String, StoreError> {
        match &self.asked.question {
            Question::Words(words) => Ok(words.clone()),
            Question::Again => self.app.store.conversations.question(&self.lease).await,
        }
    }

    /// What stands for the oldest turns, where the agent wants that; without it they are just left out.
    async fn summary(&self) -> Option<Summary> {
        if !self.asked.chosen.agent.summarise {
            return None;
        }
        let read = self.app.store.conversations.summary(&self.lease).await;
        read.inspect_err(|error| tracing::warn!(%error, "a summary could not be read")).ok().flatten()
    }

    /// Renews the lease for as long as it can; ends when it is lost, or somebody asked another instance for a stop.
    async fn keep_lease(&self) -> Ending {
        let period = ConversationStore::RENEWAL;
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match self.app.store.conversations.renew(&self.lease, SystemTime::now()).await {
                Ok(Renewed::GoingOn) => {}
                Ok(Renewed::Stopping) => return STOPPED,
                Err(LeaseError::Lost) => return self.lost().await,
                // The lease outlives a short fault of the storage; a long one ends it.
                Err(LeaseError::Store(error)) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// The end of a turn that holds its conversation no more.
    async fn lost(&self) -> Ending {
        if self.place.gone.is_cancelled() || self.is_deleted().await {
            return Ending::Gone;
        }
        tracing::warn!(turn = %self.lease.turn_id, "another turn took the conversation over, whose clock may be ahead");
        Ending::Superseded
    }

    /// Stores what was said, whatever ended the turn, and the end of its log with it.
    async fn save(&self, ending: Ending, log: &mut TurnLog<'_>) -> Ending {
        let end = match &ending {
            Ending::Answered(reason) => TurnEnd::Done(*reason),
            Ending::Failed(failure) => TurnEnd::Failed(failure.code),
            Ending::Gone | Ending::Superseded => return ending,
        };
        let answer = stored(self.events.draft().clone(), end);
        match self.finish(&answer, log.end(&self.last(&ending))).await {
            Ok(along) => {
                self.place.is_stored();
                log.stored(along);
                // Not before: nothing may be kept under a conversation that is gone.
                self.answering().record(&self.lease.conversation_id, &self.message_id).await;
                ending
            }
            Err(LeaseError::Lost) => self.lost().await,
            Err(LeaseError::Store(error)) => Ending::Failed(crate::chat::storage(&error).0),
        }
    }

    async fn finish(&self, answer: &Answer, log: Option<LoggedEnd>) -> Result<bool, LeaseError> {
        let (conversations, now) = (&self.app.store.conversations, SystemTime::now());
        match log {
            Some(log) => conversations.finish_logged(&self.lease, answer, log, now).await,
            None => conversations.finish(&self.lease, answer, now).await.map(|()| false),
        }
    }
}

fn terminal(ending: &Ending) -> Event {
    match ending {
        Ending::Answered(finish_reason) => Event::Done { finish_reason: *finish_reason },
        Ending::Failed(failure) => Event::Failed(Box::new(failure.clone())),
        Ending::Gone => Event::Done { finish_reason: FinishReason::Stopped },
        Ending::Superseded => Event::Failed(Box::new(ErrorCode::Interrupted.into())),
    }
}

fn stored(draft: Draft, end: TurnEnd) -> Answer {
    Answer {
        content: draft.content.clone(),
        thinking: draft.thinking.clone(),
        tool_calls: draft.calls.iter().map(stored_call).collect(),
        sources: draft.sources.clone(),
        end,
        usage: draft.usage(),
        summary: draft.summary.clone(),
        models: draft.models().to_vec(),
        transcript: draft.transcript(),
    }
}

fn stored_call(record: &CallRecord) -> StoredCall {
    let (ok, summary) = match &record.report {
        Some(report) => (report.ok, report.summary.clone()),
        None => (false, "not finished".to_owned()),
    };
    StoredCall {
        id: record.call.id.clone(),
        name: record.call.name.clone(),
        arguments: record.call.arguments.clone(),
        ok,
        summary,
    }
}
