//! Branches as they are stored: items of earlier releases, costs, deletion.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{FinishReason, Summary};
use store::{
    Answer, BeginError, ConversationStore, MessageQuery, NewTurn, Store, StoredMessage, Target, TurnEnd, TurnLease,
    UserInput,
};

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, ended, first_turn, history_of, next_turn, put,
    rows, store, store_at, user_message,
};
use crate::wire::Wire;

type Item = HashMap<String, AttributeValue>;

pub(crate) async fn run(store: &ConversationStore, turn: &NewTurn, end: Answer) -> TurnLease {
    let lease = store.begin(&alice(), turn, at(0)).await.unwrap();
    store.finish(&lease, &end, at(0)).await.unwrap();
    lease
}

pub(crate) fn after(id: &str, parent: &str, text: &str) -> NewTurn {
    NewTurn { target: Target::Message(parent.to_owned()), ..next_turn(id, text) }
}

pub(crate) fn again(id: &str) -> NewTurn {
    NewTurn { input: UserInput::Regenerate, ..next_turn(id, "") }
}

pub(crate) async fn shown(store: &ConversationStore, id: &str, seconds: u64) -> Vec<StoredMessage> {
    store.messages(&alice(), id, 100, None, at(seconds)).await.unwrap().items
}

pub(crate) fn texts(messages: &[StoredMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

/// Converts a conversation to what an earlier release would have stored: no parents and no tree. Answers with these texts
/// were replaced by others.
async fn age(endpoint: &str, replaced: &[&str], tip: u64, count: u64) {
    let number = |value: u64| AttributeValue::N(value.to_string());
    for mut item in rows(endpoint, "data").await {
        let sk = item["sk"].as_s().unwrap().clone();
        if sk.starts_with("C#") {
            item.remove("forks");
            item.remove("tipBefore");
            item.insert("tip".to_owned(), number(tip));
            item.insert("messageCount".to_owned(), number(count));
        } else {
            item.remove("parent");
            if item.get("content").is_some_and(|text| replaced.contains(&text.as_s().unwrap().as_str())) {
                item.insert("aside".to_owned(), number(1));
            }
        }
        put(endpoint, item).await;
    }
}

async fn head_of(endpoint: &str) -> Item {
    let all = rows(endpoint, "data").await;
    all.into_iter().find(|item| item["sk"].as_s().unwrap().starts_with("C#")).unwrap()
}

#[tokio::test]
async fn replaced_answers_of_earlier_releases_are_branches() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    run(&store, &again(&id), answer("B1")).await;
    run(&store, &again(&id), answer("C1")).await;
    run(&store, &next_turn(&id, "Q2"), answer("A2")).await;
    let expected = shown(&store, &id, 1).await;
    age(&wire.database, &["A1", "B1"], 6, 4).await;
    wire.seen();
    let read = shown(&store, &id, 1).await;
    assert_eq!((&read, texts(&read)), (&expected, vec!["Q1", "C1", "Q2", "A2"]));
    assert_eq!(wire.seen().iter().filter(|call| *call == "UpdateItem").count(), 1, "the tree is stored once");
    assert_eq!(shown(&store, &id, 1).await, expected);
    assert!(!wire.seen().contains(&"UpdateItem".to_owned()));
    let first = read[1].siblings[0].clone();
    let lease = store.begin(&alice(), &after(&id, &first, "Q3"), at(2)).await.unwrap();
    assert_eq!(history_of(&store, &lease, 1000).await, [user_message("Q1"), assistant_message("A1")]);
    store.finish(&lease, &answer("A3"), at(3)).await.unwrap();
    assert_eq!(texts(&shown(&store, &id, 4).await), ["Q1", "A1", "Q3", "A3"]);
    store.select_branch(&alice(), &id, &read[3].id).await.unwrap();
    assert_eq!(shown(&store, &id, 4).await, expected);
}

#[tokio::test]
async fn earlier_release_may_write_between() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    run(&store, &again(&id), answer("B1")).await;
    let known = head_of(&endpoint).await;
    run(&store, &next_turn(&id, "Q2"), answer("A2")).await;
    // An earlier release leaves the tree as it was and stores no parent.
    let mut head = head_of(&endpoint).await;
    head.insert("forks".to_owned(), known["forks"].clone());
    put(&endpoint, head).await;
    for mut item in rows(&endpoint, "data").await {
        let is_new = item.get("content").is_some_and(|text| ["Q2", "A2"].contains(&text.as_s().unwrap().as_str()));
        if is_new && item.remove("parent").is_some() {
            put(&endpoint, item).await;
        }
    }
    let messages = shown(&store, &id, 1).await;
    assert_eq!((texts(&messages), messages[1].siblings.len()), (vec!["Q1", "B1", "Q2", "A2"], 2));
}

