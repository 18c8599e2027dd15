//! The text of a turn whose process died, recovered from its log.

use domain::{
    AnswerDelta, CallPosition, Event, FinishReason, MAX_ANSWER_BYTES, Note, NumberedSources, Owner, Source, ToolCall,
    ToolEvent, ToolOutcome, TurnStart,
};
use serde_json::json;
use store::{
    Answer, ExportRow, LeaseError, LogEntry, MessageQuery, ReadError, Status, Store, StoredCall, StoredMessage,
    TurnLease, TurnRef, UserInput,
};

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, first_turn, history_of, next_turn, rows, store,
    store_at, title, user_message,
};
use crate::wire::{Fault, Gate, Wire};

/// When the lease of a turn that began at 0 has expired.
const EXPIRED: u64 = 20;

fn text(delta: &str) -> Event {
    Event::Delta(AnswerDelta::Text(delta.to_owned()))
}

fn texts(deltas: &[&str]) -> Vec<Event> {
    deltas.iter().map(|delta| text(delta)).collect()
}

fn source() -> Source {
    Source { index: 1, title: "T".to_owned(), url: "https://a.example/".to_owned(), excerpt: String::new() }
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "search_web".to_owned(), arguments: json!({ "query": "茶" }) }
}

/// The events of a turn that searches twice; the second search does not end.
fn search_events() -> Vec<Event> {
    let started =
        TurnStart { continues: false, conversation_id: "C".into(), message_id: "M".into(), model: "volcano".into() };
    let found = ToolOutcome {
        id: "1".to_owned(),
        name: "search_web".to_owned(),
        ok: true,
        cached: false,
        duration_ms: 3,
        summary: "1 result".to_owned(),
        sources: vec![source()],
        error: None,
    };
    vec![
        Event::Started(Box::new(started)),
        Event::Delta(AnswerDelta::Thinking("想".to_owned())),
        text("查一下。"),
        Event::Tool(ToolEvent::Call(Box::new(call("1")))),
        Event::Tool(ToolEvent::Result(Box::new(found))),
        Event::Note(Note::ModelSwitched("backup".into())),
        text("茶是"),
        Event::Tool(ToolEvent::Call(Box::new(call("2")))),
    ]
}

async fn append(store: &Store, lease: &TurnLease, first: usize, events: &[Event], seconds: u64) {
    let lines: Vec<LogEntry> = events.iter().map(LogEntry::from).collect();
    store.streams.append(&alice(), lease, first, &lines, at(seconds)).await.unwrap();
}

/// A turn that logged these events and died.
async fn dead_turn(store: &Store, events: &[Event]) -> TurnLease {
    let lease = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    append(store, &lease, 0, events, 3).await;
    lease
}

fn first_page(limit: u32) -> MessageQuery<'static> {
    MessageQuery { limit, ..MessageQuery::default() }
}

fn turn_of(lease: &TurnLease) -> TurnRef {
    let (turn_id, conversation_id) = (lease.turn_id.clone(), lease.conversation_id.clone());
    TurnRef { turn_id, conversation_id, answer_seq: lease.answer_seq }
}

/// The answer as a reader of the conversation gets it.
async fn read(store: &Store, lease: &TurnLease, seconds: u64) -> StoredMessage {
    let page = store.messages(&alice(), &lease.conversation_id, first_page(100), at(seconds)).await.unwrap();
    page.items.into_iter().nth(1).unwrap()
}

async fn shown(store: &Store, lease: &TurnLease, seconds: u64) -> (String, Status) {
    let message = read(store, lease, seconds).await;
    (message.content, message.status)
}

fn interrupted(content: &str) -> (String, Status) {
    (content.to_owned(), Status::Interrupted)
}

