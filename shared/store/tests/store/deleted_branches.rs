//! Deletion of messages with all that follow them.

use domain::{FinishReason, NumberedSources, Source, Summary};
use store::{Answer, BeginError, LeaseError, NewTurn, ReadError, Target, TurnEnd, UserInput};

use crate::branches::{after, again, run, shown, texts};
use crate::support::{
    alice, answer, assistant_message, at, database, ended, first_turn, next_turn, rows, store_at, user_message,
};
use crate::wire::{Fault, Gate, Wire};

#[tokio::test]
async fn interrupted_deletion_is_completed_by_the_next() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    let turn = next_turn(&id, "Q2");
    run(&store, &turn, answer("A2")).await;
    wire.fail("BatchWriteItem", &[Fault::Refused("ValidationException")]);
    assert!(store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.is_err());
    assert_eq!(texts(&shown(&store, &id, 1).await), ["Q1", "A1"]);
    let begun = store.begin(&alice(), &after(&id, &turn.assistant_message_id, "x"), at(1)).await;
    assert_eq!(begun.unwrap_err(), BeginError::NotFound);
    store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.unwrap();
    assert_eq!(rows(&wire.database, "data").await.len(), 3);
}

#[tokio::test]
async fn deletion_during_a_begin_is_noticed() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await.conversations, store_at(&wire.database).await.conversations);
    let first = first_turn("Q1");
    let id = run(&fast, &first, answer("A1")).await.conversation_id;
    let turn = next_turn(&id, "Q2");
    run(&fast, &turn, answer("A2")).await;
    run(&fast, &after(&id, &first.assistant_message_id, "Q3"), answer("A3")).await;
    let (gate, late) = (Gate::default(), after(&id, &turn.assistant_message_id, "Q4"));
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    let begun = tokio::spawn(async move { slow.begin(&alice(), &late, at(1)).await });
    gate.arrival().await;
    fast.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.unwrap();
    gate.open();
    assert_eq!(begun.await.unwrap().unwrap_err(), BeginError::NotFound);
    assert_eq!(texts(&shown(&fast, &id, 2).await), ["Q1", "A1", "Q3", "A3"]);
}

#[tokio::test]
async fn deletion_during_a_continuation_ends_it() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await.conversations, store_at(&wire.database).await.conversations);
    let id = run(&fast, &first_turn("Q1"), answer("A1")).await.conversation_id;
    let turn = next_turn(&id, "Q2");
    run(&fast, &turn, Answer { outcome: ended(TurnEnd::Done(FinishReason::Length)), ..answer("A2") }).await;
    let (gate, question) = (Gate::default(), turn.user_message_id.clone());
    wire.fail("UpdateItem", &[Fault::Held(gate.clone())]);
    let conversation = id.clone();
    let deleted =
        tokio::spawn(async move { slow.delete_message(&alice(), &conversation, &question, at(1)).await.map(drop) });
    gate.arrival().await;
    let more = NewTurn { input: UserInput::Continue, ..next_turn(&id, "") };
    let lease = fast.begin(&alice(), &more, at(1)).await.unwrap();
    gate.open();
    deleted.await.unwrap().unwrap();
    assert_eq!(fast.renew(&lease, at(2)).await.unwrap_err(), LeaseError::Lost);
    run(&fast, &next_turn(&id, "Q3"), answer("A3")).await;
    assert_eq!(texts(&shown(&fast, &id, 2).await), ["Q1", "A1", "Q3", "A3"]);
}

#[tokio::test]
async fn deletion_whose_response_is_lost_is_completed() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    let turn = next_turn(&id, "Q2");
    run(&store, &turn, answer("A2")).await;
    wire.fail("UpdateItem", &[Fault::LostResponse]);
    let deleted = store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.unwrap();
    assert_eq!(deleted.ids.len(), 2);
    assert_eq!(rows(&wire.database, "data").await.len(), 3);
}

