//! Backup of the data table, and restore into the same table and into others.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::Owner;
use domain::Usage;
use serde_json::json;
use store::{
    ApiKey, BackupCheck, BackupError, BackupFileError, BackupSummary, Day, DefinitionKind, NewKey, NewTurn, ReadError,
    RestoreOptions, RestoreReport, Store, StoreError,
};

use crate::support::{
    alice, answer, at, config, database, first_turn, next_turn, put, rows, store_at, store_without_retries_at,
};
use crate::wire::{Fault, Gate, Wire};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// All lines of a backup; each step must return at most a page of the table and the head before it.
pub(crate) async fn backup_lines(store: &Store) -> Vec<String> {
    let (mut backup, mut lines) = (store.backup(at(5)), Vec::new());
    while let Some(step) = backup.next().await.unwrap() {
        assert!(step.iter().map(String::len).sum::<usize>() < 2 * 1024 * 1024, "more than a page");
        lines.extend(step);
    }
    lines
}

pub(crate) fn check_backup(lines: &[String]) -> Result<BackupSummary, BackupFileError> {
    let mut check = BackupCheck::default();
    lines.iter().try_for_each(|line| check.check_line(line))?;
    check.finish()
}

/// Restores in small batches, so that conversations are split.
pub(crate) async fn restore_all(store: &Store, lines: &[String], options: RestoreOptions) -> RestoreReport {
    let mut restore = store.restore(check_backup(lines).unwrap(), options);
    for some in lines.chunks(3) {
        restore.restore_lines(some).await.unwrap();
    }
    restore.report()
}

/// All items of the data table, sorted.
pub(crate) async fn data(endpoint: &str) -> Vec<Item> {
    let mut all = rows(endpoint, "data").await;
    all.sort_by_key(|item| (item["pk"].as_s().unwrap().clone(), item["sk"].as_s().unwrap().clone()));
    all
}

pub(crate) async fn run_turn(store: &Store, turn: NewTurn, reply: &str) -> String {
    let lease = store.conversations.begin(&alice(), &turn, at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer(reply), at(1)).await.unwrap();
    lease.conversation_id
}

fn chat_turn(chat_id: &str) -> NewTurn {
    NewTurn { chat_id: Some(chat_id.to_owned()), ..first_turn("问") }
}

/// Stores one item of each kind; returns a conversation of four messages.
async fn fill_store(store: &Store) -> String {
    let id = run_turn(store, chat_turn("x"), &"长".repeat(200_000)).await;
    run_turn(store, next_turn(&id, "又问"), "好").await;
    store.conversations.begin(&alice(), &first_turn("runs"), at(1)).await.unwrap();
    store.ledger.add(&alice(), Day::of(at(0)), &Usage { input_tokens: 7, ..Usage::default() }).await.unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: true, expires: None };
    store.keys.create(&ApiKey::generate().unwrap(), &new, at(0)).await.unwrap();
    for kind in [DefinitionKind::Tool, DefinitionKind::Agent] {
        store.definitions.create(kind, "id", "a name", &json!({ "a": [1, null] }), at(0)).await.unwrap();
    }
    id
}

fn written_report(written: u64) -> RestoreReport {
    RestoreReport { written, ..RestoreReport::default() }
}

#[tokio::test]
async fn restore_is_complete_and_idempotent() {
    let (from, to) = (database().await, database().await);
    let store = store_at(&from).await;
    fill_store(&store).await;
    let mut set = data(&from).await.remove(0);
    set.insert("set".to_owned(), AttributeValue::Bs(vec![Blob::new("b"), Blob::new("a")]));
    put(&from, set).await;
    let (lines, before) = (backup_lines(&store).await, data(&from).await);
    let count = before.len() as u64;
    let contents = check_backup(&lines).unwrap();
    assert_eq!((contents.table.as_str(), contents.items), ("data", count));
    assert_eq!(contents.at, "2027-01-15T08:00:05.000Z");
    let other = store_at(&to).await;
    let dry = RestoreOptions { dry_run: true, ..RestoreOptions::default() };
    assert_eq!(restore_all(&other, &lines, dry).await, written_report(count));
    assert_eq!(data(&to).await, []);
    assert_eq!(restore_all(&other, &lines, RestoreOptions::default()).await, written_report(count));
    assert_eq!(data(&to).await, before);
    for options in [dry, RestoreOptions::default(), RestoreOptions { replace: true, ..RestoreOptions::default() }] {
        assert_eq!(
            restore_all(&other, &lines, options).await,
            RestoreReport { unchanged: count, ..RestoreReport::default() }
        );
    }
    assert_eq!(data(&to).await, before);
}

#[tokio::test]
async fn restore_keeps_later_messages_and_fills_gaps() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let id = run_turn(&store, first_turn("问"), "好").await;
    let ended = run_turn(&store, first_turn("一"), "二").await;
    run_turn(&store, next_turn(&ended, "三"), "四").await;
    let lines = backup_lines(&store).await;
    run_turn(&store, next_turn(&id, "后来"), "好").await;
    let later = data(&endpoint).await;
    for lost in later.iter().filter(|item| item["sk"].as_s().unwrap().ends_with("000000000002")) {
        delete(&endpoint, lost).await;
    }
    store.conversations.delete(&alice(), &ended).await.unwrap();
    let restoring = restore_all(&store, &lines, RestoreOptions::default()).await;
    assert_eq!(data(&endpoint).await, later);
    assert_eq!((restoring.kept, restoring.replaced, restoring.skipped_keys), (1, 0, 0), "the head: {restoring:?}");
}