#[tokio::test]
async fn f101_reader_recovers_text_of_dead_turn() {
    let store = store().await;
    let lease = dead_turn(&store, &search_events()).await;
    assert_eq!(shown(&store, &lease, 4).await, (String::new(), Status::Running), "not while the lease is valid");
    let message = read(&store, &lease, EXPIRED).await;
    assert_eq!((message.content.as_str(), message.thinking.as_str()), ("查一下。茶是", "想"));
    assert_eq!(
        (message.status, message.models),
        (Status::Interrupted, vec!["volcano".to_owned(), "backup".to_owned()])
    );
    assert_eq!(message.sources, [source()]);
    let calls: Vec<(bool, &str)> = message.tool_calls.iter().map(|call| (call.ok, call.summary.as_str())).collect();
    assert_eq!(calls, [(true, "1 result"), (false, "not finished")]);
    let position = CallPosition { text: 6, thinking: 1, thinking_ms: None };
    assert_eq!(message.tool_calls[1], StoredCall::new(&call("2"), None, Some(position)));
    let expired = 2 * 3600;
    assert_eq!(shown(&store, &lease, expired).await, interrupted("查一下。茶是"), "and it outlives the log");
    let stored = store.conversations.get_turn(&alice(), &lease.conversation_id, 2, at(expired)).await.unwrap();
    assert_eq!(stored.outcome, None, "the turn has not ended");
}

#[tokio::test]
async fn f101_next_turn_continues_from_recovered_text() {
    let store = store().await;
    let lease = dead_turn(&store, &texts(&["一", "二"])).await;
    let next = next_turn(&lease.conversation_id, "Q2");
    let lease = store.conversations.begin(&alice(), &next, at(EXPIRED)).await.unwrap();
    let dead = lease.interrupted.clone().unwrap();
    assert_eq!(store.recover_turn(&alice(), &dead, at(EXPIRED)).await, Ok(true));
    let expected = [user_message("Q"), assistant_message("一二")];
    assert_eq!(history_of(&store.conversations, &lease, 1000).await, expected);
    store.conversations.finish(&lease, &answer("A2"), at(EXPIRED)).await.unwrap();
    assert_eq!(shown(&store, &lease, EXPIRED).await, interrupted("一二"));
    let next = store.conversations.begin(&alice(), &next_turn(&lease.conversation_id, "Q3"), at(30)).await.unwrap();
    assert_eq!(next.interrupted, None, "the turn before ended");
}

#[tokio::test]
async fn f101_pages_of_dead_turn_keep_their_numbers() {
    let numbered = |last| NumberedSources { sources: vec![source()], last };
    for recovered_first in [true, false] {
        let store = store().await;
        let dead = dead_turn(&store, &search_events()).await;
        if recovered_first {
            read(&store, &dead, EXPIRED).await;
        }
        let next = next_turn(&dead.conversation_id, "Q2");
        let lease = store.conversations.begin(&alice(), &next, at(EXPIRED)).await.unwrap();
        assert_eq!(store.recover_turn(&alice(), &turn_of(&dead), at(EXPIRED)).await, Ok(true));
        assert_eq!(store.conversations.sources(&lease).await, Ok(numbered(1)), "{recovered_first}");
        let added = NumberedSources { sources: Vec::new(), last: 1 };
        let end = Answer { added_sources: Some(added), ..answer("A2") };
        store.conversations.finish(&lease, &end, at(EXPIRED)).await.unwrap();
        let next = next_turn(&dead.conversation_id, "Q3");
        let lease = store.conversations.begin(&alice(), &next, at(EXPIRED)).await.unwrap();
        assert_eq!(store.conversations.sources(&lease).await, Ok(numbered(1)), "{recovered_first}");
    }
}

