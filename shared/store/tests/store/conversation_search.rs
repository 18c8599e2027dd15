//! Search in conversations.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{ErrorCode, Owner};
use store::{
    Answer, ConversationFilter, ConversationQuery, ConversationStore, FoundConversation, NewTurn, Page, ReadError,
    TurnEnd, UserInput,
};

use crate::support::{
    Finish, ReadStored, alice, answer, at, database, ended, first_turn, next_turn, put, put_all, rows, store, store_at,
    store_without_retries_at, title,
};
use crate::wire::{Fault, Wire};

/// A time after which no answer of a test is recovered.
const LATER: u64 = 24 * 3600;

/// What the list without archived conversations has.
fn unarchived() -> ConversationFilter {
    ConversationFilter { archived: Some(false), pinned: None, temporary: Some(false) }
}

async fn add(store: &ConversationStore, seconds: u64, question: &str, reply: &str) -> String {
    let turn = NewTurn { title: "untitled".to_owned(), ..first_turn(question) };
    let lease = store.begin(&alice(), &turn, at(seconds)).await.unwrap();
    store.finish(&lease, &answer(reply), at(seconds)).await.unwrap();
    lease.conversation_id
}

async fn page(store: &ConversationStore, q: &str, limit: u32, cursor: Option<&str>) -> Page<FoundConversation> {
    let query = ConversationQuery::parse(q).unwrap();
    store.search(&alice(), &query, unarchived(), limit, cursor, at(LATER)).await.unwrap()
}

async fn find(store: &ConversationStore, q: &str) -> Vec<FoundConversation> {
    let found = page(store, q, 100, None).await;
    assert_eq!(found.next_cursor, None);
    found.items
}

async fn find_ids(store: &ConversationStore, q: &str) -> Vec<String> {
    find(store, q).await.into_iter().map(|found| found.conversation.id).collect()
}

fn snippets(found: &FoundConversation) -> Vec<&str> {
    found.matches.iter().map(|found| found.snippet.as_str()).collect()
}

#[tokio::test]
async fn one_message_has_all_terms() {
    let store = store().await.conversations;
    let rust = add(&store, 1, "Rust 的异步怎么写？", "Use async fn.").await;
    let tea = add(&store, 2, "Which green TEA?", "绿茶很好，龙井是绿茶。").await;
    add(&store, 3, "Rust 是什么？", "与异步无关。").await;
    // The second search reads the digests.
    for _ in 0..2 {
        assert_eq!(find_ids(&store, "Rust 异步").await, [rust.as_str()]);
        assert_eq!(find_ids(&store, "tea").await, [tea.as_str()]);
        assert_eq!(find_ids(&store, "ＡＳＹＮＣ").await, [rust.as_str()]);
        assert_eq!(find_ids(&store, "green 绿茶").await, [""; 0], "in different messages");
        assert_eq!(find_ids(&store, "茶绿").await, [""; 0]);
        let found = find(&store, "绿茶").await;
        assert_eq!(snippets(&found[0]), ["[[绿茶]]很好，龙井是[[绿茶]]。"]);
        let messages = store.messages(&alice(), &tea, 10, None, at(LATER)).await.unwrap().items;
        assert_eq!(found[0].matches[0].message_id, messages[1].id);
    }
}

#[tokio::test]
async fn title_alone_is_found_without_a_match() {
    let store = store().await.conversations;
    let id = add(&store, 1, "Q", "A").await;
    store.edit(&alice(), &id, &title("周末 Hiking 计划"), at(2)).await.unwrap();
    for _ in 0..2 {
        let found = find(&store, "hiking 计划").await;
        assert_eq!((found[0].conversation.id.as_str(), found[0].matches.len()), (id.as_str(), 0));
    }
    assert_eq!(find_ids(&store, "计划 Q").await, [""; 0], "half in the title, half in a message");
    store.edit(&alice(), &id, &title("other"), at(3)).await.unwrap();
    assert_eq!(find_ids(&store, "hiking").await, [""; 0]);
}