pub(crate) async fn delete(endpoint: &str, item: &Item) {
    let client = Client::new(&config(endpoint));
    let call = client.delete_item().table_name("data").key("pk", item["pk"].clone()).key("sk", item["sk"].clone());
    call.send().await.unwrap();
}

/// Resets the conversation to its first turn, after which it diverges.
async fn diverge(endpoint: &str, store: &Store, id: &str, first: &[String]) {
    store.conversations.delete(&alice(), id).await.unwrap();
    restore_all(store, first, RestoreOptions::default()).await;
    run_turn(store, next_turn(id, "另问"), "另答").await;
    assert!(data(endpoint).await.len() > 4);
}

pub(crate) async fn texts_of(store: &Store, id: &str) -> Vec<String> {
    let page = store.conversations.messages(&alice(), id, 100, None, at(60)).await.unwrap();
    page.items.into_iter().map(|message| message.content).collect()
}

#[tokio::test]
async fn diverged_conversation_is_kept_or_replaced_whole() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let id = run_turn(&store, first_turn("问"), "好").await;
    let first = backup_lines(&store).await;
    for text in ["又", "再"] {
        run_turn(&store, next_turn(&id, text), text).await;
    }
    let (longer, all) = (backup_lines(&store).await, data(&endpoint).await);
    diverge(&endpoint, &store, &id, &first).await;
    let other = data(&endpoint).await;
    let kept = restore_all(&store, &longer, RestoreOptions::default()).await;
    assert_eq!(data(&endpoint).await, other);
    assert_eq!((kept.written, kept.kept), (0, 5), "{kept:?}");
    let replace = RestoreOptions { replace: true, ..RestoreOptions::default() };
    let shorter = restore_all(&store, &first, replace).await;
    assert_eq!(texts_of(&store, &id).await, ["问", "好"]);
    assert_eq!((shorter.written, shorter.replaced), (0, 1), "{shorter:?}");
    restore_all(&store, &longer, replace).await;
    assert_eq!(data(&endpoint).await, all);
}

#[tokio::test]
async fn revoked_key_stays_revoked_after_restore() {
    let (from, to) = (database().await, database().await);
    let store = store_at(&from).await;
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: false, expires: None };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    let lines = backup_lines(&store).await;
    store.keys.revoke(key.id(), at(1)).await.unwrap();
    for replace in [false, true] {
        let options = RestoreOptions { replace, ..RestoreOptions::default() };
        assert_eq!(restore_all(&store, &lines, options).await, RestoreReport { kept: 1, ..RestoreReport::default() });
        assert!(!store.keys.list().await.unwrap()[0].is_valid(at(2)));
    }
    let options = RestoreOptions { without_keys: true, ..RestoreOptions::default() };
    assert_eq!(
        restore_all(&store_at(&to).await, &lines, options).await,
        RestoreReport { skipped_keys: 1, ..RestoreReport::default() }
    );
    assert_eq!(data(&to).await, []);
}

#[tokio::test]
async fn restore_never_overwrites_newer_items() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    run_turn(&store, first_turn("问"), "好").await;
    let lines = backup_lines(&store).await;
    for mut item in data(&endpoint).await {
        item.insert("v".to_owned(), AttributeValue::N("3".to_owned()));
        put(&endpoint, item).await;
    }
    let before = data(&endpoint).await;
    for dry_run in [true, false] {
        let options = RestoreOptions { replace: true, dry_run, ..RestoreOptions::default() };
        assert_eq!(restore_all(&store, &lines, options).await, RestoreReport { kept: 3, ..RestoreReport::default() });
        assert_eq!(data(&endpoint).await, before);
    }
}

#[tokio::test]
async fn f081_next_restore_completes_interrupted_one() {
    let (wire, endpoint) = Wire::new().await;
    let (from, to) = (store_at(&database().await).await, store_without_retries_at(&endpoint).await);
    fill_store(&from).await;
    let lines = backup_lines(&from).await;
    let whole = database().await;
    restore_all(&store_at(&whole).await, &lines, RestoreOptions::default()).await;
    wire.fail("PutItem", &[Fault::LostResponse, Fault::Refused("ThrottlingException")]);
    let mut broken = to.restore(check_backup(&lines).unwrap(), RestoreOptions::default());
    broken.restore_lines(&lines[..5]).await.unwrap();
    assert!(!rows(&wire.database, "data").await.is_empty());
    wire.fail("PutItem", &[Fault::Refused("ResourceNotFoundException")]);
    let refused = broken.restore_lines(&lines[5..]).await;
    assert_eq!(refused, Err(StoreError::Fault("PutItem: ResourceNotFoundException".to_owned())));
    restore_all(&to, &lines, RestoreOptions::default()).await;
    assert_eq!(data(&wire.database).await, data(&whole).await);
}

