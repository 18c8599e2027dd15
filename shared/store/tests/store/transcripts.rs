//! Transcripts of turns: when they are stored, when they are valid, and when they are deleted.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{ErrorCode, Message, ProviderData, ToolCall, ToolMessage};
use serde_json::{Value, json};
use store::{Answer, ConversationStore, LeaseError, NewTurn, StoreError, TurnEnd, TurnLease, UserInput};
use tokio::task::JoinHandle;

use crate::stored_transcripts::exchange;
use crate::support::{
    Finish, alice, answer, assistant_message, at, database, ended, first_turn, history_of, next_turn, put, rows,
    store_at, store_without_retries_at, user_message,
};
use crate::wire::{Fault, Gate, Wire};

fn call_message(text: &str) -> Message {
    let call = ToolCall { id: "1".to_owned(), name: "search_web".to_owned(), arguments: json!({ "query": "茶" }) };
    Message::Assistant { text: text.to_owned(), thinking: "hm".to_owned(), calls: vec![call], provider_data: None }
}

fn result_message(characters: usize) -> Message {
    let (call_id, name) = ("1".to_owned(), "search_web".to_owned());
    Message::Tool(ToolMessage { call_id, name, ok: true, content: "茶".repeat(characters) })
}

/// The transcript of a turn with a search result of this length.
pub(crate) fn search_messages(characters: usize) -> Vec<Message> {
    vec![call_message("looking"), result_message(characters), assistant_message("A")]
}

pub(crate) fn search_answer(characters: usize) -> Answer {
    Answer { transcript: search_messages(characters), ..answer("looking\n\nA") }
}

/// The result length of a search whose transcript is written separately.
pub(crate) const LARGE: usize = 7_000;

/// A call without a fault.
pub(crate) fn no_fault() -> Fault {
    let gate = Gate::default();
    gate.open();
    Fault::Held(gate)
}

async fn count_transcripts(endpoint: &str) -> usize {
    rows(endpoint, "data")
        .await
        .iter()
        .filter(|row| ["said", "exchange"].iter().any(|name| row.contains_key(*name)))
        .count()
}

/// The history of the next turn of a conversation.
pub(crate) async fn read_next(store: &ConversationStore, id: &str, seconds: u64) -> Vec<Message> {
    let next = store.begin(&alice(), &next_turn(id, "now"), at(seconds)).await.unwrap();
    history_of(store, &next, usize::MAX).await
}

#[tokio::test]
async fn provider_data_is_read_as_it_was_stored() {
    let store = store_at(&database().await).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let call_signatures = BTreeMap::from([("1".to_owned(), "CtE".to_owned())]);
    let data = ProviderData { origin: "o".to_owned(), call_signatures, reasoning: Vec::new() };
    let mut messages = search_messages(10);
    if let Message::Assistant { provider_data, .. } = &mut messages[0] {
        *provider_data = Some(Box::new(data));
    }
    let answer = Answer { transcript: messages.clone(), ..answer("looking\n\nA") };
    store.finish(&lease, &answer, at(1)).await.unwrap();
    let read = read_next(&store, &lease.conversation_id, 2).await;
    assert_eq!(read[1..], messages);
}

fn spawn_finish(store: &ConversationStore, lease: &TurnLease) -> JoinHandle<Result<(), LeaseError>> {
    let (store, lease) = (store.clone(), lease.clone());
    tokio::spawn(async move { store.finish(&lease, &search_answer(LARGE), at(1)).await })
}

#[tokio::test]
async fn single_reply_needs_no_transcript() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    wire.seen();
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let thinking =
        Message::Assistant { text: "A".to_owned(), thinking: "hm".to_owned(), calls: Vec::new(), provider_data: None };
    let thought = Answer { thinking: "hm".to_owned(), transcript: vec![thinking.clone()], ..answer("\n\nA") };
    store.finish(&lease, &thought, at(1)).await.unwrap();
    assert_eq!(wire.seen(), ["TransactWriteItems", "TransactWriteItems"]);
    assert_eq!((count_transcripts(&endpoint).await, rows(&endpoint, "data").await.len()), (0, 3));
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "R"), at(2)).await.unwrap();
    wire.seen();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q"), thinking]);
    assert_eq!(wire.seen(), ["Query"]);
}

