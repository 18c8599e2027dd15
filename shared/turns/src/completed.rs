use std::collections::VecDeque;
use std::mem::size_of;
use std::time::{Duration, SystemTime};

use agent::EventLog;
use domain::{Event, Owner};

/// How long a completed turn is cached.
const TIME_TO_LIVE: Duration = Duration::from_hours(1);

/// Maximum number of cached turns.
const MAX_TURNS: usize = 64;

/// Maximum memory of all cached turns, in bytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The turns that finished last in this process. A client that returns to this process gets the rest of its turn from here,
/// also of one that was too short for a stored log.
#[derive(Default)]
pub(crate) struct CompletedTurns {
    turns: VecDeque<CompletedTurn>,
    bytes: usize,
}

struct CompletedTurn {
    owner: Owner,
    conversation_id: String,
    turn_id: String,
    answer_seq: u64,
    events: EventLog,
    bytes: usize,
    expires_at: SystemTime,
}

impl CompletedTurns {
    /// Caches a turn and evicts the oldest ones if need be; a turn that is too large is not cached.
    pub(crate) fn insert(
        &mut self,
        owner: &Owner,
        conversation_id: &str,
        (turn_id, answer_seq): (&str, u64),
        events: &EventLog,
        now: SystemTime,
    ) {
        let bytes = memory_bytes(events);
        if bytes > MAX_BYTES {
            return;
        }
        self.bytes += bytes;
        self.turns.push_back(CompletedTurn {
            owner: owner.clone(),
            conversation_id: conversation_id.to_owned(),
            turn_id: turn_id.to_owned(),
            answer_seq,
            events: events.clone(),
            bytes,
            expires_at: now + TIME_TO_LIVE,
        });
        while self.turns.len() > MAX_TURNS || self.bytes > MAX_BYTES {
            self.bytes -= self.turns.pop_front().map_or(0, |oldest| oldest.bytes);
        }
    }

    /// The events of a turn and the seq of its answer, if it is cached.
    pub(crate) fn events(&self, owner: &Owner, id: &str, turn_id: &str, now: SystemTime) -> Option<(EventLog, u64)> {
        let mut of_owner = self.turns.iter().filter(|turn| turn.owner == *owner && turn.expires_at > now);
        let found = of_owner.find(|turn| turn.conversation_id == id && turn.turn_id == turn_id)?;
        Some((found.events.clone(), found.answer_seq))
    }

    /// Drops the turns of an owner, or of one conversation.
    pub(crate) fn forget(&mut self, owner: &Owner, conversation_id: Option<&str>) {
        let is_other = |id: &str| conversation_id.is_some_and(|conversation_id| conversation_id != id);
        self.turns.retain(|turn| turn.owner != *owner || is_other(&turn.conversation_id));
        self.bytes = self.turns.iter().map(|turn| turn.bytes).sum();
    }
}

/// The approximate memory of a turn's events, in bytes; only their texts may be long.
fn memory_bytes(events: &EventLog) -> usize {
    let state = events.turn_state();
    let text = state.answer.content.len() + state.answer.thinking.len();
    let calls: usize = state.answer.calls.iter().map(|known| 1024 + known.call.arguments.to_string().len()).sum();
    drop(state);
    text + calls + events.count() * (size_of::<Event>() + 64)
}

#[cfg(test)]
mod tests {
    use domain::{ToolCall, ToolEvent};

    use super::*;

    const CONVERSATION: &str = "C";

    /// A call's arguments count like the answer's text, and no event bounds them.
    fn events(bytes: usize) -> EventLog {
        let events = EventLog::default();
        let call = ToolCall { id: "1".to_owned(), name: "t".to_owned(), arguments: "a".repeat(bytes).into() };
        events.send(Event::Tool(ToolEvent::Call(Box::new(call))));
        events
    }

    fn alice() -> Owner {
        Owner::new("alice")
    }

    fn cached(completed: &CompletedTurns, turns: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let now = SystemTime::UNIX_EPOCH;
        let is_cached = |turn: &usize| completed.events(&alice(), CONVERSATION, &turn.to_string(), now).is_some();
        turns.into_iter().filter(is_cached).collect()
    }

    fn insert(completed: &mut CompletedTurns, turn: usize, bytes: usize) {
        completed.insert(&alice(), CONVERSATION, (&turn.to_string(), 2), &events(bytes), SystemTime::UNIX_EPOCH);
    }

    #[test]
    fn oldest_turns_are_evicted_first() {
        let mut completed = CompletedTurns::default();
        (0..MAX_TURNS + 3).for_each(|turn| insert(&mut completed, turn, 10));
        assert_eq!(cached(&completed, 0..MAX_TURNS + 3), (3..MAX_TURNS + 3).collect::<Vec<_>>());
    }

    #[test]
    fn large_turns_evict_others_or_are_not_cached() {
        let mut completed = CompletedTurns::default();
        insert(&mut completed, 1, 10);
        insert(&mut completed, 2, MAX_BYTES + 1);
        assert_eq!(cached(&completed, 1..3), [1]);
        insert(&mut completed, 3, MAX_BYTES / 2);
        insert(&mut completed, 4, MAX_BYTES / 2);
        assert_eq!(cached(&completed, 1..5), [4]);
        completed.forget(&alice(), Some(CONVERSATION));
        assert_eq!((cached(&completed, 1..5), completed.bytes), (Vec::new(), 0));
    }

    #[test]
    fn turn_is_cached_one_hour_for_its_owner() {
        let mut completed = CompletedTurns::default();
        insert(&mut completed, 1, 10);
        let found = |owner: &Owner, conversation: &str, seconds: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            completed.events(owner, conversation, "1", now).is_some()
        };
        assert!(found(&alice(), CONVERSATION, 3599) && !found(&alice(), CONVERSATION, 3600));
        assert!(!found(&alice(), "D", 0) && !found(&Owner::new("bob"), CONVERSATION, 0));
    }
}
