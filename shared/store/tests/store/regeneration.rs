//! Regeneration of answers.

use domain::{ErrorCode, FinishReason, Summary};
use store::{Answer, BeginError, ConversationStore, NewTurn, Status, TurnEnd, TurnLease, UserInput};

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, ended, first_turn, history_of, next_turn, rows,
    store, store_at, user_message,
};

/// A conversation whose turns have ended; returns the last lease.
async fn conversation(store: &ConversationStore, turns: &[(&str, &str)]) -> TurnLease {
    let mut last: Option<TurnLease> = None;
    for (question, reply) in turns {
        let turn = match &last {
            None => first_turn(question),
            Some(lease) => next_turn(&lease.conversation_id, question),
        };
        let lease = store.begin(&alice(), &turn, at(0)).await.unwrap();
        store.finish(&lease, &answer(reply), at(0)).await.unwrap();
        last = Some(lease);
    }
    last.unwrap()
}

fn regenerate_turn(conversation: &str) -> NewTurn {
    NewTurn { input: UserInput::Regenerate, ..next_turn(conversation, "") }
}

fn failed_answer(text: &str) -> Answer {
    Answer { outcome: ended(TurnEnd::Failed(ErrorCode::UpstreamDisconnected)), ..answer(text) }
}

/// The texts and statuses of the conversation's messages.
async fn visible_messages(store: &ConversationStore, id: &str, seconds: u64) -> Vec<(String, Status)> {
    let mut cursor = None;
    let mut shown = Vec::new();
    loop {
        // Pages of one message reveal what larger pages may hide.
        let page = store.messages(&alice(), id, 1, cursor.as_deref(), at(seconds)).await.unwrap();
        shown.extend(page.items.into_iter().map(|message| (message.content, message.status)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let whole = store.messages(&alice(), id, 100, None, at(seconds)).await.unwrap().items;
    let whole: Vec<_> = whole.into_iter().map(|message| (message.content, message.status)).collect();
    assert_eq!(shown, whole, "page by page it is the same");
    assert_eq!(store.get(&alice(), id).await.unwrap().message_count, shown.len() as u64);
    shown
}

fn complete_messages(texts: &[&str]) -> Vec<(String, Status)> {
    texts.iter().map(|text| ((*text).to_owned(), Status::Complete)).collect()
}

#[tokio::test]
async fn regenerated_answer_replaces_first_from_its_begin() {
    let store = store().await.conversations;
    let first = conversation(&store, &[("Q1", "A1"), ("Q2", "A2")]).await;
    let id = &first.conversation_id;
    let lease = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
    assert_eq!(store.load_input(&lease).await.unwrap(), [user_message("Q2")]);
    assert_eq!(history_of(&store, &lease, 1000).await, [user_message("Q1"), assistant_message("A1")]);
    let mut running = complete_messages(&["Q1", "A1", "Q2", ""]);
    running[3].1 = Status::Running;
    assert_eq!(visible_messages(&store, id, 2).await, running);
    store.finish(&lease, &answer("B2"), at(3)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 4).await, complete_messages(&["Q1", "A1", "Q2", "B2"]));
    let next = store.begin(&alice(), &next_turn(id, "Q3"), at(5)).await.unwrap();
    assert_eq!(
        history_of(&store, &next, 1000).await,
        [user_message("Q1"), assistant_message("A1"), user_message("Q2"), assistant_message("B2")]
    );
    store.finish(&next, &answer("A3"), at(6)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 7).await, complete_messages(&["Q1", "A1", "Q2", "B2", "Q3", "A3"]));
}

#[tokio::test]
async fn regeneration_can_repeat_and_keeps_earlier_answers() {
    let store = store().await.conversations;
    let first = conversation(&store, &[("Q", "A")]).await;
    let id = &first.conversation_id;
    for reply in ["B", "C", "D", "E", "F"] {
        let lease = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
        assert_eq!(store.load_input(&lease).await.unwrap(), [user_message("Q")]);
        assert_eq!(history_of(&store, &lease, 1000).await, []);
        store.finish(&lease, &answer(reply), at(2)).await.unwrap();
        assert_eq!(visible_messages(&store, id, 3).await, complete_messages(&["Q", reply]));
    }
    let kept = store.get_turn(&alice(), id, first.answer_seq, at(4)).await.unwrap();
    assert_eq!(kept.message.content, "A");
}

#[tokio::test]
async fn failed_regeneration_keeps_first_answer() {
    let store = store().await.conversations;
    let first = conversation(&store, &[("Q1", "A1"), ("Q2", "A2")]).await;
    let id = &first.conversation_id;
    let stopped = Answer { outcome: ended(TurnEnd::Done(FinishReason::Stopped)), ..answer(" \n") };
    for silent in [failed_answer(""), failed_answer("half"), stopped] {
        let lease = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
        store.finish(&lease, &silent, at(2)).await.unwrap();
        assert_eq!(visible_messages(&store, id, 3).await, complete_messages(&["Q1", "A1", "Q2", "A2"]));
        let stored = store.get_turn(&alice(), id, lease.answer_seq, at(3)).await.unwrap();
        assert_eq!(stored.outcome.unwrap().end, silent.outcome.end, "a later request gets how the turn ended");
    }
    let next = store.begin(&alice(), &next_turn(id, "Q3"), at(4)).await.unwrap();
    let before = [user_message("Q1"), assistant_message("A1"), user_message("Q2"), assistant_message("A2")];
    assert_eq!(history_of(&store, &next, 1000).await, before);
}

#[tokio::test]
async fn f101_crash_during_regenerate_restores_previous_answer() {
    let store = store().await.conversations;
    let first = conversation(&store, &[("Q", "A")]).await;
    let id = &first.conversation_id;
    let dead = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 15).await[1].1, Status::Running);
    assert_eq!(visible_messages(&store, id, 16).await, complete_messages(&["Q", "A"]));
    let lease = store.begin(&alice(), &regenerate_turn(id), at(16)).await.unwrap();
    assert!(store.finish(&dead, &answer("late"), at(17)).await.is_err());
    store.finish(&lease, &answer("B"), at(17)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 18).await, complete_messages(&["Q", "B"]));
    let dead = store.begin(&alice(), &regenerate_turn(id), at(20)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(id, "Q2"), at(35)).await.unwrap();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q"), assistant_message("B")]);
    assert!(store.finish(&dead, &answer("late"), at(36)).await.is_err());
    store.finish(&next, &answer("A2"), at(36)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 37).await, complete_messages(&["Q", "B", "Q2", "A2"]));
}

