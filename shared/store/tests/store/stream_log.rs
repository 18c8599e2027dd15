use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::Owner;
use domain::{AnswerDelta, Event, new_id};
use store::{LogEntry, LogPage, Store, StoreError, TurnLease, TurnRef};

use crate::support::{alice, at, database, first_turn, put_into, rows, store, store_at};
use crate::wire::{Fault, Gate, Wire};

pub(crate) async fn begin_turn(store: &Store) -> (TurnLease, TurnRef) {
    let lease = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let known = store.conversations.running_turn(&alice(), &lease.conversation_id, at(1)).await.unwrap().unwrap();
    assert_eq!((&known.turn_id, known.answer_seq), (&lease.turn_id, lease.answer_seq));
    (lease, known)
}

fn text(delta: &str) -> Event {
    Event::Delta(AnswerDelta::Text(delta.to_owned()))
}

pub(crate) fn entries(deltas: &[&str]) -> Vec<LogEntry> {
    deltas.iter().map(|delta| LogEntry::from(&text(delta))).collect()
}

pub(crate) fn page_of(deltas: &[&str]) -> LogPage {
    LogPage { events: deltas.iter().map(|delta| text(delta)).collect(), ..LogPage::default() }
}

#[tokio::test]
async fn events_are_read_from_any_batch() {
    let store = store().await;
    let (lease, known) = begin_turn(&store).await;
    assert_eq!(store.streams.read(&alice(), &known, 0, at(1)).await.unwrap(), LogPage::default());
    for _ in 0..2 {
        store.streams.append(&alice(), &lease, 0, &entries(&["一\n", "二"]), at(2)).await.unwrap();
    }
    store.streams.append(&alice(), &lease, 2, &entries(&["三"]), at(3)).await.unwrap();
    let read = async |next| store.streams.read(&alice(), &known, next, at(4)).await.unwrap();
    assert_eq!(read(0).await, page_of(&["一\n", "二", "三"]));
    assert_eq!(read(2).await, page_of(&["三"]));
    assert_eq!(read(3).await, LogPage::default());
    let found = store.streams.find(&alice(), &known.conversation_id, &known.turn_id, at(4)).await.unwrap();
    assert_eq!(found, Some(known));
}

#[tokio::test]
async fn simultaneous_logs_share_one_request() {
    let (wire, endpoint) = Wire::new().await;
    let (store, owner) = (store_at(&endpoint).await, alice());
    let ((one, first), (other, second)) = (begin_turn(&store).await, begin_turn(&store).await);
    let write = async |event: &str| {
        let lines = entries(&[event]);
        tokio::join!(
            store.streams.append(&owner, &one, 0, &lines, at(2)),
            store.streams.append(&owner, &other, 0, &lines, at(2)),
        )
    };
    wire.seen();
    assert_eq!(write("a").await, (Ok(()), Ok(())));
    assert_eq!(wire.seen(), ["BatchWriteItem"]);
    wire.fail("BatchWriteItem", &[Fault::Refused("ValidationException")]);
    let refused = Err(StoreError::Fault("BatchWriteItem: ValidationException".to_owned()));
    assert_eq!(write("b").await, (refused.clone(), refused));
    for known in [first, second] {
        assert_eq!(store.streams.read(&alice(), &known, 0, at(4)).await.unwrap(), page_of(&["a"]));
    }
}

#[tokio::test]
async fn later_logs_share_the_next_request() {
    let (wire, endpoint) = Wire::new().await;
    let (store, owner) = (store_at(&endpoint).await, alice());
    let ((one, _), (two, _), (three, _)) =
        (begin_turn(&store).await, begin_turn(&store).await, begin_turn(&store).await);
    let gate = Gate::default();
    wire.fail("BatchWriteItem", &[Fault::Held(gate.clone())]);
    wire.seen();
    let lines = entries(&["a"]);
    let append = |lease| store.streams.append(&owner, lease, 0, &lines, at(2));
    let later = async {
        gate.arrival().await;
        let open = async { gate.open() };
        tokio::join!(append(&two), append(&three), open)
    };
    let (first, (second, third, ())) = tokio::join!(append(&one), later);
    assert_eq!((first, second, third), (Ok(()), Ok(()), Ok(())));
    assert_eq!(wire.seen(), ["BatchWriteItem", "BatchWriteItem"]);
}

#[tokio::test]
async fn events_after_gap_wait_for_it() {
    let store = store().await;
    let (lease, known) = begin_turn(&store).await;
    store.streams.append(&alice(), &lease, 0, &entries(&["a"]), at(2)).await.unwrap();
    store.streams.append(&alice(), &lease, 2, &entries(&["c"]), at(2)).await.unwrap();
    assert_eq!(store.streams.read(&alice(), &known, 0, at(4)).await.unwrap(), page_of(&["a"]));
    store.streams.append(&alice(), &lease, 1, &entries(&["b"]), at(2)).await.unwrap();
    assert_eq!(store.streams.read(&alice(), &known, 0, at(4)).await.unwrap(), page_of(&["a", "b", "c"]));
}

