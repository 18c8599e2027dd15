//! Transcripts in answers, and in the items of earlier releases.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::{FinishReason, Message, ToolCall};
use serde_json::Value;
use store::{Answer, ConversationStore, NewTurn, TurnEnd, UserInput};

use crate::support::{
    Finish, alice, assistant_message, at, database, ended, first_turn, next_turn, put, rows, store_at, user_message,
};
use crate::transcripts::{read_next, search_answer, search_messages};

/// The messages that an answer holds, as JSON.
pub(crate) fn exchange(row: &HashMap<String, AttributeValue>) -> Option<String> {
    let bytes = row.get("exchange")?.as_b().ok()?;
    let json = miniz_oxide::inflate::decompress_to_vec(bytes.as_ref()).ok()?;
    let [_, messages] = serde_json::from_slice::<[Value; 2]>(&json).ok()?;
    Some(messages.to_string())
}

/// A conversation whose answer was stopped and has its transcript in an item of its own, as earlier releases store it;
/// what an answer's item had before one of them continued it stays there.
async fn with_own_item(left: Option<&str>) -> (String, ConversationStore, String) {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let stopped = Answer { outcome: ended(TurnEnd::Done(FinishReason::Stopped)), ..search_answer(1_000) };
    store.finish(&lease, &stopped, at(1)).await.unwrap();
    let all = rows(&endpoint, "data").await;
    let mut answer = all.iter().find(|row| row.contains_key("exchange")).unwrap().clone();
    let messages = AttributeValue::S(exchange(&answer).unwrap());
    let mut transcript = answer.clone();
    transcript.retain(|name, _| ["pk", "v", "turn"].contains(&name.as_str()));
    let sk = answer["sk"].as_s().unwrap().replace("M#", "T#");
    transcript.extend([("sk".to_owned(), AttributeValue::S(sk)), ("said".to_owned(), messages)]);
    answer.remove("exchange");
    answer.extend(left.map(|json| {
        let bytes = miniz_oxide::deflate::compress_to_vec(format!("[6,{json}]").as_bytes(), 1);
        ("exchange".to_owned(), AttributeValue::B(Blob::new(bytes)))
    }));
    put(&endpoint, answer).await;
    put(&endpoint, transcript).await;
    (endpoint, store, lease.conversation_id)
}

#[tokio::test]
async fn transcript_of_its_own_item_is_read() {
    let before = serde_json::to_string(&[assistant_message("before")]).unwrap();
    for left in [None, Some(&*before)] {
        let (endpoint, store, id) = with_own_item(left).await;
        let again = NewTurn { input: UserInput::Continue, ..next_turn(&id, "") };
        let continuing = store.begin(&alice(), &again, at(20)).await.unwrap();
        assert_eq!(store.continued_transcript(&continuing).await.unwrap(), search_messages(1_000), "{left:?}");
        store.finish(&continuing, &search_answer(900), at(21)).await.unwrap();
        let expected = [vec![user_message("Q")], search_messages(900)].concat();
        assert_eq!(read_next(&store, &id, 30).await, expected, "{left:?}");
        let left_behind = rows(&endpoint, "data").await.into_iter().find(|row| row.contains_key("said"));
        assert_eq!(left_behind, None, "an earlier release would read only the beginning");
        let (_, store, id) = with_own_item(left).await;
        let expected = [vec![user_message("Q")], search_messages(1_000)].concat();
        assert_eq!(read_next(&store, &id, 20).await, expected, "{left:?}");
    }
}

#[tokio::test]
async fn transcript_with_a_long_decimal_is_read() {
    let store = store_at(&database().await).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let mut transcript = search_messages(100);
    if let Message::Assistant { calls, .. } = &mut transcript[0] {
        // Parsed and printed again it has two characters less.
        let arguments = serde_json::from_str(r#"{"lat":127.888226461201000}"#).unwrap();
        calls[0] = ToolCall { arguments, ..calls[0].clone() };
    }
    store.finish(&lease, &Answer { transcript, ..search_answer(100) }, at(1)).await.unwrap();
    assert_eq!(read_next(&store, &lease.conversation_id, 2).await.len(), 4);
}