#[tokio::test]
async fn every_branch_and_new_turns_are_found() {
    let store = store().await.conversations;
    let id = add(&store, 1, "question", "first 甲").await;
    assert_eq!(find_ids(&store, "第二").await, [""; 0]);
    let again = NewTurn { input: UserInput::Regenerate, ..next_turn(&id, "") };
    let lease = store.begin(&alice(), &again, at(2)).await.unwrap();
    store.finish(&lease, &answer("第二 answer"), at(3)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&id, "third question"), at(4)).await.unwrap();
    assert_eq!(find_ids(&store, "third").await, [id.as_str()], "while its turn runs");
    let failed = Answer { outcome: ended(TurnEnd::Failed(ErrorCode::UpstreamDisconnected)), ..answer("partial 丙") };
    store.finish(&next, &failed, at(5)).await.unwrap();
    for q in ["first 甲", "第二", "third question", "丙", "question"] {
        assert_eq!(find_ids(&store, q).await, [id.as_str()], "{q}");
    }
}

#[tokio::test]
async fn matches_are_the_first_three() {
    let store = store().await.conversations;
    let id = add(&store, 1, "tea 0", "tea 1").await;
    for number in [2, 4] {
        let lease = store.begin(&alice(), &next_turn(&id, &format!("tea {number}")), at(number)).await.unwrap();
        store.finish(&lease, &answer(&format!("tea {}", number + 1)), at(number)).await.unwrap();
    }
    for _ in 0..2 {
        assert_eq!(snippets(&find(&store, "tea").await[0]), ["[[tea]] 0", "[[tea]] 1", "[[tea]] 2"]);
    }
}

#[tokio::test]
async fn deleted_conversation_leaves_nothing() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let (id, other) = (add(&store, 1, "tea", "A").await, add(&store, 2, "tea", "B").await);
    assert_eq!(find_ids(&store, "tea").await, [other.as_str(), id.as_str()]);
    store.delete(&alice(), &id).await.unwrap();
    assert_eq!(find_ids(&store, "tea").await, [other.as_str()]);
    // It is deleted after the search has read it, and before its digest is stored.
    let gate = crate::wire::Gate::default();
    store.edit(&alice(), &other, &title("B"), at(3)).await.unwrap();
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    let deleted = async {
        gate.arrival().await;
        store.delete(&alice(), &other).await.unwrap();
        gate.open();
    };
    let (found, ()) = tokio::join!(find_ids(&store, "tea"), deleted);
    assert_eq!(found, [other]);
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn other_owners_are_not_searched() {
    let store = store().await.conversations;
    let id = add(&store, 1, "tea", "A").await;
    let bob = Owner::new("bob");
    store.begin(&bob, &first_turn("tea of bob"), at(2)).await.unwrap();
    assert_eq!(find_ids(&store, "tea").await, [id.as_str()]);
    let first = page(&store, "tea", 1, None).await;
    assert_eq!((first.items.len(), first.next_cursor), (1, None));
    add(&store, 3, "tea", "A").await;
    let cursor = page(&store, "tea", 1, None).await.next_cursor;
    let query = ConversationQuery::parse("tea").unwrap();
    let foreign = store.search(&bob, &query, unarchived(), 1, cursor.as_deref(), at(LATER)).await;
    assert_eq!(foreign.err(), Some(ReadError::BadCursor));
    assert_eq!(store.list(&alice(), 1, cursor.as_deref()).await.err(), Some(ReadError::BadCursor));
}

