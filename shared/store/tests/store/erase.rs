use domain::Owner;
use serde_json::{Value, json};
use std::time::Duration;
use store::{ApiKey, ArticleChunk, ArticleCollection, Day, Execution, NewArticle, NewKey, RateLimit, Store};

use crate::ledger::add_to_totals;
use crate::outside;
use crate::stream_log::entries;
use crate::support::{Finish, answer, at, config, database, first_turn, keyed_turn, names, next_turn, rows, store_at};
use crate::wire::{Fault, Gate, Wire};

const LIMIT: RateLimit = RateLimit { burst: 9, window: Duration::from_mins(1) };

/// Stores everything that an owner may have: keys, conversations of several kinds, usage, calls, and idempotency keys.
pub(crate) async fn store_everything(store: &Store, name: &str) -> Owner {
    let (owner, key) = (Owner::key_holder(name), ApiKey::generate().unwrap());
    let new = NewKey { owner: name.to_owned(), administrator: false, ..NewKey::default() };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    store.rate_limiter.admit_turn(&owner, LIMIT, at(0)).await.unwrap();
    let mut first = keyed_turn(store, &owner, "key").await;
    first.chat_id = Some("chat".to_owned());
    let lease = store.conversations.begin(&owner, &first, at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer(&"A".repeat(500_000)), at(1)).await.unwrap();
    let id = lease.conversation_id;
    let next = store.conversations.begin(&owner, &next_turn(&id, "R"), at(2)).await.unwrap();
    store.conversations.finish(&next, &answer("B"), at(3)).await.unwrap();
    store.streams.append(&owner, &next, 0, &entries(&["a"]), at(3)).await.unwrap();
    let calls: Vec<Execution> = (0..30).map(|number| call(&format!("{name}-{number:02}"), &id)).collect();
    store.executions.record(&owner, &calls, at(3)).await.unwrap();
    add_to_totals(&store.ledger, &owner, Day::of(at(3)), &domain::Usage::default()).await.unwrap();
    store.instructions.set(&owner, &format!("What {name} wants")).await.unwrap();
    store.articles.put(&ArticleCollection::Of(owner.clone()), &article(name), at(3)).await.unwrap();
    owner
}

fn article(name: &str) -> NewArticle {
    NewArticle {
        id: "a".to_owned(),
        title: format!("Notes of {name}"),
        url: None,
        groups: domain::Groups::default(),
        digest: "d".to_owned(),
        model: None,
        chunks: vec![ArticleChunk { text: format!("What {name} noted"), vector: None }],
    }
}

fn call(id: &str, conversation: &str) -> Execution {
    Execution {
        id: id.to_owned(),
        agent: "default".to_owned(),
        conversation_id: conversation.to_owned(),
        tool: "calculator".to_owned(),
        arguments: json!({}),
        ok: true,
        error: None,
        bytes: 1,
        duration_ms: 1,
        cached: false,
        credits: 0,
    }
}

/// The items of both tables that contain a name. Digests may contain a name of hexadecimal digits.
async fn items_naming(endpoint: &str, name: &str) -> Vec<String> {
    let all = [rows(endpoint, "data").await, rows(endpoint, "ephemeral").await].concat();
    all.iter().map(|item| format!("{item:?}")).filter(|item| item.contains(name)).collect()
}

#[tokio::test]
async fn every_item_is_versioned_and_documented() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let olga = store_everything(&store, "olga").await;
    store.definitions.create(store::DefinitionKind::Tool, "id", "a", &json!({}), at(0)).await.unwrap();
    let id = store.conversations.list(&olga, 1, None).await.unwrap().items.remove(0).id;
    let imported = domain::new_id();
    store.conversations.import(&olga, &imported, &outside::imported()).await.unwrap();
    let (shared, message) = outside::one_turn(&store.conversations, &olga).await;
    let share = outside::share(&store.conversations, &olga, &shared).await;
    store.conversations.rate(&olga, &shared, &message, Some(&outside::up()), at(2)).await.unwrap();
    let documented = include_str!("../../src/lib.rs");
    for item in [rows(&endpoint, "data").await, rows(&endpoint, "ephemeral").await].concat() {
        assert_eq!(item["v"].as_n().unwrap(), "1", "{item:?}");
        let pk = item["pk"].as_s().unwrap().replace("U#key%3Aolga", "U#{o}");
        let pk = [&id, &imported, &shared].iter().fold(pk, |pk, id| pk.replace(*id, "{conversation}"));
        let pk = pk.replace(&share.id, "{id}");
        let pk = match pk.split('#').next() {
            Some("X") => "X#{day}",
            Some("RL") => "RL#{key}#{burst}/{window}",
            _ if pk.starts_with("U#{o}#A#") => "U#{o}#A#{shard}",
            _ => &pk,
        };
        assert!(documented.contains(&format!("`{pk}`")), "{pk}");
        for name in item.keys().filter(|name| !["pk", "sk"].contains(&name.as_str())) {
            // The part of a model has the name of the sum and the model.
            let name = name.split('@').next().unwrap();
            assert!(documented.contains(&format!("`{name}`")), "{name} of {pk}");
        }
    }
}

#[tokio::test]
async fn f150_erased_owner_leaves_no_items() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    store_everything(&store, "bob").await;
    let before = items_naming(&endpoint, "bob").await.len();
    let olga = store_everything(&store, "olga").await;
    assert!(items_naming(&endpoint, "olga").await.len() > 60);
    let erased = store.erase(&olga, at(4)).await.unwrap();
    assert_eq!((erased.keys, erased.conversations, erased.others), (1, 1, 66));
    assert_eq!(items_naming(&endpoint, "olga").await, Vec::<String>::new());
    assert_eq!(items_naming(&endpoint, "bob").await.len(), before);
    assert_eq!(store.erase(&olga, at(4)).await, Ok(store::DeletionCounts::default()));
}

