//! The items that this release writes: their keys, and the names, types and values of their attributes.
//!
//! `stored_form.txt` is what releases write. Items of earlier releases stay in the tables, so apart from new attributes it
//! changes together with a schema version only.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{
    CachedToolSupport, EndpointHealth, FinishReason, Language, NumberedSources, Source, Summary, ToolMode, ToolSupport,
    ToolSupportSource,
};
use serde_json::json;
use store::{
    Answer, ApiKey, ArticleChunk, ArticleCollection, Claim, DefinitionKind, EmbeddingModel, KeyChange, NewArticle,
    NewKey, NewTurn, QuantisedVector, Store, TurnEnd, TurnOutcome, UserInput,
};

use crate::erase::store_everything;
use crate::ledger::add_to_totals;
use crate::support::{
    Finish, alice, answer, assistant_message, at, database, ended, first_turn, next_turn, rows, store_at, title,
    user_message,
};

const EXPECTED: &str = include_str!("stored_form.txt");

/// The longest value that is compared letter by letter.
const MAX_VALUE: usize = 120;

async fn store_conversations(store: &Store) {
    let (talk, owner) = (&store.conversations, alice());
    let turn = NewTurn { chat_id: Some("chat".to_owned()), language: Language::En, ..first_turn("Q") };
    let lease = talk.begin(&owner, &turn, at(0)).await.unwrap();
    let source =
        Source { index: 1, title: "t".to_owned(), url: "https://a.example".to_owned(), excerpt: "e".to_owned() };
    let done = TurnEnd::Done(FinishReason::Stop);
    let first = Answer {
        thinking: "T".to_owned(),
        sources: vec![source.clone()],
        added_sources: Some(NumberedSources { sources: vec![source], last: 1 }),
        transcript: vec![assistant_message("A"), user_message("again"), assistant_message("B")],
        outcome: TurnOutcome { thinking_ms: Some(7), models: vec!["m".to_owned()], ..ended(done) },
        summary: Some(Summary { up_to_seq: 2, text: "s".to_owned() }),
        title: Some("About Q".to_owned()),
        ..answer("A")
    };
    talk.finish(&lease, &first, at(1)).await.unwrap();
    let id = lease.conversation_id;
    let again = NewTurn { input: UserInput::Regenerate, ..next_turn(&id, "") };
    let lease = talk.begin(&owner, &again, at(2)).await.unwrap();
    let large = vec![assistant_message(&"x".repeat(10_000)), user_message("u"), assistant_message("C")];
    talk.finish(&lease, &Answer { transcript: large, ..answer("C") }, at(3)).await.unwrap();
    let lease = talk.begin(&owner, &next_turn(&id, "R"), at(4)).await.unwrap();
    let failed = Answer {
        outcome: TurnOutcome {
            error_message: Some("m".to_owned()),
            ..ended(TurnEnd::Failed(domain::ErrorCode::UpstreamUnavailable))
        },
        ..answer("D")
    };
    talk.finish(&lease, &failed, at(5)).await.unwrap();
    talk.edit(&owner, &id, &title("New"), at(6)).await.unwrap();
    talk.begin(&owner, &next_turn(&id, "S"), at(7)).await.unwrap();
    assert!(talk.request_stop(&owner, &id, None, at(8)).await.unwrap());
    let stopped = talk.begin(&owner, &first_turn("dead"), at(0)).await.unwrap();
    talk.begin(&owner, &next_turn(&stopped.conversation_id, "next"), at(100)).await.unwrap();
    assert_eq!(stopped.answer_seq, 2);
}

async fn store_rows_of_operators(store: &Store) {
    let new = |days: u64| NewKey {
        owner: "bob".to_owned(),
        administrator: true,
        expires: (days > 0).then(|| at(days)),
        citation_links: days > 0,
        ..NewKey::default()
    };
    for days in [0, 1, 2] {
        let key = ApiKey::generate().unwrap();
        store.keys.create(&key, &new(days), at(0)).await.unwrap();
        let change =
            KeyChange { administrator: false, expires: Some(at(9)), citation_links: Some(false), groups: None };
        match days {
            1 => assert!(store.keys.update(key.id(), &change).await.unwrap().is_some()),
            2 => assert!(store.keys.revoke(key.id(), at(3)).await.unwrap().is_some()),
            _ => {}
        }
    }
    let (rows, body) = (&store.definitions, json!({"name": "n"}));
    rows.create(DefinitionKind::Tool, "t", "first", &body, at(0)).await.unwrap();
    rows.replace(DefinitionKind::Tool, "t", "second", &body, at(1)).await.unwrap();
    rows.create(DefinitionKind::Agent, "a#b", "agent", &body, at(0)).await.unwrap();
    let vector = |text: &str| ArticleChunk {
        text: text.to_owned(),
        vector: Some(QuantisedVector { scale: 0.5, values: vec![1, -1] }),
    };
    let article = NewArticle {
        id: "v".to_owned(),
        title: "t".to_owned(),
        url: Some("https://a.example".to_owned()),
        groups: domain::Groups::default(),
        digest: "d".to_owned(),
        model: Some(EmbeddingModel { name: "m".to_owned(), dimensions: 2 }),
        chunks: vec![vector("a"), vector("b")],
    };
    store.articles.announce().await.unwrap();
    store.articles.put(&ArticleCollection::Shared, &article, at(0)).await.unwrap();
}