#[tokio::test]
async fn long_log_is_split_into_items_and_pages() {
    let store = store().await;
    let (lease, known) = begin_turn(&store).await;
    let long = "茶".repeat(40_000);
    let deltas = [long.as_str(); 30];
    store.streams.append(&alice(), &lease, 0, &entries(&deltas), at(2)).await.unwrap();
    let (mut events, mut pages) = (Vec::new(), 0);
    loop {
        let logged = store.streams.read(&alice(), &known, events.len(), at(3)).await.unwrap();
        events.extend(logged.events);
        pages += 1;
        if !logged.has_more {
            break;
        }
    }
    assert_eq!(events, page_of(&deltas).events);
    assert!(pages > 1, "{pages}");
}

#[tokio::test]
async fn oversized_event_is_fault_and_writes_nothing() {
    let store = store().await;
    let (lease, known) = begin_turn(&store).await;
    let long = "a".repeat(400_000);
    let refused = store.streams.append(&alice(), &lease, 0, &entries(&["a", &long]), at(2)).await;
    assert_eq!(refused, Err(StoreError::Fault("an event that no item can hold".to_owned())));
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), LogPage::default());
}

#[tokio::test]
async fn unreadable_version_ends_the_page() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let (lease, known) = begin_turn(&store).await;
    store.streams.append(&alice(), &lease, 0, &entries(&["a"]), at(2)).await.unwrap();
    let mut item = rows(&endpoint, "ephemeral").await.remove(0);
    item.insert("events".to_owned(), AttributeValue::S("[\"a\"]\n{\"mood\":{}}\n[\"b\"]".to_owned()));
    put_into(&endpoint, "ephemeral", item).await;
    let logged = store.streams.read(&alice(), &known, 0, at(3)).await.unwrap();
    assert_eq!(logged, LogPage { unreadable: true, ..page_of(&["a"]) });
}

#[tokio::test]
async fn consecutive_texts_are_stored_as_one_list() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let (lease, known) = begin_turn(&store).await;
    let thought = || Event::Delta(AnswerDelta::Thinking("b\n".to_owned()));
    let events = [text("a"), thought(), text("[\"]}}"), text("天\n"), text(""), thought(), thought(), text("z")];
    let lines: Vec<LogEntry> = events.iter().map(LogEntry::from).collect();
    for (index, batch) in lines.chunks(3).enumerate() {
        store.streams.append(&alice(), &lease, 3 * index, batch, at(2)).await.unwrap();
    }
    let logged = store.streams.read(&alice(), &known, 0, at(3)).await.unwrap();
    assert_eq!(logged, LogPage { events: events.to_vec(), ..LogPage::default() });
    let rows = rows(&endpoint, "ephemeral").await;
    let mut stored: Vec<&str> = rows.iter().filter_map(|row| row.get("events")?.as_s().ok()).map(|s| &**s).collect();
    stored.sort_unstable();
    let mut expected = [
        "[\"a\"]\n{\"h\":{\"d\":\"b\\n\"}}\n[\"[\\\"]}}\"]",
        "{\"h\":{\"d\":\"b\\n\"}}\n[\"z\"]",
        "[\"天\\n\",\"\"]\n{\"h\":{\"d\":\"b\\n\"}}",
    ];
    expected.sort_unstable();
    assert_eq!(stored, expected);
}

#[tokio::test]
async fn log_expires_after_one_hour() {
    let store = store().await;
    let (lease, known) = begin_turn(&store).await;
    store.streams.append(&alice(), &lease, 0, &entries(&["a"]), at(0)).await.unwrap();
    let hour = Duration::from_hours(1).as_secs();
    for (owner, conversation, seconds) in [
        (alice(), known.conversation_id.clone(), hour),
        (Owner::new("bob"), known.conversation_id.clone(), 1),
        (alice(), new_id(), 1),
        (alice(), "no id".to_owned(), 1),
    ] {
        let lost = TurnRef { conversation_id: conversation.clone(), ..known.clone() };
        assert_eq!(store.streams.read(&owner, &lost, 0, at(seconds)).await.unwrap(), LogPage::default());
        let found = store.streams.find(&owner, &conversation, &known.turn_id, at(seconds)).await.unwrap();
        assert_eq!(found, None, "{owner:?} {conversation} {seconds}");
    }
    assert_eq!(store.streams.read(&alice(), &known, 0, at(hour - 1)).await.unwrap(), page_of(&["a"]));
}

#[tokio::test]
async fn f150_deletion_removes_logs() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let ((first, _), (second, _), (third, _)) =
        (begin_turn(&store).await, begin_turn(&store).await, begin_turn(&store).await);
    for lease in [&first, &second, &third] {
        for batch in 0..30 {
            store.streams.append(&alice(), lease, batch, &entries(&["a"]), at(1)).await.unwrap();
        }
    }
    let left = async || rows(&endpoint, "ephemeral").await.len();
    assert_eq!(left().await, 90);
    store.streams.delete_logs(&alice(), &first.conversation_id, None).await.unwrap();
    assert_eq!(left().await, 60);
    store.streams.delete_logs(&alice(), &second.conversation_id, Some(&first.turn_id)).await.unwrap();
    assert_eq!(left().await, 60, "another turn's stays");
    store.streams.delete_logs(&alice(), &second.conversation_id, Some(&second.turn_id)).await.unwrap();
    assert_eq!(left().await, 30);
    store.delete_owner(&alice()).await.unwrap();
    assert_eq!(left().await, 0);
}