#[tokio::test]
async fn f101_end_of_turn_prevails_over_recovery() {
    let store = store().await;
    let lease = dead_turn(&store, &texts(&["一"])).await;
    assert_eq!(shown(&store, &lease, EXPIRED).await, interrupted("一"));
    store.conversations.finish(&lease, &answer("一二三"), at(EXPIRED + 1)).await.unwrap();
    let complete = ("一二三".to_owned(), Status::Complete);
    assert_eq!(shown(&store, &lease, EXPIRED + 2).await, complete);
    append(&store, &lease, 1, &texts(&["late"]), EXPIRED + 3).await;
    assert_eq!(store.recover_turn(&alice(), &turn_of(&lease), at(EXPIRED + 4)).await, Ok(true));
    assert_eq!(shown(&store, &lease, EXPIRED + 5).await, complete);
    let stored = store.conversations.get_turn(&alice(), &lease.conversation_id, 2, at(EXPIRED + 5)).await.unwrap();
    assert!(stored.outcome.is_some());
}

#[tokio::test]
async fn simultaneous_recoveries_store_the_longest_text() {
    let endpoint = database().await;
    let (store, other) = (store_at(&endpoint).await, store_at(&endpoint).await);
    let lease = dead_turn(&store, &texts(&["一"])).await;
    let (one, two) = tokio::join!(read(&store, &lease, EXPIRED), read(&other, &lease, EXPIRED));
    assert_eq!((one.content.as_str(), two.content.as_str()), ("一", "一"));
    // Its process was slow, and died later.
    append(&store, &lease, 1, &texts(&["二"]), EXPIRED).await;
    let (owner, dead) = (alice(), turn_of(&lease));
    let (one, two) = tokio::join!(
        store.recover_turn(&owner, &dead, at(EXPIRED + 1)),
        other.recover_turn(&owner, &dead, at(EXPIRED + 1))
    );
    assert_eq!((one, two), (Ok(true), Ok(true)));
    assert_eq!(shown(&store, &lease, EXPIRED + 2).await, interrupted("一二"));
}

#[tokio::test]
async fn log_with_gap_is_recovered_up_to_it() {
    let store = store().await;
    let lease = dead_turn(&store, &texts(&["一", "二"])).await;
    append(&store, &lease, 3, &texts(&["四"]), 4).await;
    assert_eq!(shown(&store, &lease, EXPIRED).await, interrupted("一二"));
}

#[tokio::test]
async fn expired_or_foreign_log_recovers_nothing() {
    let store = store().await;
    let lease = dead_turn(&store, &texts(&["一"])).await;
    let bob = store.recover_turn(&Owner::new("bob"), &turn_of(&lease), at(EXPIRED)).await;
    assert_eq!(bob, Ok(false));
    assert_eq!(shown(&store, &lease, 3 + 3600).await, interrupted(""));
    let short = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    assert_eq!(shown(&store, &short, EXPIRED).await, interrupted(""), "a short turn has no log");
}

#[tokio::test]
async fn f150_deleted_conversation_is_not_recovered() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = dead_turn(&store, &texts(&["一"])).await;
    store.conversations.delete(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!(store.recover_turn(&alice(), &turn_of(&lease), at(EXPIRED)).await, Ok(true));
    assert!(rows(&endpoint, "data").await.is_empty());
    let gone = store.messages(&alice(), &lease.conversation_id, first_page(100), at(EXPIRED)).await;
    assert_eq!(gone, Err(ReadError::NotFound));
}

#[tokio::test]
async fn f086_long_text_is_recovered_in_pieces() {
    let store = store().await;
    let long = "茶".repeat(100_000);
    let lease = dead_turn(&store, &texts(&[&long, &long])).await;
    append(&store, &lease, 2, &texts(&[&long, &long, &long, &long, &long, &long]), 4).await;
    let (content, status) = shown(&store, &lease, EXPIRED).await;
    assert_eq!(status, Status::Interrupted);
    assert!(content.len() <= MAX_ANSWER_BYTES && content.ends_with(" […]") && content.starts_with(&long));
}

