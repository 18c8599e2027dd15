use std::collections::VecDeque;
use std::mem::size_of;
use std::time::{Duration, SystemTime};

use agent::EventLog;
use conversation::Event;
use store::Owner;

/// How long a turn is kept.
const KEPT: Duration = Duration::from_hours(1);

/// How many turns are kept.
const MOST: usize = 64;

/// How much of the memory they may take, in bytes.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The turns that ended here last, so that the rest of one, also of a short one that is written down nowhere, can be had
/// by a client that comes back to this process.
#[derive(Default)]
pub(crate) struct Recent {
    turns: VecDeque<Kept>,
    bytes: usize,
}

struct Kept {
    owner: Owner,
    conversation_id: String,
    turn_id: String,
    events: EventLog,
    bytes: usize,
    until: SystemTime,
}

impl Recent {
    /// Keeps a turn, in the place of the oldest ones if need be; one that is too large is not kept.
    pub(crate) fn keep(
        &mut self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        events: &EventLog,
        now: SystemTime,
    ) {
        let bytes = bytes(events);
        if bytes > MOST_BYTES {
            return;
        }
        self.bytes += bytes;
        self.turns.push_back(Kept {
            owner: owner.clone(),
            conversation_id: conversation_id.to_owned(),
            turn_id: turn_id.to_owned(),
            events: events.clone(),
            bytes,
            until: now + KEPT,
        });
        while self.turns.len() > MOST || self.bytes > MOST_BYTES {
            self.bytes -= self.turns.pop_front().map_or(0, |oldest| oldest.bytes);
        }
    }

    /// What happened in a turn.
    pub(crate) fn events(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        now: SystemTime,
    ) -> Option<EventLog> {
        let mut of_owner = self.turns.iter().filter(|kept| kept.owner == *owner && kept.until > now);
        let found = of_owner.find(|kept| kept.conversation_id == conversation_id && kept.turn_id == turn_id)?;
        Some(found.events.clone())
    }

    /// Forgets the turns of a conversation.
    pub(crate) fn forget(&mut self, owner: &Owner, conversation_id: &str) {
        self.turns.retain(|kept| kept.owner != *owner || kept.conversation_id != conversation_id);
        self.bytes = self.turns.iter().map(|kept| kept.bytes).sum();
    }

    /// Forgets the turns of an owner.
    pub(crate) fn forget_all(&mut self, owner: &Owner) {
        self.turns.retain(|kept| kept.owner != *owner);
        self.bytes = self.turns.iter().map(|kept| kept.bytes).sum();
    }
}

/// About what the events of a turn take; of all that they hold only text may be long.
fn bytes(events: &EventLog) -> usize {
    let draft = events.draft();
    let text = draft.content.len() + draft.thinking.len();
    let calls: usize = draft.calls.iter().map(|record| 1024 + record.call.arguments.to_string().len()).sum();
    drop(draft);
    text + calls + events.count() * (size_of::<Event>() + 64)
}

#[cfg(test)]
mod tests {
    use conversation::ToolCall;

    use super::*;

    const CONVERSATION: &str = "C";

    /// A call's arguments count like the answer's text, and no event bounds them.
    fn events(bytes: usize) -> EventLog {
        let events = EventLog::default();
        let call = ToolCall { id: "1".to_owned(), name: "t".to_owned(), arguments: "a".repeat(bytes).into() };
        events.send(Event::ToolCall(Box::new(call)));
        events
    }

    fn alice() -> Owner {
        Owner::new("alice")
    }

    fn kept(recent: &Recent, turns: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let now = SystemTime::UNIX_EPOCH;
        let is_kept = |turn: &usize| recent.events(&alice(), CONVERSATION, &turn.to_string(), now).is_some();
        turns.into_iter().filter(is_kept).collect()
    }

    fn keep(recent: &mut Recent, turn: usize, bytes: usize) {
        recent.keep(&alice(), CONVERSATION, &turn.to_string(), &events(bytes), SystemTime::UNIX_EPOCH);
    }

    #[test]
    fn so_many_turns_are_kept_the_last_ones() {
        let mut recent = Recent::default();
        (0..MOST + 3).for_each(|turn| keep(&mut recent, turn, 10));
        assert_eq!(kept(&recent, 0..MOST + 3), (3..MOST + 3).collect::<Vec<_>>());
    }

    #[test]
    fn large_turns_drive_others_out_and_too_large_ones_are_not_kept() {
        let mut recent = Recent::default();
        keep(&mut recent, 1, 10);
        keep(&mut recent, 2, MOST_BYTES + 1);
        assert_eq!(kept(&recent, 1..3), [1]);
        keep(&mut recent, 3, MOST_BYTES / 2);
        keep(&mut recent, 4, MOST_BYTES / 2);
        assert_eq!(kept(&recent, 1..5), [4]);
        recent.forget(&alice(), CONVERSATION);
        assert_eq!((kept(&recent, 1..5), recent.bytes), (Vec::new(), 0));
    }

    #[test]
    fn a_turn_is_kept_for_an_hour_and_is_its_owners_own() {
        let mut recent = Recent::default();
        keep(&mut recent, 1, 10);
        let found = |owner: &Owner, conversation: &str, seconds: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            recent.events(owner, conversation, "1", now).is_some()
        };
        assert!(found(&alice(), CONVERSATION, 3599) && !found(&alice(), CONVERSATION, 3600));
        assert!(!found(&alice(), "D", 0) && !found(&Owner::new("bob"), CONVERSATION, 0));
    }
}