#[tokio::test]
async fn answer_that_an_earlier_release_regenerates_is_shown() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    store.begin(&alice(), &again(&id), at(0)).await.unwrap();
    age(&endpoint, &[""], 2, 2).await;
    assert_eq!(texts(&shown(&store, &id, 1).await), ["Q1", ""], "while it runs");
    assert_eq!(texts(&shown(&store, &id, 20).await), ["Q1", "A1"], "its process died");
}

#[tokio::test]
async fn linear_conversation_costs_no_more_requests() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    for ages in [false, true] {
        if ages {
            age(&wire.database, &[], 4, 4).await;
        }
        wire.seen();
        let lease = store.begin(&alice(), &next_turn(&id, "Q"), at(1)).await.unwrap();
        assert_eq!(wire.seen(), ["GetItem", "TransactWriteItems"]);
        assert!(!history_of(&store, &lease, 1000).await.is_empty());
        assert_eq!(wire.seen(), ["Query"]);
        store.finish(&lease, &answer("A"), at(1)).await.unwrap();
        assert_eq!(wire.seen(), ["TransactWriteItems"]);
        let page = store.messages(&alice(), &id, 2, None, at(2)).await.unwrap();
        store.messages(&alice(), &id, 2, page.next_cursor.as_deref(), at(2)).await.unwrap();
        assert_eq!(wire.seen(), ["GetItem", "Query", "GetItem", "Query"]);
    }
    assert_eq!(head_of(&wire.database).await["forks"], AttributeValue::S("6".to_owned()));
}

#[tokio::test]
async fn cursor_finds_its_message_without_a_search() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q1"), answer("A1")).await.conversation_id;
    run(&store, &next_turn(&id, "Q2"), answer("A2")).await;
    let query = MessageQuery { limit: 2, from_end: true, ..MessageQuery::default() };
    let (last, _) = store.messages_page(&alice(), &id, query, at(2)).await.unwrap();
    wire.seen();
    let (cursor, branch) = (last.next_cursor.as_deref(), Some(&*last.items[0].id));
    let (first, _) = store.messages_page(&alice(), &id, MessageQuery { cursor, branch, ..query }, at(2)).await.unwrap();
    assert_eq!(texts(&first.items), ["Q1", "A1"]);
    assert_eq!(wire.seen(), ["GetItem", "Query"]);
}

#[tokio::test]
async fn summary_of_another_branch_is_not_read() {
    let store = store().await.conversations;
    let first = first_turn("Q1");
    let id = run(&store, &first, answer("A1")).await.conversation_id;
    let lease = run(&store, &next_turn(&id, "Q2"), answer("A2")).await;
    let summary = Some(Summary { up_to_seq: lease.answer_seq, text: "S".to_owned() });
    run(&store, &next_turn(&id, "Q3"), Answer { summary: summary.clone(), ..answer("A3") }).await;
    let side = store.begin(&alice(), &after(&id, &first.assistant_message_id, "Q4"), at(1)).await.unwrap();
    assert_eq!(store.summary(&side).await.unwrap(), None);
    store.finish(&side, &answer("A4"), at(1)).await.unwrap();
    let messages = shown(&store, &id, 2).await;
    store.select_branch(&alice(), &id, &messages[2].siblings[0]).await.unwrap();
    let main = store.begin(&alice(), &next_turn(&id, "Q5"), at(2)).await.unwrap();
    assert_eq!(store.summary(&main).await.unwrap(), summary);
}

#[tokio::test]
async fn number_of_branches_is_limited() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q"), answer("A")).await.conversation_id;
    let mut head = head_of(&endpoint).await;
    let forks = (3..=501).map(|seq| format!(" {seq}:1")).collect::<Vec<_>>().concat();
    for (name, value) in [("forks", AttributeValue::S(format!("501{forks}"))), ("seq", AttributeValue::N("501".into()))]
    {
        head.insert(name.to_owned(), value);
    }
    put(&endpoint, head).await;
    let refused = store.begin(&alice(), &again(&id), at(0)).await.unwrap_err();
    assert!(matches!(refused, BeginError::Unsuitable(_)), "{refused}");
    let mut head = head_of(&endpoint).await;
    head.insert("tip".to_owned(), AttributeValue::N("501".into()));
    put(&endpoint, head).await;
    let lease = store.begin(&alice(), &next_turn(&id, "Q2"), at(0)).await.unwrap();
    assert_eq!(lease.answer_seq, 503, "a branch that exists can be continued");
}