#[tokio::test]
async fn export_holds_text_of_dead_regeneration() {
    let store = store().await;
    let lease = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    let mut again = next_turn(&lease.conversation_id, "");
    again.input = UserInput::Regenerate;
    let dead = store.conversations.begin(&alice(), &again, at(2)).await.unwrap();
    append(&store, &dead, 0, &texts(&["half"]), 4).await;
    let (mut export, mut exported) = (store.export(&alice(), at(30)), Vec::new());
    while let Some(rows) = export.next().await.unwrap() {
        exported.extend(rows.into_iter().filter_map(|row| match row {
            ExportRow::Message { message, superseded, .. } => Some((message.content, superseded)),
            _ => None,
        }));
    }
    let expected =
        [("Q", false), ("A", false), ("half", true)].map(|(content, superseded)| (content.to_owned(), superseded));
    assert_eq!(exported, expected);
    assert_eq!(shown(&store, &dead, 30).await, ("A".to_owned(), Status::Complete), "the previous answer is shown");
}

#[tokio::test]
async fn f101_turn_that_ends_late_is_not_interrupted() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await.conversations, store_at(&wire.database).await);
    let lease = fast.conversations.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    let (gate, next) = (Gate::default(), next_turn(&lease.conversation_id, "Q2"));
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    let begun = tokio::spawn(async move { slow.begin(&alice(), &next, at(EXPIRED)).await });
    gate.arrival().await;
    fast.conversations.finish(&lease, &answer("A1"), at(EXPIRED)).await.unwrap();
    gate.open();
    let next = begun.await.unwrap().unwrap();
    assert_eq!(next.interrupted, None);
    assert_eq!(shown(&fast, &lease, EXPIRED).await, ("A1".to_owned(), Status::Complete));
}

#[tokio::test]
async fn renamed_conversation_refuses_the_announced_title() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let titled = |title: &str| Answer { title: Some(title.to_owned()), ..answer("A") };
    store.edit(&alice(), &lease.conversation_id, &title("Mine"), at(1)).await.unwrap();
    assert_eq!(store.finish(&lease, &titled("About Q"), at(2)).await, Err(LeaseError::Renamed));
    let page = store.messages(&alice(), &lease.conversation_id, 10, None, at(2)).await.unwrap();
    assert_eq!(page.items[1].status, Status::Running, "nothing is stored");
    store.finish(&lease, &titled("Mine"), at(3)).await.unwrap();
    assert_eq!(store.finish(&lease, &titled("About Q"), at(4)).await, Ok(()), "the turn has ended");
}

#[tokio::test]
async fn ended_turn_is_found_for_an_hour() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    let find = async |turn: &str, owner: &Owner, now| store.find_ended_turn(owner, &id, turn, now).await.unwrap();
    assert_eq!(find(&lease.turn_id, &alice(), at(1)).await, None, "it runs");
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    for number in 0..20 {
        let next = store.begin(&alice(), &next_turn(&id, &number.to_string()), at(2)).await.unwrap();
        store.finish(&next, &answer("B"), at(2)).await.unwrap();
        let found = find(&next.turn_id, &alice(), at(2)).await.unwrap();
        let turn = store.get_turn(&alice(), &id, found.answer_seq, at(2)).await.unwrap();
        assert_eq!((turn.message.content.as_str(), turn.title), ("B", None));
    }
    let found = find(&lease.turn_id, &alice(), at(3600)).await.unwrap();
    assert_eq!((&found.turn_id, &found.conversation_id), (&lease.turn_id, &id));
    let turn = store.get_turn(&alice(), &id, found.answer_seq, at(3600)).await.unwrap();
    assert_eq!((turn.message.content.as_str(), turn.title.as_deref()), ("A", Some("About Q")));
    assert_eq!(turn.outcome.map(|outcome| outcome.end), Some(store::TurnEnd::Done(FinishReason::Stop)));
    assert_eq!(find(&lease.turn_id, &alice(), at(3601)).await, None);
    assert_eq!(find(&lease.turn_id, &Owner::new("bob"), at(3)).await, None);
}