#[tokio::test]
async fn other_messages_are_stored_as_transcript() {
    let tellings = [
        search_messages(1),
        search_messages(LARGE),
        vec![assistant_message("another")],
        vec![assistant_message("A "), assistant_message("B")],
        vec![],
        vec![Message::Assistant {
            text: "A".to_owned(),
            thinking: "hm".to_owned(),
            calls: Vec::new(),
            provider_data: None,
        }],
    ];
    for transcript in tellings {
        let (wire, endpoint) = Wire::new().await;
        let store = store_at(&endpoint).await.conversations;
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        store.finish(&lease, &Answer { transcript: transcript.clone(), ..answer("A") }, at(1)).await.unwrap();
        assert_eq!(count_transcripts(&endpoint).await, 1);
        let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "R"), at(2)).await.unwrap();
        wire.seen();
        let expected: Vec<Message> = std::iter::once(user_message("Q")).chain(transcript).collect();
        assert_eq!(history_of(&store, &next, usize::MAX).await, expected);
        let seen = wire.seen();
        let is_own_item = rows(&endpoint, "data").await.iter().any(|row| row["sk"].as_s().unwrap().starts_with("T#"));
        assert_eq!(is_own_item, expected == [vec![user_message("Q")], search_messages(LARGE)].concat());
        assert_eq!(seen, vec!["Query"; 1 + usize::from(is_own_item)]);
    }
}

#[tokio::test]
async fn transcripts_beyond_budget_are_not_read() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&lease, &search_answer(LARGE), at(1)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "R"), at(2)).await.unwrap();
    store.finish(&next, &answer("B"), at(3)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "S"), at(4)).await.unwrap();
    wire.seen();
    assert_eq!(history_of(&store, &next, LARGE).await, [user_message("R"), assistant_message("B")]);
    assert_eq!(wire.seen(), ["Query"]);
    assert_eq!(history_of(&store, &next, LARGE + 100).await.len(), 6);
    assert_eq!(wire.seen(), ["Query", "Query"]);
}

#[tokio::test]
async fn transcripts_of_older_releases_stay_readable() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let cut = Answer { outcome: ended(TurnEnd::Failed(ErrorCode::Interrupted)), ..answer("half") };
    let silent = Answer { content: String::new(), transcript: Vec::new(), ..cut.clone() };
    let lease = store.begin(&alice(), &first_turn("0"), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    store.finish(&lease, &answer("A"), at(0)).await.unwrap();
    for (number, turn) in [search_answer(LARGE), cut, search_answer(3), silent, answer("\nB")].iter().enumerate() {
        let lease = store.begin(&alice(), &next_turn(&id, &number.to_string()), at(0)).await.unwrap();
        store.finish(&lease, turn, at(0)).await.unwrap();
    }
    store.begin(&alice(), &next_turn(&id, "dead"), at(0)).await.unwrap();
    let lease = store.begin(&alice(), &next_turn(&id, "again"), at(20)).await.unwrap();
    store.finish(&lease, &answer("first"), at(20)).await.unwrap();
    let again = NewTurn { input: UserInput::Regenerate, ..next_turn(&id, "") };
    let lease = store.begin(&alice(), &again, at(20)).await.unwrap();
    store.finish(&lease, &search_answer(2), at(20)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&id, "now"), at(21)).await.unwrap();
    let now = history_of(&store, &next, usize::MAX).await;
    let (questions, length) = (now.iter().filter(|message| matches!(message, Message::User { .. })), now.len());
    assert_eq!((questions.count(), length), (8, 8 + 1 + 3 + 1 + 3 + 1 + 3));
    assert_eq!(
        now.last_chunk(),
        Some(&[user_message("again"), call_message("looking"), result_message(2), assistant_message("A")])
    );
    age_items(&endpoint).await;
    for budget in [1, 30, 60, LARGE, LARGE + 100, usize::MAX] {
        let limited = history_of(&store, &next, budget).await;
        assert!(now.ends_with(&limited) && !limited.is_empty(), "budget {budget}");
    }
    assert_eq!(history_of(&store, &next, usize::MAX).await, now);
    let again = NewTurn { input: UserInput::Regenerate, ..next_turn(&id, "") };
    store.finish(&next, &answer("C"), at(22)).await.unwrap();
    let lease = store.begin(&alice(), &again, at(23)).await.unwrap();
    assert_eq!(store.load_input(&lease).await.unwrap(), [user_message("now")]);
    assert_eq!(history_of(&store, &lease, usize::MAX).await, now);
}