async fn store_shared_state(store: &Store) {
    let seconds = Duration::from_secs;
    for key in ["stored", "led"] {
        let Claim::Lead { lease, .. } = store.search_cache.claim(key, "provider", seconds(5), at(0)).await.unwrap()
        else {
            unreachable!("nobody else fetches")
        };
        if key == "stored" {
            store.search_cache.put(lease, "value", seconds(60), at(1)).await.unwrap();
        }
    }
    store.search_cache.was_delivered("delivery", seconds(60), at(0)).await.unwrap();
    let limit = store::RateLimit { burst: 9, window: seconds(60) };
    store.rate_limiter.admit("search:key:carol", limit, at(0)).await.unwrap();
    store.search_credits.add("provider", 2, at(0)).await.unwrap();
    store.search_credits.pause("provider", at(9), at(0)).await.unwrap();
    let sources = [ToolSupportSource::Provider, ToolSupportSource::Rejection];
    for ((identity, context_tokens), source) in [("a", Some(8)), ("b", None)].into_iter().zip(sources) {
        let tools = ToolSupport { mode: ToolMode::Native, source };
        let support = CachedToolSupport { tools, context_tokens, expires_at: at(99) };
        store.tool_support.put(identity, support, at(0)).await.unwrap();
    }
    store.tool_support.put_image_refusal("b", at(99)).await.unwrap();
    for (endpoint, down_until) in [("a", Some(at(9))), ("b", None)] {
        store.breakers.put(endpoint, EndpointHealth { changed_at: at(1), down_until }).await.unwrap();
    }
    let (scope, day) = (store::UsageScope::Global, store::Day::of(at(0)));
    assert!(store.ledger.reserve_search(scope, day, 9).await.unwrap());
    let usage = domain::Usage { cost_micros: Some(4), estimated: true, ..domain::Usage::default() };
    add_to_totals(&store.ledger, &alice(), day, &usage).await.unwrap();
    store.ledger.list_owner(&alice(), day).await.unwrap();
    store.audit.record_command("key.revoke", "k", at(0)).await.unwrap();
}

/// A value without what differs between runs: identifiers, digests of secrets, and long texts.
fn form(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) if text.len() > MAX_VALUE => format!("S {} bytes", text.len()),
        AttributeValue::S(text) => format!("S {}", without_ids(text)),
        AttributeValue::N(number) => format!("N {number}"),
        AttributeValue::Bool(flag) => format!("BOOL {flag}"),
        AttributeValue::B(bytes) => match inflated(bytes.as_ref()) {
            Some(text) => format!("DEFLATE {}", without_ids(&text)),
            None => format!("B {:?}", bytes.as_ref()),
        },
        other => format!("{other:?}"),
    }
}

fn inflated(bytes: &[u8]) -> Option<String> {
    String::from_utf8(miniz_oxide::inflate::decompress_to_vec(bytes).ok()?).ok()
}

fn without_ids(text: &str) -> String {
    let is_inside = |character: char| character.is_ascii_alphanumeric();
    let mut rest = text;
    let mut form = String::new();
    while let Some(first) = rest.chars().next() {
        let (part, after) = rest.split_at(rest.find(|c| !is_inside(c)).unwrap_or(rest.len()));
        if part.is_empty() {
            form.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let is_digest = part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        form.push_str(if domain::is_id(part) {
            "ID"
        } else if is_digest {
            "DIGEST"
        } else {
            part
        });
        rest = after;
    }
    form
}

fn line(table: &str, item: &HashMap<String, AttributeValue>) -> String {
    let mut attributes: Vec<String> = item.iter().map(|(name, value)| format!("{name}: {}", form(value))).collect();
    attributes.sort();
    format!("{table} | {}", attributes.join(" | "))
}

#[tokio::test]
async fn stored_items_have_their_first_form() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    store_everything(&store, "carol").await;
    store_conversations(&store).await;
    store_rows_of_operators(&store).await;
    store_shared_state(&store).await;
    let mut lines = Vec::new();
    for table in ["data", "ephemeral"] {
        lines.extend(rows(&endpoint, table).await.iter().map(|item| line(table, item)));
    }
    lines.sort();
    let expected: Vec<&str> = EXPECTED.lines().collect();
    assert_eq!(lines, expected);
}
