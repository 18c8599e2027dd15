//! Backup of the data table, and restore into the same table and into others.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use conversation::Usage;
use serde_json::json;
use store::{
    ApiKey, BackupError, Check, Contents, Day, Kind, NewKey, NewTurn, Owner, ReadError, Restored, Store, StoreError,
    Unusable, Wish,
};

use crate::support::{
    alice, answer, at, config, database, first_turn, impatient_store_at, next_turn, put, rows, store_at,
};
use crate::wire::{Fault, Gate, Wire};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// All lines of a backup; each step must return at most a page of the table and the head before it.
pub(crate) async fn backed_up(store: &Store) -> Vec<String> {
    let (mut backup, mut lines) = (store.backup(at(5)), Vec::new());
    while let Some(step) = backup.next().await.unwrap() {
        assert!(step.iter().map(String::len).sum::<usize>() < 2 * 1024 * 1024, "more than a page");
        lines.extend(step);
    }
    lines
}

pub(crate) fn checked(lines: &[String]) -> Result<Contents, Unusable> {
    let mut check = Check::default();
    lines.iter().try_for_each(|line| check.line(line))?;
    check.end()
}

/// Restores in small batches, so that conversations are split.
pub(crate) async fn restored(store: &Store, lines: &[String], wish: Wish) -> Restored {
    let mut restore = store.restore(checked(lines).unwrap(), wish);
    for some in lines.chunks(3) {
        restore.lines(some).await.unwrap();
    }
    restore.restored()
}

/// All items of the data table, sorted.
pub(crate) async fn data(endpoint: &str) -> Vec<Item> {
    let mut all = rows(endpoint, "data").await;
    all.sort_by_key(|item| (item["pk"].as_s().unwrap().clone(), item["sk"].as_s().unwrap().clone()));
    all
}

pub(crate) async fn turn(store: &Store, turn: NewTurn, said: &str) -> String {
    let lease = store.conversations.begin(&alice(), &turn, at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer(said), at(1)).await.unwrap();
    lease.conversation_id
}

fn of_chat(chat_id: &str) -> NewTurn {
    NewTurn { chat_id: Some(chat_id.to_owned()), ..first_turn("问") }
}

/// Stores one item of each kind; returns a conversation of four messages.
async fn filled(store: &Store) -> String {
    let id = turn(store, of_chat("x"), &"长".repeat(200_000)).await;
    turn(store, next_turn(&id, "又问"), "好").await;
    store.conversations.begin(&alice(), &first_turn("runs"), at(1)).await.unwrap();
    store.ledger.add(&alice(), Day::of(at(0)), &Usage { input_tokens: 7, ..Usage::default() }).await.unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: true, expires: None };
    store.keys.create(&ApiKey::generate().unwrap(), &new, at(0)).await.unwrap();
    for kind in [Kind::Tool, Kind::Agent] {
        store.definitions.create(kind, "id", "a name", &json!({ "a": [1, null] }), at(0)).await.unwrap();
    }
    id
}

fn written(written: u64) -> Restored {
    Restored { written, ..Restored::default() }
}

#[tokio::test]
async fn restore_is_complete_and_idempotent() {
    let (from, to) = (database().await, database().await);
    let store = store_at(&from).await;
    filled(&store).await;
    let mut set = data(&from).await.remove(0);
    set.insert("set".to_owned(), AttributeValue::Bs(vec![Blob::new("b"), Blob::new("a")]));
    put(&from, set).await;
    let (lines, before) = (backed_up(&store).await, data(&from).await);
    let count = before.len() as u64;
    let contents = checked(&lines).unwrap();
    assert_eq!((contents.table.as_str(), contents.items), ("data", count));
    assert_eq!(contents.at, "2027-01-15T08:00:05.000Z");
    let other = store_at(&to).await;
    let dry = Wish { dry_run: true, ..Wish::default() };
    assert_eq!(restored(&other, &lines, dry).await, written(count));
    assert_eq!(data(&to).await, []);
    assert_eq!(restored(&other, &lines, Wish::default()).await, written(count));
    assert_eq!(data(&to).await, before);
    for wish in [dry, Wish::default(), Wish { replace: true, ..Wish::default() }] {
        assert_eq!(restored(&other, &lines, wish).await, Restored { there: count, ..Restored::default() });
    }
    assert_eq!(data(&to).await, before);
}

#[tokio::test]
async fn restore_keeps_later_messages_and_fills_gaps() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let id = turn(&store, first_turn("问"), "好").await;
    let ended = turn(&store, first_turn("一"), "二").await;
    turn(&store, next_turn(&ended, "三"), "四").await;
    let lines = backed_up(&store).await;
    turn(&store, next_turn(&id, "后来"), "好").await;
    let later = data(&endpoint).await;
    for lost in later.iter().filter(|item| item["sk"].as_s().unwrap().ends_with("000000000002")) {
        delete(&endpoint, lost).await;
    }
    store.conversations.delete(&alice(), &ended).await.unwrap();
    let restoring = restored(&store, &lines, Wish::default()).await;
    assert_eq!(data(&endpoint).await, later);
    assert_eq!((restoring.kept, restoring.replaced, restoring.left_out), (1, 0, 0), "the head: {restoring:?}");
}