#[tokio::test]
async fn changed_conversation_is_read_again() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await, store_at(&wire.database).await);
    let id = run_turn(&fast, chat_turn("x"), "好").await;
    let gone = run_turn(&fast, chat_turn("y"), "好").await;
    let (first, second) = (Gate::default(), Gate::default());
    wire.fail("Query", &[Fault::HeldResponse(first.clone()), Fault::HeldResponse(second.clone())]);
    let reading = tokio::spawn(async move { backup_lines(&slow).await });
    first.arrival().await;
    run_turn(&fast, next_turn(&id, "又问"), "又好").await;
    fast.conversations.delete(&alice(), &gone).await.unwrap();
    first.open();
    second.arrival().await;
    second.open();
    let lines = reading.await.unwrap();
    assert!(lines.iter().any(|line| line.starts_with(r#"{"again":"#)), "{lines:?}");
    let to = database().await;
    restore_all(&store_at(&to).await, &lines, RestoreOptions::default()).await;
    assert_eq!(data(&to).await, data(&wire.database).await);
    assert_eq!(fast.conversations.get(&alice(), &gone).await, Err(ReadError::NotFound));
}

/// Makes a backup with a turn during each of the first readings of a conversation, and a copy of the final items.
async fn backup_during_turns(turns: usize) -> (Result<Vec<String>, BackupError>, Vec<Item>) {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await, store_at(&wire.database).await);
    let id = run_turn(&fast, first_turn("问"), "好").await;
    let gates: Vec<Gate> = (0..turns).map(|_| Gate::default()).collect();
    wire.fail("Query", &gates.iter().cloned().map(Fault::HeldResponse).collect::<Vec<_>>());
    let reading = tokio::spawn(async move {
        let (mut backup, mut lines) = (slow.backup(at(5)), Vec::new());
        while let Some(step) = backup.next().await? {
            lines.extend(step);
        }
        Ok(lines)
    });
    for gate in gates {
        gate.arrival().await;
        run_turn(&fast, next_turn(&id, "又问"), "又好").await;
        gate.open();
    }
    (reading.await.unwrap(), data(&wire.database).await)
}

#[tokio::test]
async fn busy_conversation_is_backed_up_once_idle() {
    let (lines, all) = backup_during_turns(12).await;
    let to = database().await;
    restore_all(&store_at(&to).await, &lines.unwrap(), RestoreOptions::default()).await;
    assert_eq!(data(&to).await, all);
}

#[tokio::test]
async fn never_idle_conversation_fails_backup() {
    let (lines, _) = backup_during_turns(21).await;
    assert_eq!(lines, Err(BackupError::NeverIdle));
    assert_eq!(BackupError::NeverIdle.to_string(), "a conversation changes all the time: back up again when it rests");
}

#[tokio::test]
async fn running_turn_is_backed_up_despite_renewals() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await, store_at(&wire.database).await);
    let lease = fast.conversations.begin(&alice(), &first_turn("问"), at(0)).await.unwrap();
    let gate = Gate::default();
    wire.fail("Query", &[Fault::HeldResponse(gate.clone())]);
    let reading = tokio::spawn(async move { backup_lines(&slow).await });
    gate.arrival().await;
    fast.conversations.renew(&lease, at(5)).await.unwrap();
    gate.open();
    let lines = reading.await.unwrap();
    assert!(!lines.iter().any(|line| line.starts_with(r#"{"again":"#)));
    let to = store_at(&database().await).await;
    restore_all(&to, &lines, RestoreOptions::default()).await;
    let next = to.conversations.begin(&alice(), &next_turn(&lease.conversation_id, "又问"), at(60)).await;
    assert_eq!(next.unwrap().conversation_id, lease.conversation_id, "its lease is over");
}

#[tokio::test]
async fn large_table_is_backed_up_by_pages() {
    let (to, (wire, endpoint)) = (database().await, Wire::new().await);
    let (store, text) = (store_at(&wire.database).await, "长".repeat(600_000));
    let id = run_turn(&store, first_turn("问"), &text).await;
    run_turn(&store, next_turn(&id, "又问"), &text).await;
    for other in 0..6 {
        let owner = Owner::new(format!("user {other}"));
        store.ledger.add(&owner, Day::of(at(0)), &Usage::default()).await.unwrap();
    }
    for mut day in data(&wire.database).await.into_iter().filter(|item| item["sk"].as_s().unwrap().starts_with("D#")) {
        day.insert("more".to_owned(), AttributeValue::S("x".repeat(350_000)));
        put(&wire.database, day).await;
    }
    let lines = backup_lines(&store_at(&endpoint).await).await;
    let calls = |operation: &str, seen: &[String]| seen.iter().filter(|one| *one == operation).count();
    let seen = wire.seen();
    assert!(calls("Scan", &seen) > 1 && calls("Query", &seen) > 3, "{seen:?}");
    restore_all(&store_at(&to).await, &lines, RestoreOptions::default()).await;
    assert_eq!(data(&to).await, data(&wire.database).await);
}
