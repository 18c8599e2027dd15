use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::new_id;
use serde_json::json;
use store::{Execution, Executions, ReadError};

use crate::support::{alice, store};

const DAY: Duration = Duration::from_hours(24);

fn day(number: u32) -> SystemTime {
    UNIX_EPOCH + DAY * number
}

pub(crate) fn call(id: &str, conversation: &str) -> Execution {
    Execution {
        id: id.to_owned(),
        agent: "default".to_owned(),
        conversation_id: conversation.to_owned(),
        tool: "search_web".to_owned(),
        arguments: json!({"query": "茶"}),
        ok: true,
        error: None,
        bytes: 5,
        duration_ms: 12,
        cached: false,
        credits: 1,
    }
}

/// The ids of all pages.
async fn pages(store: &Executions, limit: u32, now: SystemTime) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.list(limit, cursor.as_deref(), now).await.unwrap();
        pages.push(page.items.into_iter().map(|one| one.execution.id).collect());
        cursor = page.next_cursor;
        if cursor.is_none() {
            return pages;
        }
    }
}

#[tokio::test]
async fn calls_are_paged_by_day_newest_first() {
    let store = store().await.executions;
    let bob = domain::Owner::new("bob");
    store.record(&alice(), &[call("1-01", "A"), call("1-02", "A")], day(100)).await.unwrap();
    store.record(&bob, &[call("2-01", "B")], day(100)).await.unwrap();
    store.record(&alice(), &[call("3-01", "A")], day(103)).await.unwrap();
    let all = vec!["3-01", "2-01", "1-02", "1-01"];
    for limit in [1, 2, 3, 4, 100] {
        let pages = pages(&store, limit, day(103)).await;
        assert_eq!(pages.concat(), all, "limit {limit}");
        assert!(pages.iter().all(|page| page.len() <= limit as usize), "limit {limit}");
    }
    let listed = store.list(2, None, day(103)).await.unwrap().items.remove(1);
    assert_eq!((listed.owner.as_str(), listed.at.as_str()), ("bob", "1970-04-11T00:00:00.000Z"));
    assert_eq!(listed.execution, call("2-01", "B"));
    assert!(store.list(5, None, day(140)).await.unwrap().items.is_empty(), "after a month they are not listed");
    assert_eq!(store.list(5, Some("x"), day(103)).await, Err(ReadError::BadCursor));
}

#[tokio::test]
async fn calls_of_answer_belong_to_its_owner() {
    let store = store().await.executions;
    let (one, another, unknown) = (new_id(), new_id(), new_id());
    let all = [format!("{one}-01"), format!("{one}-02"), format!("{another}-01"), "1-01".to_owned()];
    store.record(&alice(), &all.each_ref().map(|id| call(id, "A")), day(100)).await.unwrap();
    store.record(&domain::Owner::new("bob"), &[call(&all[0], "B")], day(100)).await.unwrap();
    let ids = async |owner: domain::Owner, answer: &str| -> Vec<String> {
        let calls = store.list_for_answer(&owner, answer).await.unwrap();
        calls.into_iter().map(|one| format!("{} {}", one.execution.id, one.execution.conversation_id)).collect()
    };
    assert_eq!(ids(alice(), &one).await, [format!("{} A", all[0]), format!("{} A", all[1])]);
    assert_eq!(ids(domain::Owner::new("bob"), &one).await, [format!("{} B", all[0])]);
    for no_answer in [&unknown, "1", "", &"1".repeat(1100)] {
        assert_eq!(ids(alice(), no_answer).await, [""; 0]);
    }
}

#[tokio::test]
async fn f150_deletion_removes_calls() {
    let store = store().await;
    let calls: Vec<Execution> = (10..70).map(|number| call(&format!("1-{number}"), "A")).collect();
    store.executions.record(&alice(), &calls, day(1)).await.unwrap();
    store.executions.record(&alice(), &[call("2-01", "B")], day(1)).await.unwrap();
    assert_eq!(pages(&store.executions, 100, day(1)).await.concat().len(), 61);
    store.executions.delete_for_conversation(&alice(), "A").await.unwrap();
    assert_eq!(pages(&store.executions, 7, day(1)).await.concat(), ["2-01"]);
    store.delete_owner(&alice()).await.unwrap();
    assert!(pages(&store.executions, 100, day(1)).await.concat().is_empty());
}