/// Converts each turn to the items of releases that stored a transcript of every turn, from its begin on.
async fn age_items(endpoint: &str) {
    let all = rows(endpoint, "data").await;
    let text =
        |row: &HashMap<String, AttributeValue>, name: &str| row.get(name).map(|value| value.as_s().unwrap().clone());
    let answers = all.iter().filter(|row| text(row, "author").is_some_and(|author| author == "assistant"));
    for answer in answers {
        let key = text(answer, "sk").unwrap().replace("M#", "T#");
        let kept = all.iter().find(|row| text(row, "sk") == Some(key.clone()));
        let text = match (kept, exchange(answer), text(answer, "content").unwrap()) {
            (Some(kept), ..) => text(kept, "said").unwrap(),
            (_, Some(messages), _) => messages,
            (.., content) => match content.trim_start_matches('\n') {
                "" => "[]".to_owned(),
                content => serde_json::to_string(&[assistant_message(content)]).unwrap(),
            },
        };
        let mut older = answer.clone();
        older.remove("exchange");
        older.remove("transcript");
        let mut transcript = answer.clone();
        transcript.retain(|name, _| ["pk", "v", "aside"].contains(&name.as_str()));
        let texts = [("sk", key), ("asked", "what was asked".to_owned()), ("said", text)];
        transcript.extend(texts.map(|(name, text)| (name.to_owned(), AttributeValue::S(text))));
        put(endpoint, older).await;
        put(endpoint, transcript).await;
    }
}

#[tokio::test]
async fn only_large_transcript_is_written_separately() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    for (characters, requests) in [(1_000, 1), (LARGE, 3)] {
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        wire.seen();
        store.finish(&lease, &search_answer(characters), at(1)).await.unwrap();
        let all = ["TransactWriteItems", "UpdateItem", "TransactWriteItems"];
        assert_eq!(wire.seen(), all[..requests]);
        let expected: Vec<Message> = std::iter::once(user_message("Q")).chain(search_messages(characters)).collect();
        assert_eq!(read_next(&store, &lease.conversation_id, 2).await, expected);
    }
}

/// Runs a turn whose transcript is written and whose last transaction failed.
pub(crate) async fn break_off_turn() -> (String, ConversationStore, TurnLease) {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    wire.fail("TransactWriteItems", &[no_fault(), Fault::Refused("ThrottlingException")]);
    let failed = store.finish(&lease, &search_answer(LARGE), at(1)).await;
    assert_eq!(failed, Err(LeaseError::Store(StoreError::Busy)));
    (endpoint, store, lease)
}

