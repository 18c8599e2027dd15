use store::{Answer, ConversationEdit, ConversationFilter, LeaseError, NewTurn, TitleSource, UserInput};

use crate::support::{Finish, ReadStored, alice, answer, at, first_turn, next_turn, store, store_at, title};
use crate::wire::Wire;

fn flags(pinned: Option<bool>, archived: Option<bool>) -> ConversationEdit {
    ConversationEdit { title: None, pinned, archived }
}

#[tokio::test]
async fn flags_are_set_and_removed_without_a_move() {
    let store = store().await.conversations;
    let id = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap().conversation_id;
    let before = store.get(&alice(), &id).await.unwrap();
    assert_eq!((before.pinned, before.archived, before.title_from), (false, false, TitleSource::Message));
    for (edit, expected) in [
        (flags(Some(true), None), (true, false)),
        (flags(Some(true), Some(true)), (true, true)),
        (flags(Some(false), None), (false, true)),
        (flags(Some(true), Some(false)), (true, false)),
        (flags(Some(false), Some(false)), (false, false)),
    ] {
        let after = store.edit(&alice(), &id, &edit, at(50)).await.unwrap();
        assert_eq!((after.pinned, after.archived, &after.updated_at), (expected.0, expected.1, &before.updated_at));
    }
    let edit = ConversationEdit { pinned: Some(false), ..title("mine") };
    let after = store.edit(&alice(), &id, &edit, at(60)).await.unwrap();
    assert_eq!((after.title.as_str(), after.title_from, after.pinned), ("mine", TitleSource::User, false));
    assert!(after.updated_at > before.updated_at);
}

#[tokio::test]
async fn filtered_pages_hold_each_conversation_once() {
    let store = store().await.conversations;
    let mut archived = Vec::new();
    for number in 0..30 {
        let id = store.begin(&alice(), &first_turn("Q"), at(number)).await.unwrap().conversation_id;
        if number % 3 > 0 {
            store.edit(&alice(), &id, &flags(None, Some(true)), at(99)).await.unwrap();
            archived.push(id);
        }
    }
    archived.reverse();
    for (wanted, count) in [(true, 20), (false, 10)] {
        let filter = ConversationFilter { archived: Some(wanted), ..ConversationFilter::default() };
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = store.list_filtered(&alice(), filter, 7, cursor.as_deref()).await.unwrap();
            seen.extend(page.items.into_iter().map(|conversation| conversation.id));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen.len(), count);
        assert!(!wanted || seen == archived);
    }
}

#[tokio::test]
async fn page_of_rare_conversations_reads_a_bounded_number() {
    let (wire, endpoint) = Wire::new().await;
    let (counted, direct) = (store_at(&endpoint).await.conversations, store_at(&wire.database).await.conversations);
    let pinned = direct.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap().conversation_id;
    direct.edit(&alice(), &pinned, &flags(Some(true), None), at(0)).await.unwrap();
    for number in 1..=700 {
        direct.begin(&alice(), &first_turn("Q"), at(number)).await.unwrap();
    }
    let filter = ConversationFilter { pinned: Some(true), ..ConversationFilter::default() };
    let page = counted.list_filtered(&alice(), filter, 20, None).await.unwrap();
    assert!(page.items.is_empty() && page.next_cursor.is_some(), "{page:?}");
    assert_eq!(wire.seen().iter().filter(|call| *call == "Query").count(), 4);
    let page = counted.list_filtered(&alice(), filter, 20, page.next_cursor.as_deref()).await.unwrap();
    assert_eq!(page.items.into_iter().map(|one| one.id).collect::<Vec<_>>(), [pinned]);
    assert_eq!(page.next_cursor, None);
}

#[tokio::test]
async fn title_of_a_model_replaces_only_the_message() {
    let store = store().await.conversations;
    let titled = |before: &str, new: &str| Answer {
        title: Some(before.to_owned()),
        new_title: Some(new.to_owned()),
        ..answer("A")
    };
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let before = lease.replaceable_title.clone().unwrap();
    store.finish(&lease, &titled(&before, "Tea"), at(1)).await.unwrap();
    let id = lease.conversation_id;
    let after = store.get(&alice(), &id).await.unwrap();
    assert_eq!((after.title.as_str(), after.title_from), ("Tea", TitleSource::Model));
    let next = store.begin(&alice(), &next_turn(&id, "R"), at(2)).await.unwrap();
    assert_eq!(next.replaceable_title, None, "it has a title");
    store.finish(&next, &answer("B"), at(3)).await.unwrap();

    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.edit(&alice(), &lease.conversation_id, &title("About Q"), at(1)).await.unwrap();
    let ended = store.finish(&lease, &titled("About Q", "Tea"), at(2)).await;
    assert_eq!(ended, Err(LeaseError::Renamed), "the owner gave it the same title");
    store.finish(&lease, &answer("A"), at(2)).await.unwrap();
    let after = store.get(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!((after.title.as_str(), after.title_from), ("About Q", TitleSource::User));
}

#[tokio::test]
async fn title_is_replaceable_in_two_turns() {
    let store = store().await.conversations;
    let first = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&first, &answer("A"), at(1)).await.unwrap();
    let id = first.conversation_id;
    let again = NewTurn { input: UserInput::Regenerate, ..next_turn(&id, "") };
    let mut replaceable = vec![first.replaceable_title.is_some()];
    for turn in [again, next_turn(&id, "R"), next_turn(&id, "S")] {
        let lease = store.begin(&alice(), &turn, at(2)).await.unwrap();
        replaceable.push(lease.replaceable_title.is_some());
        store.finish(&lease, &answer("A"), at(3)).await.unwrap();
    }
    assert_eq!(replaceable, [true, true, false, false]);
}

#[tokio::test]
async fn turn_that_announced_a_title_is_known() {
    let store = store().await.conversations;
    let first = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&first, &answer("A"), at(1)).await.unwrap();
    let id = first.conversation_id;
    for (text, new_title) in [("R", Some("Tea".to_owned())), ("S", None)] {
        let lease = store.begin(&alice(), &next_turn(&id, text), at(2)).await.unwrap();
        let title = new_title.is_some().then(|| "About Q".to_owned());
        store.finish(&lease, &Answer { title, new_title, ..answer("A") }, at(3)).await.unwrap();
    }
    let mut titles = Vec::new();
    for seq in [2, 4, 6] {
        titles.push(store.get_turn(&alice(), &id, seq, at(4)).await.unwrap().title);
    }
    assert_eq!(titles, [Some("Tea".to_owned()), Some("Tea".to_owned()), None]);
}
