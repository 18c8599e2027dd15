use std::fmt::Write as _;

use store::Answer;

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, first_turn, history_of, next_turn, rows,
    store_at, user_message,
};

/// Numbers, so that a misplaced piece is visible.
fn long_text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        let _ = write!(text, "{number}号 ");
    }
    text
}

#[tokio::test]
async fn f086_megabyte_answer_round_trips() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn(&long_text(500_000)), at(0)).await.unwrap();
    let (content, thinking) = (long_text(1024 * 1024), long_text(400_000));
    store.finish(&lease, &Answer { thinking: thinking.clone(), ..answer(&content) }, at(1)).await.unwrap();
    let id = lease.conversation_id;
    let next = store.begin(&alice(), &next_turn(&id, "Q2"), at(2)).await.unwrap();
    store.finish(&next, &answer("A2"), at(3)).await.unwrap();
    let first = store.messages(&alice(), &id, 2, None, at(4)).await.unwrap();
    assert!(first.items[0].content == long_text(500_000), "the question differs");
    assert!(first.items[1].content == content, "the answer differs");
    assert!(first.items[1].thinking == thinking, "the thinking differs");
    let second = store.messages(&alice(), &id, 2, first.next_cursor.as_deref(), at(4)).await.unwrap();
    let shown: Vec<_> = second.items.iter().map(|message| message.content.as_str()).collect();
    assert_eq!((shown, second.next_cursor), (vec!["Q2", "A2"], None));
}

#[tokio::test]
async fn page_of_long_messages_ends_early() {
    let store = store_at(&database().await).await.conversations;
    let text = long_text(900_000);
    let mut id = None;
    for _ in 0..3 {
        let turn = id.as_ref().map_or_else(|| first_turn(&text), |id: &String| next_turn(id, &text));
        let lease = store.begin(&alice(), &turn, at(0)).await.unwrap();
        store.finish(&lease, &answer(&text), at(0)).await.unwrap();
        id = Some(lease.conversation_id);
    }
    let (mut counts, mut cursor) = (Vec::new(), None);
    while counts.is_empty() || cursor.is_some() {
        let page = store.messages(&alice(), &id.clone().unwrap(), 100, cursor.as_deref(), at(1)).await.unwrap();
        assert!(page.items.iter().all(|message| message.content == text));
        counts.push(page.items.len());
        cursor = page.next_cursor;
    }
    assert_eq!(counts, [3, 3]);
}

#[tokio::test]
async fn f083_list_beyond_one_database_page_is_complete() {
    let store = store_at(&database().await).await.conversations;
    let text = "x".repeat(200_000);
    let mut lease = store.begin(&alice(), &first_turn(&text), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    for _ in 0..9 {
        store.finish(&lease, &answer("A"), at(1)).await.unwrap();
        lease = store.begin(&alice(), &next_turn(&id, &text), at(1)).await.unwrap();
    }
    let page = store.messages(&alice(), &id, 100, None, at(2)).await.unwrap();
    assert_eq!((page.items.len(), page.next_cursor), (20, None));
    let history = history_of(&store, &lease, usize::MAX).await;
    assert_eq!(history.len(), 18);
    store.delete(&alice(), &id).await.unwrap();
    assert!(matches!(store.get(&alice(), &id).await, Err(store::ReadError::NotFound)));
}

#[tokio::test]
async fn largest_answer_is_stored_and_in_history() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let control = "\u{1}".repeat(3 * 1024 * 1024);
    let huge = Answer { thinking: control.clone(), transcript: vec![assistant_message(&control)], ..answer(&control) };
    store.finish(&lease, &huge, at(1)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(2)).await.unwrap();
    let history = history_of(&store, &next, usize::MAX).await;
    assert_eq!(history[0], user_message("Q"));
    assert!(rows_are_small(&endpoint).await);
}

async fn rows_are_small(endpoint: &str) -> bool {
    let rows = rows(endpoint, "data").await;
    rows.iter().all(|row| row.values().filter_map(|value| value.as_s().ok()).map(String::len).sum::<usize>() < 400_000)
}