#[tokio::test]
async fn f101_transcript_of_dead_turn_is_never_read() {
    let (endpoint, store, lease) = break_off_turn().await;
    assert_eq!(count_transcripts(&endpoint).await, 1);
    assert_eq!(read_next(&store, &lease.conversation_id, 15).await, [user_message("Q")]);
    assert_eq!(store.finish(&lease, &search_answer(LARGE), at(16)).await, Err(LeaseError::Lost));
    assert_eq!(read_next(&store, &lease.conversation_id, 40).await, [user_message("Q"), user_message("now")]);
    store.delete(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn turn_without_lease_adds_no_valid_transcript() {
    for held in ["TransactWriteItems", "UpdateItem"] {
        let (wire, endpoint) = Wire::new().await;
        let direct_store = store_at(&wire.database).await.conversations;
        let store = store_at(&endpoint).await.conversations;
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        let gate = Gate::default();
        wire.fail(held, &[Fault::Held(gate.clone())]);
        let late = spawn_finish(&store, &lease);
        gate.arrival().await;
        assert_eq!(read_next(&direct_store, &lease.conversation_id, 15).await, [user_message("Q")]);
        gate.open();
        assert_eq!(late.await.unwrap(), Err(LeaseError::Lost));
        assert_eq!(count_transcripts(&endpoint).await, usize::from(held == "UpdateItem"));
        assert_eq!(
            read_next(&direct_store, &lease.conversation_id, 40).await,
            [user_message("Q"), user_message("now")]
        );
    }
}

#[tokio::test]
async fn f150_transcript_after_deletion_is_not_written() {
    let last = [no_fault(), no_fault()];
    for (held, before) in [("TransactWriteItems", 0), ("UpdateItem", 0), ("TransactWriteItems", 1)] {
        let (wire, endpoint) = Wire::new().await;
        let direct_store = store_at(&wire.database).await.conversations;
        let store = store_at(&endpoint).await.conversations;
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        let gate = Gate::default();
        wire.fail(held, &last[..before]);
        wire.fail(held, &[Fault::Held(gate.clone())]);
        let late = spawn_finish(&store, &lease);
        gate.arrival().await;
        direct_store.delete(&alice(), &lease.conversation_id).await.unwrap();
        gate.open();
        assert_eq!(late.await.unwrap(), Err(LeaseError::Lost), "{held}, {before} before it");
        assert_eq!(rows(&endpoint, "data").await, [], "{held}, {before} before it");
    }
}

#[tokio::test]
async fn f150_transcript_during_deletion_is_deleted() {
    for held in ["DeleteItem", "Query", "BatchWriteItem"] {
        let (wire, endpoint) = Wire::new().await;
        let direct_store = store_without_retries_at(&wire.database).await.conversations;
        let store = store_at(&endpoint).await.conversations;
        let lease = direct_store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        let (put, deleted) = (Gate::default(), Gate::default());
        wire.fail("UpdateItem", &[Fault::Held(put.clone())]);
        let late = spawn_finish(&store, &lease);
        put.arrival().await;
        wire.fail(held, &[Fault::HeldResponse(deleted.clone())]);
        let deletion = {
            let (store, id) = (store.clone(), lease.conversation_id.clone());
            tokio::spawn(async move { store.delete(&alice(), &id).await })
        };
        deleted.arrival().await;
        put.open();
        assert_eq!(late.await.unwrap(), Err(LeaseError::Lost), "{held}");
        deleted.open();
        deletion.await.unwrap().unwrap();
        assert_eq!(rows(&endpoint, "data").await, [], "{held}");
    }
}

#[tokio::test]
async fn answers_of_all_branches_keep_their_transcripts() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&lease, &search_answer(LARGE), at(1)).await.unwrap();
    let again = || NewTurn { input: UserInput::Regenerate, ..next_turn(&lease.conversation_id, "") };
    let failed = Answer { outcome: ended(TurnEnd::Failed(ErrorCode::UpstreamDisconnected)), ..search_answer(LARGE) };
    let one = store.begin(&alice(), &again(), at(2)).await.unwrap();
    store.finish(&one, &failed, at(2)).await.unwrap();
    assert_eq!(count_transcripts(&endpoint).await, 2, "its branch can be selected");
    let other = store.begin(&alice(), &again(), at(3)).await.unwrap();
    assert_eq!(store.load_input(&other).await.unwrap(), [user_message("Q")]);
    store.finish(&other, &search_answer(3), at(3)).await.unwrap();
    let expected: Vec<Message> = std::iter::once(user_message("Q")).chain(search_messages(3)).collect();
    assert_eq!(read_next(&store, &lease.conversation_id, 4).await, expected);
}

#[tokio::test]
async fn f086_long_user_message_is_shortened_in_prompts() {
    let store = store_at(&database().await).await.conversations;
    let lease = store.begin(&alice(), &first_turn(&"问".repeat(300_000)), at(0)).await.unwrap();
    store.finish(&lease, &answer(&"答".repeat(200_000)), at(1)).await.unwrap();
    let history = read_next(&store, &lease.conversation_id, 2).await;
    let texts: Vec<Value> = history.iter().map(|message| serde_json::to_value(message).unwrap()).collect();
    let lengths: Vec<usize> = texts.iter().map(|text| text["text"].as_str().unwrap().len()).collect();
    assert_eq!(lengths.len(), 2);
    assert!(lengths[0] <= 160 * 1024 && lengths[0] > 159 * 1024, "{lengths:?}");
    assert!(lengths[1] <= 220 * 1024 && lengths[1] > 100 * 1024, "{lengths:?}");
}