pub(crate) async fn delete(endpoint: &str, item: &Item) {
    let client = Client::new(&config(endpoint));
    let call = client.delete_item().table_name("data").key("pk", item["pk"].clone()).key("sk", item["sk"].clone());
    call.send().await.unwrap();
}

/// Resets the conversation to its first turn, after which it diverges.
async fn parted(endpoint: &str, store: &Store, id: &str, first: &[String]) {
    store.conversations.delete(&alice(), id).await.unwrap();
    restored(store, first, Wish::default()).await;
    turn(store, next_turn(id, "另问"), "另答").await;
    assert!(data(endpoint).await.len() > 4);
}

pub(crate) async fn said(store: &Store, id: &str) -> Vec<String> {
    let page = store.conversations.messages(&alice(), id, 100, None, at(60)).await.unwrap();
    page.items.into_iter().map(|message| message.content).collect()
}

#[tokio::test]
async fn diverged_conversation_is_kept_or_replaced_whole() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let id = turn(&store, first_turn("问"), "好").await;
    let first = backed_up(&store).await;
    for words in ["又", "再"] {
        turn(&store, next_turn(&id, words), words).await;
    }
    let (longer, all) = (backed_up(&store).await, data(&endpoint).await);
    parted(&endpoint, &store, &id, &first).await;
    let other = data(&endpoint).await;
    let kept = restored(&store, &longer, Wish::default()).await;
    assert_eq!(data(&endpoint).await, other);
    assert_eq!((kept.written, kept.kept), (0, 5), "{kept:?}");
    let replace = Wish { replace: true, ..Wish::default() };
    let shorter = restored(&store, &first, replace).await;
    assert_eq!(said(&store, &id).await, ["问", "好"]);
    assert_eq!((shorter.written, shorter.replaced), (0, 1), "{shorter:?}");
    restored(&store, &longer, replace).await;
    assert_eq!(data(&endpoint).await, all);
}

#[tokio::test]
async fn revoked_key_stays_revoked_after_restore() {
    let (from, to) = (database().await, database().await);
    let store = store_at(&from).await;
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: false, expires: None };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    let lines = backed_up(&store).await;
    store.keys.revoke(key.id(), at(1)).await.unwrap();
    for replace in [false, true] {
        let wish = Wish { replace, ..Wish::default() };
        assert_eq!(restored(&store, &lines, wish).await, Restored { kept: 1, ..Restored::default() });
        assert!(!store.keys.list().await.unwrap()[0].is_valid(at(2)));
    }
    let wish = Wish { without_keys: true, ..Wish::default() };
    assert_eq!(restored(&store_at(&to).await, &lines, wish).await, Restored { left_out: 1, ..Restored::default() });
    assert_eq!(data(&to).await, []);
}

#[tokio::test]
async fn restore_never_overwrites_newer_items() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    turn(&store, first_turn("问"), "好").await;
    let lines = backed_up(&store).await;
    for mut item in data(&endpoint).await {
        item.insert("v".to_owned(), AttributeValue::N("3".to_owned()));
        put(&endpoint, item).await;
    }
    let before = data(&endpoint).await;
    for dry_run in [true, false] {
        let wish = Wish { replace: true, dry_run, ..Wish::default() };
        assert_eq!(restored(&store, &lines, wish).await, Restored { kept: 3, ..Restored::default() });
        assert_eq!(data(&endpoint).await, before);
    }
}

#[tokio::test]
async fn f081_next_restore_completes_interrupted_one() {
    let (wire, endpoint) = Wire::new().await;
    let (from, to) = (store_at(&database().await).await, impatient_store_at(&endpoint).await);
    filled(&from).await;
    let lines = backed_up(&from).await;
    let whole = database().await;
    restored(&store_at(&whole).await, &lines, Wish::default()).await;
    wire.fail("PutItem", &[Fault::LostAnswer, Fault::Refused("ThrottlingException")]);
    let mut broken = to.restore(checked(&lines).unwrap(), Wish::default());
    broken.lines(&lines[..5]).await.unwrap();
    assert!(!rows(&wire.database, "data").await.is_empty());
    wire.fail("PutItem", &[Fault::Refused("ResourceNotFoundException")]);
    let refused = broken.lines(&lines[5..]).await;
    assert_eq!(refused, Err(StoreError::Fault("PutItem: ResourceNotFoundException".to_owned())));
    restored(&to, &lines, Wish::default()).await;
    assert_eq!(data(&wire.database).await, data(&whole).await);
}

