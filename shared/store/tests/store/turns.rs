use std::time::Duration;

use store::{BeginError, Role, Status};

use crate::support::{alice, answer, asked, at, first_turn, next_turn, said, store};

#[tokio::test]
async fn a_turn_is_stored_and_becomes_history() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    store.finish(&lease, &answer("A1"), at(1)).await.unwrap();
    let id = lease.conversation_id;
    let next = store.begin(&alice(), &next_turn(&id, "Q2"), at(2)).await.unwrap();
    assert_eq!(store.history(&next, 1000).await.unwrap(), [asked("Q1"), said("A1")]);
    let page = store.messages(&alice(), &id, 10, None, at(3)).await.unwrap();
    let shown: Vec<_> = page.items.iter().map(|m| (m.role, m.content.as_str(), m.status)).collect();
    let expected = [
        (Role::User, "Q1", Status::Complete),
        (Role::Assistant, "A1", Status::Complete),
        (Role::User, "Q2", Status::Complete),
        (Role::Assistant, "", Status::Running),
    ];
    assert_eq!(shown, expected);
    assert_eq!(page.next_cursor, None);
}

#[tokio::test]
async fn f099_a_second_turn_is_told_how_long_the_first_holds() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    let refused = store.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(5)).await.unwrap_err();
    assert_eq!(refused, BeginError::InProgress { retry_after: Duration::from_secs(10) });
}