/// Erases a caller who begins a new conversation right after the list was empty. With `running` a turn of the caller
/// runs at first. Returns the counts.
async fn erase_during_new_conversation(running: bool) -> store::DeletionCounts {
    let (wire, endpoint) = Wire::new().await;
    let (erasing, talking) = (store_at(&endpoint).await, Store::new(&config(&wire.database), names()));
    let olga = Owner::key_holder("olga");
    // A conversation needs a list and three partitions; then a list is empty. Another list follows when a turn ran.
    let mut lists = Vec::new();
    if running {
        talking.conversations.begin(&olga, &first_turn("Q"), at(0)).await.unwrap();
        lists = (0..5).map(|_| Gate::default()).collect();
    }
    lists.iter().for_each(Gate::open);
    let empty = Gate::default();
    let faults = lists.into_iter().chain([empty.clone()]).map(Fault::HeldResponse);
    wire.fail("Query", &faults.collect::<Vec<_>>());
    let talk = async {
        empty.arrival().await;
        assert!(talking.conversations.list(&olga, 1, None).await.unwrap().items.is_empty());
        let lease = talking.conversations.begin(&olga, &first_turn("R"), at(1)).await.unwrap();
        talking.conversations.finish(&lease, &answer("A"), at(2)).await.unwrap();
        empty.open();
    };
    let (erased, ()) = tokio::join!(erasing.erase(&olga, at(0)), talk);
    assert_eq!(items_naming(&wire.database, "olga").await, Vec::<String>::new());
    erased.unwrap()
}

#[tokio::test]
async fn f150_conversation_begun_during_erasure_is_erased() {
    let deleted = |conversations| store::DeletionCounts { conversations, ..store::DeletionCounts::default() };
    assert_eq!(Box::pin(erase_during_new_conversation(false)).await, deleted(1));
    assert_eq!(Box::pin(erase_during_new_conversation(true)).await, deleted(2));
}

#[tokio::test]
async fn f150_operator_deletion_removes_the_same_items() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let olga = store_everything(&store, "olga").await;
    let deleted = store.delete_owner(&olga).await.unwrap();
    assert_eq!((deleted.keys, deleted.conversations, deleted.others), (1, 1, 66));
    assert_eq!(items_naming(&endpoint, "olga").await, Vec::<String>::new());
}

#[tokio::test]
async fn f150_deleted_conversation_leaves_no_calls() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let olga = store_everything(&store, "olga").await;
    let id = store.conversations.list(&olga, 1, None).await.unwrap().items.remove(0).id;
    store.executions.delete_for_conversation(&olga, &id).await.unwrap();
    let left = rows(&endpoint, "ephemeral").await;
    assert_eq!(left.len(), 2, "an idempotency key and what a turn said");
}

async fn export_rows(store: &Store, owner: &Owner) -> Vec<Value> {
    let (mut export, mut all) = (store.export(owner, at(9)), Vec::new());
    while let Some(rows) = export.next().await.unwrap() {
        all.extend(rows.iter().map(|row| serde_json::to_value(row).unwrap()));
    }
    all
}

#[tokio::test]
async fn export_is_complete_and_limited_to_owner() {
    let store = store_at(&database().await).await;
    store_everything(&store, "bob").await;
    let olga = store_everything(&store, "olga").await;
    let all = export_rows(&store, &olga).await;
    let kinds: Vec<&str> = all.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    let mut expected = vec!["export", "key", "instructions", "day", "conversation"];
    expected.extend(["message"; 4]);
    expected.push("article");
    expected.extend(["execution"; 30]);
    expected.push("end");
    assert_eq!(kinds, expected);
    assert_eq!(all[0], json!({"kind": "export", "form": 1, "owner": "key:olga", "at": "2027-01-15T08:00:09.000Z"}));
    assert_eq!(all[2]["text"], "What olga wants");
    let texts: Vec<usize> = all[5..9].iter().map(|row| row["content"].as_str().unwrap().len()).collect();
    assert_eq!(texts, [1, 500_000, 1, 1]);
    assert!(all[5..9].iter().all(|row| row["conversationId"] == all[4]["id"] && row["aside"] == false));
    assert_eq!((&all[9]["title"], &all[9]["chunks"]), (&json!("Notes of olga"), &json!(["What olga noted"])));
    assert!(!all.iter().any(|row| row.to_string().contains("bob")));
}

#[tokio::test]
async fn export_includes_superseded_answers() {
    let store = store_at(&database().await).await;
    let olga = store_everything(&store, "olga").await;
    let id = store.conversations.list(&olga, 1, None).await.unwrap().items.remove(0).id;
    let again = store::NewTurn { input: store::UserInput::Regenerate, ..next_turn(&id, "") };
    let lease = store.conversations.begin(&olga, &again, at(5)).await.unwrap();
    store.conversations.finish(&lease, &answer("C"), at(6)).await.unwrap();
    let all = export_rows(&store, &olga).await;
    let messages = all.iter().filter(|row| row["kind"] == "message").skip(2);
    let messages: Vec<(&str, bool)> =
        messages.map(|row| (row["content"].as_str().unwrap(), row["aside"].as_bool().unwrap())).collect();
    assert_eq!(messages, [("R", false), ("B", true), ("C", false)]);
}