#[tokio::test]
async fn continued_answer_survives_a_crash() {
    let store: Store = store().await;
    let conversations = &store.conversations;
    let cut = Answer { outcome: ended(TurnEnd::Done(FinishReason::Length)), ..answer("one ") };
    let lease = run(conversations, &first_turn("Q"), cut).await;
    let id = lease.conversation_id.clone();
    let more = || NewTurn { input: UserInput::Continue, ..next_turn(&id, "") };
    let dead = store.begin(&alice(), &more(), at(1)).await.unwrap();
    assert_eq!((dead.answer_seq, dead.is_first()), (lease.answer_seq, false));
    let events: Vec<_> =
        [domain::Event::Delta(domain::AnswerDelta::Text("two ".to_owned()))].iter().map(Into::into).collect();
    store.streams.append(&alice(), &dead, 0, &events, at(2)).await.unwrap();
    let query = MessageQuery { limit: 9, ..MessageQuery::default() };
    let recovered = store.messages(&alice(), &id, query, at(30)).await.unwrap().items;
    assert_eq!(texts(&recovered), ["Q", "one two "]);
    let next = store.begin(&alice(), &more(), at(31)).await.unwrap();
    let before = next.continued.clone().unwrap().message;
    assert_eq!(before.content, "one two ");
    assert!(conversations.finish(&dead, &answer("late"), at(31)).await.is_err());
    assert_eq!(conversations.continued_transcript(&next).await.unwrap(), [assistant_message("one two ")]);
    let whole = Answer { transcript: vec![assistant_message("one two three")], ..answer("one two three") };
    conversations.finish(&next, &whole, at(32)).await.unwrap();
    let messages = shown(conversations, &id, 33).await;
    assert_eq!((texts(&messages), messages[1].finish_reason), (vec!["Q", "one two three"], None));
    let follow = conversations.begin(&alice(), &next_turn(&id, "Q2"), at(34)).await.unwrap();
    assert_eq!(history_of(conversations, &follow, 100).await, [user_message("Q"), assistant_message("one two three")]);
}

#[tokio::test]
async fn continuation_without_text_keeps_the_transcript() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let transcript = vec![assistant_message("A"), user_message("note"), assistant_message("B")];
    let end = TurnEnd::Done(FinishReason::Length);
    let id =
        run(&store, &first_turn("Q"), Answer { transcript: transcript.clone(), outcome: ended(end), ..answer("AB") })
            .await;
    let more = NewTurn { input: UserInput::Continue, ..next_turn(&id.conversation_id, "") };
    let stopped = Answer { outcome: ended(TurnEnd::Done(FinishReason::Stopped)), ..answer("AB") };
    run(&store, &more, stopped).await;
    let follow = store.begin(&alice(), &next_turn(&id.conversation_id, "Q2"), at(1)).await.unwrap();
    assert_eq!(history_of(&store, &follow, 1_000).await[1..], transcript);
}

#[tokio::test]
async fn attributes_of_dead_turns_are_removed() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let id = run(&store, &first_turn("Q"), answer("A")).await.conversation_id;
    store.begin(&alice(), &again(&id), at(1)).await.unwrap();
    // An earlier release takes the next turn, and knows neither the tree nor the tip before.
    for mut item in rows(&endpoint, "data").await {
        let number = |value: u64| AttributeValue::N(value.to_string());
        let (sk, text) = (item["sk"].as_s().unwrap().clone(), |text: &str| AttributeValue::S(text.to_owned()));
        let changes = match sk.as_str() {
            "M#000000000001" => vec![("sk", text("M#000000000004")), ("content", text("Q2"))],
            "M#000000000002" => vec![("sk", text("M#000000000005")), ("content", text("A2"))],
            "M#000000000003" => continue,
            _ => vec![("seq", number(5)), ("tip", number(5)), ("messageCount", number(4))],
        };
        for name in ["parent", "turn", "leaseUntil"].iter().filter(|name| sk.starts_with("C#") || **name == "parent") {
            item.remove(*name);
        }
        item.extend(changes.into_iter().map(|(name, value)| (name.to_owned(), value)));
        put(&endpoint, item).await;
    }
    assert!(head_of(&endpoint).await.contains_key("tipBefore"));
    assert_eq!(texts(&shown(&store, &id, 200).await)[2..], ["Q2", "A2"]);
}
