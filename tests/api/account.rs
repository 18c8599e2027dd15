//! Export and erasure of a caller's own data.

use domain::Owner;
use platform::settings::Settings;
use serde_json::{Value, json};
use store::{DeletionCounts, Store, TableNames};
use support::{ApiResponse, Client, Completion, Gate, TestApp, with_timeout};

use crate::auth::start_database;
use crate::search_call;

async fn erase(client: &Client, body: &Value) -> ApiResponse {
    client.send("DELETE", "/api/me", &[("content-type", "application/json")], body.to_string()).await
}

fn confirmation() -> Value {
    json!({ "confirm": "erase" })
}

async fn read_export(client: &Client) -> Vec<Value> {
    let answer = client.get("/api/me/export").await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
    assert_eq!(answer.header("content-type"), "application/x-ndjson; charset=utf-8");
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn row_kinds(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["kind"].as_str().unwrap()).collect()
}

/// A store on the product's tables.
fn open_store(database: &str) -> Store {
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", database)]);
    let names = TableNames::from_settings(&settings).unwrap();
    Store::new(&store::sdk_config(&settings).unwrap(), names)
}

#[tokio::test]
async fn export_holds_only_the_callers_data() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["茶是一种饮料。"])]);
    app.send_message("茶是什么？").await;
    let mine = read_export(&app).await;
    let all = ["export", "day", "conversation", "message", "message", "execution", "end"];
    assert_eq!(row_kinds(&mine), all);
    assert_eq!((&mine[3]["content"], &mine[4]["content"]), (&json!("茶是什么？"), &json!("茶是一种饮料。")));
    assert_eq!(mine[4]["conversationId"], mine[2]["id"]);
    assert_eq!(mine[5]["tool"], "search_web");
    assert_eq!(row_kinds(&read_export(&app.as_user("bob")).await), ["export", "end"]);
}

#[tokio::test]
async fn f150_erasure_removes_only_the_callers_data() {
    let database = start_database().await;
    let app = TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let bob = app.as_user("bob");
    for client in [&app.client(), &bob] {
        let headers = [("content-type", "application/json"), ("idempotency-key", "one")];
        assert_eq!(client.send("POST", "/api/chat", &headers, r#"{"message":"hi"}"#).await.status, 200);
    }
    let before = read_export(&bob).await;
    for body in [json!({}), json!({ "confirm": true }), json!({ "confirm": "yes" })] {
        assert_eq!(erase(&app, &body).await.error(), (400, "invalid_request".to_owned()));
    }
    assert_eq!(row_kinds(&read_export(&app).await).len(), 6, "nothing is gone yet");
    let erased = erase(&app, &confirmation()).await.ok();
    assert_eq!(
        erased,
        json!({ "keys": 0, "conversations": 1, "others": 4 }),
        "a day, the list of owners, a limit, a key"
    );
    assert_eq!(row_kinds(&read_export(&app).await), ["export", "end"]);
    assert_eq!(read_export(&bob).await[1..], before[1..]);
    let remaining = open_store(&database).delete_owner(&Owner::unverified("local")).await;
    assert_eq!(remaining, Ok(DeletionCounts::default()));
}

#[tokio::test]
async fn f150_erasure_uses_user_id_of_the_body() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    for client in [&app.client(), &app.as_user("bob"), &app.as_user("ann")] {
        client.send_message("你好").await;
    }
    let erased =
        async |client: &Client, name: Value| erase(client, &json!({ "confirm": "erase", "userId": name })).await;
    assert_eq!(erased(&app, json!(7)).await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(erased(&app, json!("bob")).await.ok()["conversations"], 1);
    assert_eq!(erased(&app.as_user("ann"), json!("local")).await.ok()["conversations"], 1, "the header wins");
    assert_eq!(row_kinds(&read_export(&app).await), ["export", "day", "conversation", "message", "message", "end"]);
    for name in ["bob", "ann"] {
        assert_eq!(row_kinds(&read_export(&app.as_user(name)).await), ["export", "end"]);
    }
}

#[tokio::test]
async fn unreadable_export_is_an_error() {
    let database = start_database().await;
    let app = TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    let signed = "AWS4-HMAC-SHA256 Credential=a/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
    let request =
        platform::transport::build_client().unwrap().post(&database).body(r#"{"TableName":"lambda-chat-data"}"#);
    let request = request.header("x-amz-target", "DynamoDB_20120810.DeleteTable");
    let request = request.header("content-type", "application/x-amz-json-1.0").header("authorization", signed);
    let request = request.header("x-amz-date", "20260101T000000Z");
    assert_eq!(with_timeout("a response of the database", request.send()).await.unwrap().status(), 200);
    assert_eq!(app.get("/api/me/export").await.error(), (500, "internal".to_owned()));
}

#[tokio::test]
async fn f150_erasure_stops_turns_at_every_instance() {
    let database = start_database().await;
    let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.as_str())];
    let (first, second) = (TestApp::start_with(&settings).await, TestApp::start_with(&settings).await);
    let gates = (Gate::new(), Gate::new());
    for (app, gate) in [(&first, &gates.0), (&second, &gates.1)] {
        app.model.queue_replies([Completion::new().text("半句").wait(gate).text("，整句。").end()]);
    }
    let mut turns = Vec::new();
    for app in [&first, &second] {
        let mut turn = app.open(&json!({ "message": "说" })).await;
        turn.read_until("content").await;
        turns.push(turn);
    }
    assert_eq!(erase(&first, &confirmation()).await.ok()["conversations"], 2);
    for turn in turns {
        assert_eq!(turn.read_to_end().await.finish_reason(), "stopped");
    }
    let remaining = open_store(&database).delete_owner(&Owner::unverified("local")).await;
    assert_eq!(remaining, Ok(DeletionCounts::default()));
}
