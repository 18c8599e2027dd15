//! The table of usage by user, group or model, which administrators read.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, MODEL, Reply, TestApp};

/// Users, one of whom has a name that needs quotes in CSV.
const USERS: [&str; 3] = ["ann", "bob, \"b\"", "carol"];

fn counted_reply(input: u64, output: u64) -> Reply {
    Completion::new().text("好。").finish("stop").usage(input, output).done().reply()
}

/// The product with the models `openai`, without a price, and `large`.
async fn start() -> (TestApp, FakeModel) {
    let large = FakeModel::start().await;
    let row = json!([{ "name": "large", "baseUrl": large.url(), "apiKeyVar": "OPENAI_API_KEY", "model": MODEL }]);
    let price = ("MODEL_OPTIONS", r#"{"large":{"price":{"input":10,"output":20}}}"#);
    (TestApp::start_with(&[("MODELS", &row.to_string()), price]).await, large)
}

/// The rows by the name of their subject.
async fn table(client: &Client, by: &str) -> BTreeMap<String, Value> {
    let rows = client.get(&format!("/api/admin/usage?days=2&by={by}")).await.ok()["rows"].as_array().unwrap().clone();
    let named = rows.into_iter().map(|mut row| {
        let name = row.as_object_mut().unwrap().remove(by).unwrap();
        (name.as_str().unwrap_or("-").to_owned(), row)
    });
    named.collect()
}

/// Adds a turn's usage to a row.
fn add(rows: &mut BTreeMap<String, Value>, name: &str, usage: &Value) {
    let row = rows.entry(name.to_owned()).or_insert_with(
        || json!({ "turns": 0, "inputTokens": 0, "outputTokens": 0, "searchCredits": 0, "estimatedTurns": 0 }),
    );
    let mut plus = |field: &str, more: u64| row[field] = json!(row[field].as_u64().unwrap_or_default() + more);
    plus("turns", 1);
    plus("estimatedTurns", u64::from(usage["estimated"] == true));
    for field in ["inputTokens", "outputTokens", "searchCredits"] {
        plus(field, usage[field].as_u64().unwrap());
    }
    if let Some(cost) = usage["costMicros"].as_u64() {
        plus("costMicros", cost);
    }
}

#[tokio::test]
async fn tables_sum_the_usage_of_all_turns() {
    let (app, large) = start().await;
    let (mut users, mut models, mut all) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let named = USERS.into_iter().cycle().zip(["openai", "large", "large", "openai", "large"].into_iter().cycle());
    for (turn, (user, model)) in (0..12_u64).zip(named) {
        let endpoint = if model == "large" { &large } else { &app.model };
        endpoint.queue_replies([counted_reply(100 + turn, 7 * turn + 1)]);
        let body = json!({ "message": "问", "modelType": model });
        let usage = app.as_user(user).chat_once(&body).await.ok()["usage"].clone();
        for (rows, name) in [(&mut users, &*format!("name:{user}")), (&mut models, model), (&mut all, "-")] {
            add(rows, name, &usage);
        }
    }
    large.queue_replies([counted_reply(1000, 50)]);
    let stateless = json!({ "model": "large", "messages": [{ "role": "user", "content": "问" }] });
    let answer = app.as_user("carol").post("/v1/chat/completions", &stateless).await.ok();
    let counted = &answer["usage"];
    let cost = 1000 * 10 + 50 * 20;
    let usage = json!({ "inputTokens": counted["prompt_tokens"], "outputTokens": counted["completion_tokens"],
        "searchCredits": 0, "estimated": false, "costMicros": cost });
    for (rows, name) in [(&mut users, "name:carol"), (&mut models, "large"), (&mut all, "-")] {
        add(rows, name, &usage);
    }
    assert_eq!(table(&app, "user").await, users);
    assert_eq!(table(&app, "model").await, models);
    assert_eq!(table(&app, "group").await, all, "nobody is in a group");
    assert_eq!(app.get("/api/admin/usage").await.ok()["rows"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn csv_has_the_rows_of_the_table() {
    let (app, large) = start().await;
    large.queue_replies([counted_reply(300, 40)]);
    app.model.queue_replies([counted_reply(20, 3)]);
    app.as_user(USERS[1]).chat(&json!({ "message": "问", "modelType": "large" })).await;
    app.as_user(USERS[0]).chat(&json!({ "message": "问", "modelType": "openai" })).await;
    let answer = app.get("/api/admin/usage?days=2&format=csv").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/csv; charset=utf-8"));
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"usage.csv\"");
    let expected = "user,turns,estimatedTurns,inputTokens,outputTokens,searchCredits,costMicros\r\n\
                    \"name:bob, \"\"b\"\"\",1,0,300,40,0,3800\r\n\
                    name:ann,1,0,20,3,0,\r\n";
    assert_eq!(answer.text(), expected);
}

#[tokio::test]
async fn erased_users_leave_the_table() {
    let (app, _large) = start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    for user in ["ann", "bob"] {
        app.as_user(user).send_message("问").await;
    }
    let json = [("content-type", "application/json"), ("x-user-id", "ann")];
    assert_eq!(app.send("DELETE", "/api/me", &json, r#"{"confirm":"erase"}"#).await.status, 200);
    assert_eq!(table(&app, "user").await.into_keys().collect::<Vec<_>>(), ["name:bob"]);
    app.as_user("ann").send_message("问").await;
    assert_eq!(table(&app, "user").await.len(), 2, "a user who returns is listed again");
}

#[tokio::test]
async fn invalid_table_query_is_rejected() {
    let (app, _large) = start().await;
    for query in ["by=owner", "by=", "format=xlsx", "days=0", "days=91"] {
        let refused = app.get(&format!("/api/admin/usage?{query}")).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "{query}");
    }
    assert_eq!(app.get("/api/admin/audit?days=91").await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.get("/api/admin/audit?cursor=x").await.error(), (400, "invalid_request".to_owned()));
}