#[tokio::test]
async fn f101_dead_turn_can_be_regenerated() {
    let store = store().await.conversations;
    let dead = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let lease = store.begin(&alice(), &regenerate_turn(&dead.conversation_id), at(15)).await.unwrap();
    assert_eq!(store.load_input(&lease).await.unwrap(), [user_message("Q")]);
    store.finish(&lease, &answer("A"), at(16)).await.unwrap();
    assert_eq!(visible_messages(&store, &dead.conversation_id, 17).await, complete_messages(&["Q", "A"]));
}

#[tokio::test]
async fn f100_running_turn_blocks_regeneration() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let refused = store.begin(&alice(), &regenerate_turn(&lease.conversation_id), at(1)).await.unwrap_err();
    assert!(matches!(refused, BeginError::InProgress { .. }));
    store.finish(&lease, &answer("A"), at(2)).await.unwrap();
    let turn = regenerate_turn(&lease.conversation_id);
    let lease = store.begin(&alice(), &turn, at(3)).await.unwrap();
    let same = store.begin(&alice(), &turn, at(3)).await.unwrap();
    assert_eq!(same.answer_seq, lease.answer_seq, "a repeat of the call gives the same turn");
    store.finish(&same, &answer("B"), at(4)).await.unwrap();
    assert_eq!(visible_messages(&store, &lease.conversation_id, 5).await, complete_messages(&["Q", "B"]));
}

#[tokio::test]
async fn empty_conversation_cannot_be_regenerated() {
    let store = store().await.conversations;
    let nowhere = NewTurn { conversation_id: None, ..regenerate_turn("") };
    assert_eq!(store.begin(&alice(), &nowhere, at(0)).await.unwrap_err(), BeginError::NothingToRegenerate);
    let unknown = regenerate_turn("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(store.begin(&alice(), &unknown, at(0)).await.unwrap_err(), BeginError::NotFound);
}

#[tokio::test]
async fn summary_never_covers_superseded_answer() {
    let store = store().await.conversations;
    let first = conversation(&store, &[("Q1", "A1"), ("Q2", "A2")]).await;
    let id = &first.conversation_id;
    let lease = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
    // A turn can summarise only what it reads.
    let seqs: Vec<u64> = store.history(&lease, 1000).await.unwrap().iter().map(|past| past.seq).collect();
    let summary = Some(Summary { up_to_seq: seqs[0], text: "S".to_owned() });
    store.finish(&lease, &Answer { summary: summary.clone(), ..answer("B2") }, at(2)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(id, "Q3"), at(3)).await.unwrap();
    assert_eq!(store.summary(&next).await.unwrap(), summary);
    let seqs: Vec<u64> = store.history(&next, 1000).await.unwrap().iter().map(|past| past.seq).collect();
    assert_eq!(seqs, [2, lease.answer_seq], "in order, and the replaced one is not among them");
}

#[tokio::test]
async fn f086_pieces_of_superseded_answer_are_hidden() {
    let store = store().await.conversations;
    let (long, longer) = ("好".repeat(300_000), "新".repeat(400_000));
    let first = conversation(&store, &[("Q1", &long)]).await;
    let id = &first.conversation_id;
    let lease = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
    store.finish(&lease, &answer(&longer), at(2)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 3).await, complete_messages(&["Q1", &longer]));
    let lease = store.begin(&alice(), &regenerate_turn(id), at(4)).await.unwrap();
    store.finish(&lease, &answer("short"), at(5)).await.unwrap();
    assert_eq!(visible_messages(&store, id, 6).await, complete_messages(&["Q1", "short"]));
}

#[tokio::test]
async fn f150_deletion_removes_superseded_answers() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let first = conversation(&store, &[("Q", "A")]).await;
    let id = &first.conversation_id;
    let lease = store.begin(&alice(), &regenerate_turn(id), at(1)).await.unwrap();
    store.finish(&lease, &answer("B"), at(2)).await.unwrap();
    let running = store.begin(&alice(), &regenerate_turn(id), at(3)).await.unwrap();
    store.delete(&alice(), id).await.unwrap();
    assert!(store.finish(&running, &answer("C"), at(4)).await.is_err());
    assert_eq!(rows(&endpoint, "data").await, []);
}
