use domain::Owner;
use store::{BeginError, ReadError};

use crate::support::{Finish, ReadStored, alice, answer, at, first_turn, next_turn, store, title};

#[tokio::test]
async fn conversations_are_paged_by_last_update() {
    let store = store().await.conversations;
    let mut ids = Vec::new();
    for number in 0..7 {
        let lease = store.begin(&alice(), &first_turn(&number.to_string()), at(number)).await.unwrap();
        store.finish(&lease, &answer("A"), at(number)).await.unwrap();
        ids.push(lease.conversation_id);
    }
    store.begin(&alice(), &next_turn(&ids[2], "again"), at(50)).await.unwrap();
    store.edit(&alice(), &ids[0], &title("new"), at(60)).await.unwrap();
    let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = store.list(&alice(), 3, cursor.as_deref()).await.unwrap();
        seen.extend(page.items.into_iter().map(|conversation| conversation.id));
        pages += 1;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected = [0, 2, 6, 5, 4, 3, 1].map(|number| ids[number].clone());
    assert_eq!((seen, pages), (expected.to_vec(), 3));
}

#[tokio::test]
async fn last_full_page_has_no_cursor() {
    let store = store().await.conversations;
    assert_eq!(store.list(&alice(), 20, None).await.unwrap().items, []);
    for number in 0..2 {
        store.begin(&alice(), &first_turn("Q"), at(number)).await.unwrap();
    }
    let page = store.list(&alice(), 2, None).await.unwrap();
    assert_eq!((page.items.len(), page.next_cursor), (2, None));
}

#[tokio::test]
async fn conversations_with_equal_times_are_listed_once() {
    let store = store().await.conversations;
    let mut expected = Vec::new();
    for _ in 0..6 {
        expected.push(store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap().conversation_id);
    }
    let first = store.list(&alice(), 4, None).await.unwrap();
    let second = store.list(&alice(), 4, first.next_cursor.as_deref()).await.unwrap();
    let mut seen: Vec<String> = first.items.into_iter().chain(second.items).map(|row| row.id).collect();
    seen.sort();
    expected.sort();
    assert_eq!((seen, second.next_cursor), (expected, None));
}

#[tokio::test]
async fn messages_are_paged() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q0"), at(0)).await.unwrap();
    store.finish(&lease, &answer("A0"), at(0)).await.unwrap();
    let id = lease.conversation_id;
    let lease = store.begin(&alice(), &next_turn(&id, "Q1"), at(1)).await.unwrap();
    store.finish(&lease, &answer("A1"), at(1)).await.unwrap();
    let first = store.messages(&alice(), &id, 3, None, at(2)).await.unwrap();
    let second = store.messages(&alice(), &id, 3, first.next_cursor.as_deref(), at(2)).await.unwrap();
    let shown: Vec<String> = first.items.into_iter().chain(second.items).map(|message| message.content).collect();
    assert_eq!((shown.join(" "), second.next_cursor), ("Q0 A0 Q1 A1".to_owned(), None));
}

#[tokio::test]
async fn foreign_cursor_is_malformed() {
    let store = store().await.conversations;
    let mut ids = Vec::new();
    for owner in [alice(), alice(), Owner::new("bob")] {
        ids.push(store.begin(&owner, &first_turn("Q"), at(0)).await.unwrap().conversation_id);
    }
    let list = store.list(&alice(), 1, None).await.unwrap().next_cursor;
    let messages = store.messages(&alice(), &ids[0], 1, None, at(1)).await.unwrap().next_cursor;
    assert!(list.is_some() && messages.is_some());
    let bob = Owner::new("bob");
    let bad = Some(ReadError::BadCursor);
    assert_eq!(store.list(&bob, 1, list.as_deref()).await.err(), bad);
    assert_eq!(store.list(&alice(), 1, messages.as_deref()).await.err(), bad);
    assert_eq!(store.messages(&alice(), &ids[1], 1, messages.as_deref(), at(1)).await.err(), bad);
    assert_eq!(store.messages(&bob, &ids[2], 1, list.as_deref(), at(1)).await.err(), bad);
    for text in ["", "x", "7b7d", "…", &"00".repeat(2000)] {
        assert_eq!(store.list(&alice(), 1, Some(text)).await.err(), bad, "{text}");
        assert_eq!(store.messages(&alice(), &ids[0], 1, Some(text), at(1)).await.err(), bad, "{text}");
    }
}

#[tokio::test]
async fn rename_truncates_title_to_200_characters() {
    let store = store().await.conversations;
    let id = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap().conversation_id;
    let renamed = store.edit(&alice(), &id, &title(&"标".repeat(300)), at(9)).await.unwrap();
    assert_eq!((renamed.title, renamed.updated_at.as_str()), ("标".repeat(200), "2027-01-15T08:00:09.000Z"));
    assert_eq!(store.get(&alice(), &id).await.unwrap().title, "标".repeat(200));
}

#[tokio::test]
async fn f119_foreign_conversation_is_not_found() {
    let store = store().await.conversations;
    let bobs = store.begin(&Owner::new("bob"), &first_turn("Q"), at(0)).await.unwrap().conversation_id;
    let lower = bobs.to_lowercase();
    let absent = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for id in
        [bobs.as_str(), lower.as_str(), absent, "", "x", "../bob", &"A".repeat(5000), "01ARZ3NDEKTSV4RRFFQ69G5FA\u{0}"]
    {
        let not_found = Some(ReadError::NotFound);
        assert_eq!(store.get(&alice(), id).await.err(), not_found, "{id}");
        assert_eq!(store.messages(&alice(), id, 10, None, at(1)).await.err(), not_found, "{id}");
        assert_eq!(store.edit(&alice(), id, &title("mine"), at(1)).await.err(), not_found, "{id}");
        assert_eq!(store.delete(&alice(), id).await.err(), not_found, "{id}");
        let refused = store.begin(&alice(), &next_turn(id, "Q"), at(1)).await;
        assert_eq!(refused.unwrap_err(), BeginError::NotFound, "{id}");
    }
    let kept = store.get(&Owner::new("bob"), &bobs).await.unwrap();
    assert_eq!((kept.title.as_str(), kept.message_count), ("About Q", 2));
}
