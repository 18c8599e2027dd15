//! Restores over leftovers of another answer or of an interrupted deletion.

use serde_json::Value;
use store::{Answer, Kind, Restored, Wish};

use crate::backup::{Item, backed_up, data, delete, restored, said, turn};
use crate::support::{alice, answer, at, database, first_turn, next_turn, store_at};

const REPLACE: Wish = Wish { replace: true, dry_run: false, without_keys: false };

/// A conversation in a backup and in the table.
struct Version {
    lines: Vec<String>,
    items: Vec<Item>,
    said: Vec<String>,
}

/// One conversation in three versions: with a running turn, with a long answer, and with a short one.
async fn versions() -> (String, [Version; 3]) {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = store.conversations.begin(&alice(), &first_turn("问"), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    let version = async || {
        let (lines, items) = (backed_up(&store).await, data(&endpoint).await);
        Version { lines, items, said: said(&store, &id).await }
    };
    let running = version().await;
    let words = "长".repeat(200_000);
    let answers = [(answer(&words), at(1)), (Answer { transcript: Vec::new(), ..answer("短") }, at(2))];
    let mut ended = Vec::new();
    for (answer, end) in answers {
        store.conversations.finish(&lease, &answer, end).await.unwrap();
        ended.push(version().await);
        store.conversations.delete(&alice(), &id).await.unwrap();
        restored(&store, &running.lines, Wish::default()).await;
    }
    let (short, long) = (ended.pop().unwrap(), ended.pop().unwrap());
    assert!(long.items.len() > 5 && long.said[1] == words && short.said == ["问", "短"]);
    (id, [running, long, short])
}

#[tokio::test]
async fn restore_never_mixes_pieces_of_answers() {
    let (id, versions) = versions().await;
    for (first, there) in versions.iter().enumerate() {
        for (second, other) in versions.iter().enumerate().filter(|(second, _)| first != *second) {
            let endpoint = database().await;
            let store = store_at(&endpoint).await;
            restored(&store, &there.lines, Wish::default()).await;
            restored(&store, &other.lines, Wish::default()).await;
            assert!(said(&store, &id).await == there.said, "{second} restored over {first}");
            let endpoint = database().await;
            let store = store_at(&endpoint).await;
            restored(&store, &there.lines, Wish::default()).await;
            restored(&store, &other.lines, REPLACE).await;
            assert!(said(&store, &id).await == other.said, "{first} replaced by {second}");
            assert!(data(&endpoint).await == other.items, "{first} replaced by {second}");
        }
    }
}

#[tokio::test]
async fn definition_with_taken_name_is_not_restored() {
    let endpoint = database().await;
    let definitions = store_at(&endpoint).await.definitions;
    let create = async |id| definitions.create(Kind::Tool, id, "a name", &Value::Null, at(0)).await.unwrap();
    create("one").await;
    let store = store_at(&endpoint).await;
    let lines = backed_up(&store).await;
    definitions.delete(Kind::Tool, "one").await.unwrap();
    create("two").await;
    for dry_run in [true, false] {
        let wish = Wish { dry_run, ..Wish::default() };
        assert_eq!(restored(&store, &lines, wish).await, Restored { kept: 2, ..Restored::default() });
    }
    let ids: Vec<_> = definitions.list(Kind::Tool).await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, ["two"]);
}

#[tokio::test]
async fn leftovers_of_deletion_do_not_return() {
    for wish in [Wish::default(), REPLACE] {
        let endpoint = database().await;
        let store = store_at(&endpoint).await;
        let id = turn(&store, first_turn("问"), "好").await;
        let (lines, before) = (backed_up(&store).await, data(&endpoint).await);
        turn(&store, next_turn(&id, "后来"), &"长".repeat(200_000)).await;
        let later = data(&endpoint).await;
        let head = later.iter().find(|item| item["sk"].as_s().unwrap().starts_with("C#")).unwrap();
        delete(&endpoint, head).await;
        let dry = restored(&store, &lines, Wish { dry_run: true, ..wish }).await;
        assert_eq!(data(&endpoint).await.len(), later.len() - 1, "nothing is deleted");
        let expected = Restored { written: 1, there: 2, ..Restored::default() };
        assert_eq!((dry, restored(&store, &lines, wish).await), (expected, expected));
        assert_eq!(said(&store, &id).await, ["问", "好"]);
        assert_eq!(data(&endpoint).await, before);
    }
}
