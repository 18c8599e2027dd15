//! Restores over leftovers of another answer or of an interrupted deletion.

use serde_json::Value;
use store::{Answer, DefinitionKind, RestoreOptions, RestoreReport};

use crate::backup::{Item, backup_lines, data, delete, restore_all, run_turn, texts_of};
use crate::support::{alice, answer, at, database, first_turn, next_turn, store_at};

const REPLACE: RestoreOptions = RestoreOptions { replace: true, dry_run: false, without_keys: false };

/// A conversation in a backup and in the table.
struct Version {
    lines: Vec<String>,
    items: Vec<Item>,
    texts: Vec<String>,
}

/// One conversation in three versions: with a running turn, with a long answer, and with a short one.
async fn versions() -> (String, [Version; 3]) {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = store.conversations.begin(&alice(), &first_turn("问"), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    let version = async || {
        let (lines, items) = (backup_lines(&store).await, data(&endpoint).await);
        Version { lines, items, texts: texts_of(&store, &id).await }
    };
    let running = version().await;
    let text = "长".repeat(200_000);
    let answers = [(answer(&text), at(1)), (Answer { transcript: Vec::new(), ..answer("短") }, at(2))];
    let mut ended = Vec::new();
    for (answer, end) in answers {
        store.conversations.finish(&lease, &answer, end).await.unwrap();
        ended.push(version().await);
        store.conversations.delete(&alice(), &id).await.unwrap();
        restore_all(&store, &running.lines, RestoreOptions::default()).await;
    }
    let (short, long) = (ended.pop().unwrap(), ended.pop().unwrap());
    assert!(long.items.len() > 5 && long.texts[1] == text && short.texts == ["问", "短"]);
    (id, [running, long, short])
}

#[tokio::test]
async fn restore_never_mixes_pieces_of_answers() {
    let (id, versions) = versions().await;
    for (first, there) in versions.iter().enumerate() {
        for (second, other) in versions.iter().enumerate().filter(|(second, _)| first != *second) {
            let endpoint = database().await;
            let store = store_at(&endpoint).await;
            restore_all(&store, &there.lines, RestoreOptions::default()).await;
            restore_all(&store, &other.lines, RestoreOptions::default()).await;
            assert!(texts_of(&store, &id).await == there.texts, "{second} restored over {first}");
            let endpoint = database().await;
            let store = store_at(&endpoint).await;
            restore_all(&store, &there.lines, RestoreOptions::default()).await;
            restore_all(&store, &other.lines, REPLACE).await;
            assert!(texts_of(&store, &id).await == other.texts, "{first} replaced by {second}");
            assert!(data(&endpoint).await == other.items, "{first} replaced by {second}");
        }
    }
}

#[tokio::test]
async fn definition_with_taken_name_is_not_restored() {
    let endpoint = database().await;
    let definitions = store_at(&endpoint).await.definitions;
    let create = async |id| definitions.create(DefinitionKind::Tool, id, "a name", &Value::Null, at(0)).await.unwrap();
    create("one").await;
    let store = store_at(&endpoint).await;
    let lines = backup_lines(&store).await;
    definitions.delete(DefinitionKind::Tool, "one").await.unwrap();
    create("two").await;
    for dry_run in [true, false] {
        let wish = RestoreOptions { dry_run, ..RestoreOptions::default() };
        assert_eq!(restore_all(&store, &lines, wish).await, RestoreReport { kept: 2, ..RestoreReport::default() });
    }
    let ids: Vec<_> = definitions.list(DefinitionKind::Tool).await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, ["two"]);
}

#[tokio::test]
async fn leftovers_of_deletion_do_not_return() {
    for wish in [RestoreOptions::default(), REPLACE] {
        let endpoint = database().await;
        let store = store_at(&endpoint).await;
        let id = run_turn(&store, first_turn("问"), "好").await;
        let (lines, before) = (backup_lines(&store).await, data(&endpoint).await);
        run_turn(&store, next_turn(&id, "后来"), &"长".repeat(200_000)).await;
        let later = data(&endpoint).await;
        let head = later.iter().find(|item| item["sk"].as_s().unwrap().starts_with("C#")).unwrap();
        delete(&endpoint, head).await;
        let dry = restore_all(&store, &lines, RestoreOptions { dry_run: true, ..wish }).await;
        assert_eq!(data(&endpoint).await.len(), later.len() - 1, "nothing is deleted");
        let expected = RestoreReport { written: 1, unchanged: 2, ..RestoreReport::default() };
        assert_eq!((dry, restore_all(&store, &lines, wish).await), (expected, expected));
        assert_eq!(texts_of(&store, &id).await, ["问", "好"]);
        assert_eq!(data(&endpoint).await, before);
    }
}
