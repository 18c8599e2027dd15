//! `GET /api/conversations?q=`: search in conversations.

use serde_json::{Value, json};
use support::{Client, Completion, Gate, TestApp};

/// Runs a turn of a new conversation and returns its id.
async fn talk(app: &TestApp, question: &str, answer: &str) -> String {
    app.model.queue_replies([Completion::of([answer])]);
    app.send_message(question).await.conversation_id()
}

/// The conversations that are found, which are all on one page.
async fn search(client: &Client, query: &str) -> Vec<Value> {
    let mut found = client.get(&format!("/api/conversations?q={query}")).await.ok();
    assert_eq!(found["nextCursor"], Value::Null);
    found["conversations"].as_array_mut().unwrap().drain(..).collect()
}

async fn find_ids(client: &Client, query: &str) -> Vec<String> {
    search(client, query).await.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn snippets(row: &Value) -> Vec<&str> {
    row["matches"].as_array().unwrap().iter().map(|found| found["snippet"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn found_conversation_has_its_row_and_matches() {
    let app = TestApp::start().await;
    let id = talk(&app, "Rust 的异步是什么？", "Futures: 异步 code in [Rust].").await;
    talk(&app, "绿茶好吗？", "好。").await;
    let stored = app.conversation(&id).await;
    let mut row = stored["conversation"].clone();
    row["matches"] = json!([
        { "messageId": stored["messages"][0]["id"], "snippet": "[[Rust]] 的[[异步]]是什么？" },
        { "messageId": stored["messages"][1]["id"], "snippet": "Futures: [[异步]] code in [ [[Rust]] ]." },
    ]);
    for query in ["Rust 异步", "异步rust", "ＲＵＳＴ　异步", "RUST,异步"] {
        assert_eq!(search(&app, query).await, [row.clone()], "{query}");
    }
    assert_eq!(search(&app, "Rust 绿茶").await, [Value::Null; 0]);
    assert_eq!(search(&app, "futures 什么").await, [Value::Null; 0], "in different messages");
}

#[tokio::test]
async fn beginnings_of_terms_are_found_with_digests_too() {
    let app = TestApp::start().await;
    let id = talk(&app, "AWS Lambda 好吗？", "好。").await;
    for _ in 0..2 {
        for query in ["lam", "lambda", "aws lamb", "LAMBD 好"] {
            assert_eq!(find_ids(&app, query).await, [id.as_str()], "{query}");
        }
        for query in ["la", "ambda", "lambdas", "aw"] {
            assert_eq!(find_ids(&app, query).await, [""; 0], "{query}");
        }
    }
}

#[tokio::test]
async fn found_conversations_are_ordered_and_paged() {
    let app = TestApp::start().await;
    let mut expected = Vec::new();
    for number in 0..5 {
        expected.insert(0, talk(&app, &format!("tea {number}"), "好。").await);
        talk(&app, &format!("coffee {number}"), "好。").await;
    }
    assert_eq!(find_ids(&app, "tea").await, expected);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for _ in 0..9 {
        let page = app.get(&format!("/api/conversations?q=tea&limit=2{cursor}")).await.ok();
        let rows = page["conversations"].as_array().unwrap();
        seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, expected);
    assert_eq!(app.get(&format!("/api/conversations?limit=2{cursor}")).await.error().0, 400, "a cursor of a search");
}

#[tokio::test]
async fn renamed_regenerated_and_deleted_are_searched_at_once() {
    let app = TestApp::start().await;
    let id = talk(&app, "什么好喝？", "First: coffee.").await;
    assert_eq!(find_ids(&app, "coffee").await, [id.as_str()]);
    assert_eq!(find_ids(&app, "龙井").await, [""; 0]);
    app.model.queue_replies([Completion::of(["第二个回答：龙井。"])]);
    app.regenerate(&id, &json!({})).await.read_to_end().await;
    assert_eq!(find_ids(&app, "龙井").await, [id.as_str()]);
    assert_eq!(find_ids(&app, "coffee").await, [id.as_str()], "another branch");
    app.patch(&format!("/api/conversations/{id}"), &json!({ "title": "Weekend 茶会" })).await.ok();
    let found = search(&app, "weekend 茶会").await;
    assert_eq!(found.iter().map(snippets).collect::<Vec<_>>(), [vec![""; 0]]);
    app.delete(&format!("/api/conversations/{id}")).await;
    for query in ["coffee", "龙井", "weekend"] {
        assert_eq!(find_ids(&app, query).await, [""; 0], "{query}");
    }
}

#[tokio::test]
async fn running_turn_is_found_by_its_question() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("龙").wait(&gate).text("井。").end()]);
    let mut turn = app.open(&json!({ "message": "好茶是什么？" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    assert_eq!(find_ids(&app, "好茶").await, [id.as_str()]);
    assert_eq!(find_ids(&app, "龙井").await, [""; 0]);
    gate.open();
    turn.read_to_end().await;
    assert_eq!(find_ids(&app, "龙井").await, [id]);
}

#[tokio::test]
async fn f119_search_finds_nothing_of_others() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.as_user("alice").send_message("我的秘密").await.conversation_id();
    assert_eq!(find_ids(&app.as_user("alice"), "秘密").await, [id]);
    assert_eq!(find_ids(&app.as_user("mallory"), "秘密").await, [""; 0]);
}

#[tokio::test]
async fn query_is_bounded_and_needs_a_term() {
    let app = TestApp::start().await;
    let id = talk(&app, "a-b", "好。").await;
    for query in ["x".repeat(201), "茶".repeat(3_500), "%00%01%07".to_owned(), "!%3F…，".to_owned(), "%FF".to_owned()]
    {
        let answer = app.get(&format!("/api/conversations?q={query}")).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{query}");
        assert!(!answer.text().contains("茶"), "the query is not repeated");
    }
    for query in ["x".repeat(200), "%00a%1Bb%7F".to_owned(), "a'b\"b<b>".to_owned(), "%5B%5Ba%5D%5D".to_owned()] {
        let answer = app.get(&format!("/api/conversations?q={query}")).await.ok();
        let is_found = !query.starts_with('x');
        assert_eq!(answer["conversations"].as_array().unwrap().len(), usize::from(is_found), "{query}");
    }
    let row = app.get("/api/conversations?q=").await.ok()["conversations"][0].clone();
    assert_eq!((row["id"].as_str(), row.get("matches")), (Some(id.as_str()), None), "the list");
    for query in ["q=a&limit=0", "q=a&cursor=x"] {
        assert_eq!(app.get(&format!("/api/conversations?{query}")).await.error().0, 400, "{query}");
    }
}
