use serde_json::json;
use store::{DefineError, Definition, Kind};

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
    let made = store.create(Kind::Tool, "b", "weather", &json!({"tag": 1}), now(1)).await.unwrap();
    assert_eq!(made, definition("b", "weather", 1, (1, 1)));
    store.create(Kind::Tool, "a#/ü", "news", &json!({"tag": 2}), now(2)).await.unwrap();
    store.create(Kind::Agent, "b", "weather", &json!({"tag": 3}), now(3)).await.unwrap();
    let changed = store.replace(Kind::Tool, "b", "climate", &json!({"tag": 4}), now(4)).await.unwrap();
    assert_eq!(changed, definition("b", "climate", 4, (1, 4)));
    let all = store.list(Kind::Tool).await.unwrap();
    assert_eq!(all, [definition("a#/ü", "news", 2, (2, 2)), changed.clone()]);
    assert_eq!(store.get(Kind::Tool, "b").await, Ok(changed));
    store.delete(Kind::Tool, "b").await.unwrap();
    assert_eq!(store.get(Kind::Tool, "b").await, Err(DefineError::NotFound));
    assert_eq!(store.delete(Kind::Tool, "b").await, Err(DefineError::NotFound));
    assert_eq!(store.replace(Kind::Tool, "b", "x", &json!({}), now(5)).await, Err(DefineError::NotFound));
    assert_eq!(store.get(Kind::Agent, "b").await, Ok(definition("b", "weather", 3, (3, 3))));
}

#[tokio::test]
async fn name_is_unique_within_its_kind() {
    let store = store().await.definitions;
    let body = json!({});
    store.create(Kind::Agent, "1", "helper", &body, at(0)).await.unwrap();
    store.create(Kind::Agent, "2", "writer", &body, at(0)).await.unwrap();
    assert_eq!(store.create(Kind::Agent, "3", "helper", &body, at(0)).await, Err(DefineError::Taken));
    assert_eq!(store.create(Kind::Agent, "1", "other", &body, at(0)).await, Err(DefineError::Taken));
    assert_eq!(store.replace(Kind::Agent, "2", "helper", &body, at(0)).await, Err(DefineError::Taken));
    assert_eq!(store.get(Kind::Agent, "2").await.unwrap().name, "writer");
    store.replace(Kind::Agent, "1", "reader", &body, at(1)).await.unwrap();
    store.create(Kind::Agent, "3", "helper", &body, at(1)).await.unwrap();
    store.delete(Kind::Agent, "3").await.unwrap();
    store.replace(Kind::Agent, "2", "helper", &body, at(2)).await.unwrap();
    let names: Vec<String> = store.list(Kind::Agent).await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["reader", "helper"]);
}