#[tokio::test]
async fn every_part_of_an_interrupted_deletion_is_completed() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let first = first_turn("Q1");
    let id = run(&store, &first, answer("A2")).await.conversation_id;
    let turn = next_turn(&id, "Q3");
    run(&store, &turn, answer("A4")).await;
    let other = Target::Message(first.assistant_message_id.clone());
    run(&store, &NewTurn { target: other, ..again(&id) }, answer("A5")).await;
    run(&store, &after(&id, &turn.assistant_message_id, "Q6"), answer("A7")).await;
    wire.fail("BatchWriteItem", &[Fault::Refused("ValidationException")]);
    assert!(store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.is_err());
    store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.unwrap();
    assert_eq!(rows(&wire.database, "data").await.len(), 4);
}

#[tokio::test]
async fn deleting_a_dead_attempt_leaves_the_shown_branch() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let first = first_turn("Q");
    let id = run(&store, &first, answer("A2")).await.conversation_id;
    run(&store, &again(&id), answer("A3")).await;
    store.select_branch(&alice(), &id, &first.assistant_message_id).await.unwrap();
    let attempt = again(&id);
    store.begin(&alice(), &attempt, at(1)).await.unwrap();
    assert_eq!(texts(&shown(&store, &id, 100).await), ["Q", "A2"]);
    store.delete_message(&alice(), &id, &attempt.assistant_message_id, at(100)).await.unwrap();
    assert_eq!(texts(&shown(&store, &id, 100).await), ["Q", "A2"]);
}

#[tokio::test]
async fn deleted_branch_leaves_nothing() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let (first, second) = (first_turn("Q1"), |id: &str| next_turn(id, &"x".repeat(300_000)));
    let id = run(&store, &first, answer("A1")).await.conversation_id;
    let before = rows(&endpoint, "data").await.len();
    let source = Source { index: 1, title: "t".into(), url: "https://a.example".into(), excerpt: String::new() };
    let full = Answer {
        summary: Some(Summary { up_to_seq: 4, text: "S".to_owned() }),
        added_sources: Some(NumberedSources { sources: vec![source], last: 1 }),
        transcript: vec![assistant_message("A"), user_message("again"), assistant_message("B")],
        ..answer(&"y".repeat(300_000))
    };
    let turn = second(&id);
    run(&store, &turn, full.clone()).await;
    run(&store, &again(&id), answer("B2")).await;
    assert!(rows(&endpoint, "data").await.len() > before + 6);
    let deleted = store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await.unwrap();
    assert_eq!((deleted.seqs, deleted.turns.len()), ([3, 4, 5].into(), 2));
    assert!(deleted.ids.contains(&turn.assistant_message_id));
    assert_eq!(rows(&endpoint, "data").await.len(), before);
    let gone = store.delete_message(&alice(), &id, &turn.user_message_id, at(1)).await;
    assert_eq!(gone, Err(ReadError::NotFound));
    run(&store, &next_turn(&id, "Q3"), answer("A3")).await;
    let messages = shown(&store, &id, 2).await;
    assert_eq!(
        (texts(&messages), &messages[2].parent_id),
        (vec!["Q1", "A1", "Q3", "A3"], &Some(messages[1].id.clone()))
    );
}

#[tokio::test]
async fn all_logs_of_an_answer_are_deleted() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let first = first_turn("Q");
    let cut = || Answer { outcome: ended(TurnEnd::Done(FinishReason::Length)), ..answer("A") };
    let mut turns = vec![run(&store, &first, cut()).await];
    let id = turns[0].conversation_id.clone();
    for _ in 0..2 {
        turns.push(run(&store, &NewTurn { input: UserInput::Continue, ..next_turn(&id, "") }, cut()).await);
    }
    let deleted = store.delete_message(&alice(), &id, &first.user_message_id, at(1)).await.unwrap();
    assert_eq!(deleted.turns, turns.into_iter().map(|turn| turn.turn_id).collect());
}
