use serde_json::json;
use store::{DefineError, Definition, DefinitionKind};

use crate::support::{at, store};

fn definition(id: &str, name: &str, tag: u8, (created, updated): (u64, u64)) -> Definition {
    let time = |seconds: u64| format!("1970-01-01T00:00:{seconds:02}.000Z");
    Definition {
        id: id.to_owned(),
        name: name.to_owned(),
        body: json!({ "tag": tag }),
        created_at: time(created),
        updated_at: time(updated),
    }
}

#[tokio::test]
async fn definition_is_stored_replaced_listed_and_deleted() {
    let store = store().await.definitions;
    let now = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let made = store.create(DefinitionKind::Tool, "b", "weather", &json!({"tag": 1}), now(1)).await.unwrap();
    assert_eq!(made, definition("b", "weather", 1, (1, 1)));
    store.create(DefinitionKind::Tool, "a#/ü", "news", &json!({"tag": 2}), now(2)).await.unwrap();
    store.create(DefinitionKind::Agent, "b", "weather", &json!({"tag": 3}), now(3)).await.unwrap();
    let changed = store.replace(DefinitionKind::Tool, "b", "climate", &json!({"tag": 4}), now(4)).await.unwrap();
    assert_eq!(changed, definition("b", "climate", 4, (1, 4)));
    let all = store.list(DefinitionKind::Tool).await.unwrap();
    assert_eq!(all, [definition("a#/ü", "news", 2, (2, 2)), changed.clone()]);
    assert_eq!(store.get(DefinitionKind::Tool, "b").await, Ok(changed));
    store.delete(DefinitionKind::Tool, "b").await.unwrap();
    assert_eq!(store.get(DefinitionKind::Tool, "b").await, Err(DefineError::NotFound));
    assert_eq!(store.delete(DefinitionKind::Tool, "b").await, Err(DefineError::NotFound));
    assert_eq!(store.replace(DefinitionKind::Tool, "b", "x", &json!({}), now(5)).await, Err(DefineError::NotFound));
    assert_eq!(store.get(DefinitionKind::Agent, "b").await, Ok(definition("b", "weather", 3, (3, 3))));
}

#[tokio::test]
async fn name_is_unique_within_its_kind() {
    let store = store().await.definitions;
    let body = json!({});
    store.create(DefinitionKind::Agent, "1", "helper", &body, at(0)).await.unwrap();
    store.create(DefinitionKind::Agent, "2", "writer", &body, at(0)).await.unwrap();
    assert_eq!(store.create(DefinitionKind::Agent, "3", "helper", &body, at(0)).await, Err(DefineError::Taken));
    assert_eq!(store.create(DefinitionKind::Agent, "1", "other", &body, at(0)).await, Err(DefineError::Taken));
    assert_eq!(store.replace(DefinitionKind::Agent, "2", "helper", &body, at(0)).await, Err(DefineError::Taken));
    assert_eq!(store.get(DefinitionKind::Agent, "2").await.unwrap().name, "writer");
    store.replace(DefinitionKind::Agent, "1", "reader", &body, at(1)).await.unwrap();
    store.create(DefinitionKind::Agent, "3", "helper", &body, at(1)).await.unwrap();
    store.delete(DefinitionKind::Agent, "3").await.unwrap();
    store.replace(DefinitionKind::Agent, "2", "helper", &body, at(2)).await.unwrap();
    let names: Vec<String> = store.list(DefinitionKind::Agent).await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["reader", "helper"]);
}