#[tokio::test]
async fn archived_and_temporary_conversations_are_left_out() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let mut ids = Vec::new();
    for (seconds, mark) in [(1, "pinned"), (2, "archived"), (3, "temporary")] {
        let id = add(&store, seconds, "tea", "A").await;
        let all = rows(&endpoint, "data").await;
        let mut head = all.into_iter().find(|item| item["sk"].as_s().unwrap() == &format!("C#{id}")).unwrap();
        head.insert(mark.to_owned(), AttributeValue::N("1".to_owned()));
        if mark == "temporary" {
            head.insert("expires".to_owned(), AttributeValue::N("9999999999".to_owned()));
        }
        put(&wire.database, head).await;
        ids.push(id);
    }
    assert_eq!(find_ids(&store, "tea").await, [ids[0].as_str()]);
    let query = ConversationQuery::parse("tea").unwrap();
    let filter = ConversationFilter { archived: Some(true), ..unarchived() };
    let archived = store.search(&alice(), &query, filter, 9, None, at(LATER)).await.unwrap();
    assert_eq!(archived.items.iter().map(|found| &found.conversation.id).collect::<Vec<_>>(), [&ids[1]]);
}

#[tokio::test]
async fn digest_is_written_once_and_saves_reads() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    for number in 0..3 {
        add(&store, number, &format!("question {number}"), "一杯绿茶").await;
    }
    let seen = || {
        let mut seen = wire.seen();
        seen.sort();
        seen.join(" ")
    };
    seen();
    assert_eq!(find(&store, "coffee").await, []);
    let (read, write) = (" GetItem GetItem GetItem Query Query Query Query", " TransactWriteItems".repeat(3));
    assert_eq!(seen(), format!("BatchGetItem{read}{write}"));
    assert_eq!(find(&store, "coffee").await, []);
    assert_eq!(seen(), "BatchGetItem Query");
    assert_eq!(find(&store, "question 2").await.len(), 1);
    assert_eq!(seen(), "BatchGetItem GetItem Query Query");
    let id = find_ids(&store, "question 1").await.remove(0);
    store.edit(&alice(), &id, &title("coffee"), at(9)).await.unwrap();
    seen();
    assert_eq!(find_ids(&store, "coffee").await, [id.as_str()]);
    assert_eq!(seen(), "BatchGetItem GetItem Query Query TransactWriteItems");
    let digests = rows(&endpoint, "data").await.into_iter().filter(|item| item["sk"].as_s().unwrap() == "D");
    assert_eq!(digests.map(|item| item["filter"].as_b().unwrap().as_ref().len()).collect::<Vec<_>>(), [47; 3]);
}

#[tokio::test]
async fn recoverable_answer_gets_no_digest() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    store.begin(&alice(), &first_turn("tea"), at(0)).await.unwrap();
    let query = ConversationQuery::parse("coffee").unwrap();
    let search = async |seconds| {
        wire.seen();
        store.search(&alice(), &query, unarchived(), 9, None, at(seconds)).await.unwrap();
        wire.seen().iter().any(|operation| operation == "TransactWriteItems")
    };
    assert!(!search(60).await, "its log may have more");
    assert!(search(2 * 3600).await);
    assert!(!search(2 * 3600).await);
}

#[tokio::test]
async fn long_message_is_found_across_its_pieces() {
    let store = store().await.conversations;
    let half = 256 * 1024;
    let question = format!("{}茶", "x ".repeat(half / 2 - 1));
    assert_eq!(question.len(), half + 1, "the last character begins before the end of the first piece");
    let reply = format!("{}needle {}", "前".repeat(half / 3 - 1), "后".repeat(100));
    let id = add(&store, 1, &question, &reply).await;
    for _ in 0..2 {
        let found = find(&store, "needle").await;
        let expected = format!("…{}[[needle]] {}", "前".repeat(40), "后".repeat(100));
        assert_eq!((found[0].conversation.id.as_str(), snippets(&found[0])), (id.as_str(), vec![expected.as_str()]));
        assert_eq!(snippets(&find(&store, "x 茶").await[0]).len(), 1);
        assert_eq!(find_ids(&store, "need").await, [id.as_str()]);
        assert_eq!(find_ids(&store, "eedle").await, [""; 0]);
    }
}