#[tokio::test]
async fn changed_conversation_is_read_again() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await, store_at(&wire.database).await);
    let id = turn(&fast, of_chat("x"), "好").await;
    let gone = turn(&fast, of_chat("y"), "好").await;
    let (first, second) = (Gate::default(), Gate::default());
    wire.fail("Query", &[Fault::HeldAnswer(first.clone()), Fault::HeldAnswer(second.clone())]);
    let reading = tokio::spawn(async move { backed_up(&slow).await });
    first.arrival().await;
    turn(&fast, next_turn(&id, "又问"), "又好").await;
    fast.conversations.delete(&alice(), &gone).await.unwrap();
    first.open();
    second.arrival().await;
    second.open();
    let lines = reading.await.unwrap();
    assert!(lines.iter().any(|line| line.starts_with(r#"{"again":"#)), "{lines:?}");
    let to = database().await;
    restored(&store_at(&to).await, &lines, Wish::default()).await;
    assert_eq!(data(&to).await, data(&wire.database).await);
    assert_eq!(fast.conversations.get(&alice(), &gone).await, Err(ReadError::NotFound));
}

/// Makes a backup with a turn during each of the first readings of a conversation, and a copy of the final items.
async fn restless(turns: usize) -> (Result<Vec<String>, BackupError>, Vec<Item>) {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await, store_at(&wire.database).await);
    let id = turn(&fast, first_turn("问"), "好").await;
    let gates: Vec<Gate> = (0..turns).map(|_| Gate::default()).collect();
    wire.fail("Query", &gates.iter().cloned().map(Fault::HeldAnswer).collect::<Vec<_>>());
    let reading = tokio::spawn(async move {
        let (mut backup, mut lines) = (slow.backup(at(5)), Vec::new());
        while let Some(step) = backup.next().await? {
            lines.extend(step);
        }
        Ok(lines)
    });
    for gate in gates {
        gate.arrival().await;
        turn(&fast, next_turn(&id, "又问"), "又好").await;
        gate.open();
    }
    (reading.await.unwrap(), data(&wire.database).await)
}

#[tokio::test]
async fn busy_conversation_is_backed_up_once_idle() {
    let (lines, all) = restless(12).await;
    let to = database().await;
    restored(&store_at(&to).await, &lines.unwrap(), Wish::default()).await;
    assert_eq!(data(&to).await, all);
}

#[tokio::test]
async fn never_idle_conversation_fails_backup() {
    let (lines, _) = restless(21).await;
    assert_eq!(lines, Err(BackupError::Restless));
    assert_eq!(BackupError::Restless.to_string(), "a conversation changes all the time: back up again when it rests");
}

#[tokio::test]
async fn running_turn_is_backed_up_despite_renewals() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await, store_at(&wire.database).await);
    let lease = fast.conversations.begin(&alice(), &first_turn("问"), at(0)).await.unwrap();
    let gate = Gate::default();
    wire.fail("Query", &[Fault::HeldAnswer(gate.clone())]);
    let reading = tokio::spawn(async move { backed_up(&slow).await });
    gate.arrival().await;
    fast.conversations.renew(&lease, at(5)).await.unwrap();
    gate.open();
    let lines = reading.await.unwrap();
    assert!(!lines.iter().any(|line| line.starts_with(r#"{"again":"#)));
    let to = store_at(&database().await).await;
    restored(&to, &lines, Wish::default()).await;
    let next = to.conversations.begin(&alice(), &next_turn(&lease.conversation_id, "又问"), at(60)).await;
    assert_eq!(next.unwrap().conversation_id, lease.conversation_id, "its lease is over");
}

#[tokio::test]
async fn large_table_is_backed_up_by_pages() {
    let (to, (wire, endpoint)) = (database().await, Wire::new().await);
    let (store, text) = (store_at(&wire.database).await, "长".repeat(600_000));
    let id = turn(&store, first_turn("问"), &text).await;
    turn(&store, next_turn(&id, "又问"), &text).await;
    for other in 0..6 {
        let owner = Owner::new(format!("user {other}"));
        store.ledger.add(&owner, Day::of(at(0)), &Usage::default()).await.unwrap();
    }
    for mut day in data(&wire.database).await.into_iter().filter(|item| item["sk"].as_s().unwrap().starts_with("D#")) {
        day.insert("more".to_owned(), AttributeValue::S("x".repeat(350_000)));
        put(&wire.database, day).await;
    }
    let lines = backed_up(&store_at(&endpoint).await).await;
    let calls = |operation: &str, seen: &[String]| seen.iter().filter(|one| *one == operation).count();
    let seen = wire.seen();
    assert!(calls("Scan", &seen) > 1 && calls("Query", &seen) > 3, "{seen:?}");
    restored(&store_at(&to).await, &lines, Wish::default()).await;
    assert_eq!(data(&to).await, data(&wire.database).await);
}
