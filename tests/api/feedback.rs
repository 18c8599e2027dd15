//! Ratings of answers.

use serde_json::{Value, json};
use support::{Client, Completion, TestApp};

use crate::auth::start_with_api_keys;

/// Runs a turn; returns the paths of the ratings of its question and its answer, and the conversation's id.
async fn turn(app: &TestApp, client: &Client) -> ([String; 2], String) {
    app.model.queue_replies([Completion::of(["好。"])]);
    let id = client.send_message("问").await.conversation_id();
    let read = client.conversation(&id).await;
    let path = |index: usize| {
        let message = read["messages"][index]["id"].as_str().unwrap();
        format!("/api/conversations/{id}/messages/{message}/feedback")
    };
    ([path(0), path(1)], id)
}

async fn listed(app: &Client) -> Vec<Value> {
    app.get("/api/admin/feedback").await.ok()["feedback"].as_array().unwrap().clone()
}

#[tokio::test]
async fn answer_shows_its_rating_to_its_owner() {
    let app = TestApp::start().await;
    let ([question, answer], id) = turn(&app, &app).await;
    let shown = async || app.conversation(&id).await["messages"][1]["feedback"].clone();
    assert_eq!(shown().await, Value::Null);
    assert_eq!(app.put(&answer, &json!({ "rating": "down", "reason": "不对" })).await.status, 204);
    assert_eq!(shown().await, json!({ "rating": "down", "reason": "不对" }));
    assert_eq!(app.put(&answer, &json!({ "rating": "up" })).await.status, 204);
    assert_eq!(shown().await["rating"], "up");
    assert_eq!(listed(&app).await.len(), 1, "the later rating replaces the earlier one");
    for body in [json!({}), json!({ "rating": "good" }), json!({ "rating": "up", "reason": "长".repeat(2_001) })] {
        assert_eq!(app.put(&answer, &body).await.error(), (400, "invalid_request".to_owned()), "{body}");
    }
    assert_eq!(app.put(&question, &json!({ "rating": "up" })).await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.delete(&answer).await.status, 204);
    assert_eq!((shown().await, listed(&app).await), (Value::Null, Vec::new()));
    assert_eq!(app.delete(&answer).await.status, 204, "without a rating too");
}

#[tokio::test]
async fn ratings_are_listed_newest_first() {
    let app = TestApp::start().await;
    let (bob, mut answers) = (app.as_user("bob"), Vec::new());
    for (client, reason) in [(app.client(), "一"), (bob.clone(), "二"), (bob.clone(), "三")] {
        let ([_, answer], id) = turn(&app, &client).await;
        assert_eq!(client.put(&answer, &json!({ "rating": "down", "reason": reason })).await.status, 204);
        answers.push(id);
    }
    let rows = listed(&app).await;
    let reasons: Vec<&Value> = rows.iter().map(|row| &row["reason"]).collect();
    assert_eq!(reasons, ["三", "二", "一"]);
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["conversationId", "messageId", "owner", "rating", "reason", "model", "createdAt"]);
    assert_eq!(
        json!([rows[0]["conversationId"], rows[0]["owner"], rows[0]["model"]]),
        json!([answers[2], "name:bob", "openai"])
    );
    assert_eq!(app.get("/api/admin/feedback?cursor=x").await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(bob.delete(&format!("/api/conversations/{}", answers[2])).await.status, 204);
    assert_eq!(listed(&app).await, rows[1..], "gone with its conversation");
}

#[tokio::test]
async fn f120_ratings_of_others_are_out_of_reach() {
    let app = TestApp::start().await;
    let ([_, answer], id) = turn(&app, &app).await;
    let mallory = app.as_user("mallory");
    assert_eq!(mallory.put(&answer, &json!({ "rating": "up" })).await.error(), (404, "not_found".to_owned()));
    assert_eq!(mallory.delete(&answer).await.error(), (404, "not_found".to_owned()));
    let absent = format!("/api/conversations/{id}/messages/01J00000000000000000000000/feedback");
    assert_eq!(app.put(&absent, &json!({ "rating": "up" })).await.error(), (404, "not_found".to_owned()));
    assert_eq!(listed(&app).await, Vec::<Value>::new());
    let product = start_with_api_keys().await;
    assert_eq!(product.app.get("/api/admin/feedback").await.error(), (401, "unauthorized".to_owned()));
}