#[tokio::test]
async fn pages_of_a_search_follow_each_other() {
    let store = store().await.conversations;
    let mut expected = Vec::new();
    for number in 0..130 {
        let text = if number % 10 == 0 { "绿茶 found" } else { "other" };
        let id = add(&store, number, text, "A").await;
        expected.extend((number % 10 == 0).then_some(id));
    }
    expected.reverse();
    for limit in [1, 4, 13, 50] {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = page(&store, "绿茶", limit, cursor.as_deref()).await;
            assert!(page.items.len() <= limit as usize);
            seen.extend(page.items.into_iter().map(|found| found.conversation.id));
            (cursor, pages) = (page.next_cursor, pages + 1);
            if cursor.is_none() {
                break;
            }
            assert!(pages <= 14, "the cursors do not end");
        }
        assert_eq!(seen, expected, "limit {limit}");
    }
    let one = ConversationQuery::parse("a").unwrap();
    for text in ["", "x", "7b7d"] {
        let bad = store.search(&alice(), &one, unarchived(), 1, Some(text), at(LATER)).await;
        assert_eq!(bad.err(), Some(ReadError::BadCursor));
    }
}

#[tokio::test]
async fn throttled_search_fails_or_finds_everything() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    let (id, other) = (add(&store, 1, "tea", "A").await, add(&store, 2, "tea", "B").await);
    // A digest that cannot be written costs the next search a read.
    wire.fail("TransactWriteItems", &[Fault::Refused("ThrottlingException")]);
    assert_eq!(find_ids(&store, "tea").await, [other.as_str(), id.as_str()]);
    assert_eq!(find_ids(&store, "tea").await, [other.as_str(), id.as_str()]);
    wire.seen();
    wire.fail("BatchGetItem", &[Fault::HalfBatch, Fault::HalfBatch]);
    assert_eq!(find_ids(&store, "coffee").await, [""; 0]);
    assert_eq!(wire.seen(), ["Query", "BatchGetItem", "BatchGetItem", "BatchGetItem"]);
    for operation in ["BatchGetItem", "Query"] {
        wire.fail(operation, &[Fault::Refused("ThrottlingException")]);
        let query = ConversationQuery::parse("tea").unwrap();
        let busy = store.search(&alice(), &query, unarchived(), 9, None, at(LATER)).await;
        assert_eq!(busy.err(), Some(ReadError::Store(store::StoreError::Busy)));
    }
    assert_eq!(find_ids(&store, "tea").await, [other, id]);
}

#[tokio::test]
#[ignore = "a measurement, with its figures on the standard error"]
async fn measure_search_of_many_conversations() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let text = "这是一个关于 Rust 与 async runtimes 的问题，我们讨论了很多细节。".repeat(12);
    let id = add(&store, 1, &text, &text).await;
    let lease = store.begin(&alice(), &next_turn(&id, &text), at(2)).await.unwrap();
    store.finish(&lease, &answer(&text), at(2)).await.unwrap();
    let template = rows(&endpoint, "data").await;
    let mut copies = Vec::new();
    let count: usize = std::env::var("CONVERSATIONS").map_or(10_000, |count| count.parse().unwrap());
    for number in 1..count {
        let copy = domain::new_id();
        for item in &template {
            let mut item = item.clone();
            for key in ["pk", "sk"] {
                let value = item[key].as_s().unwrap().replace(&id, &copy);
                item.insert(key.to_owned(), AttributeValue::S(value));
            }
            if item["sk"].as_s().unwrap() == "M#000000000001" {
                item.insert("content".to_owned(), AttributeValue::S(format!("{text} number{number}")));
            }
            copies.push(item);
        }
    }
    put_all(&endpoint, copies).await;
    for q in ["nothing", "nothing", "number7", "异步", "rust 细节"] {
        let (begun, mut cursor, mut pages, mut found) = (std::time::Instant::now(), None, 0, 0);
        while pages == 0 || cursor.is_some() {
            let page = page(&store, q, 100, cursor.as_deref()).await;
            (cursor, pages, found) = (page.next_cursor.filter(|_| found < 100), pages + 1, found + page.items.len());
        }
        eprintln!("{q}: {found} found, {pages} requests, {:?}", begun.elapsed());
    }
}
