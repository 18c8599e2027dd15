//! Stored responses of `/v1/responses`: read again, resumed, cancelled, continued and deleted.

use serde_json::json;
use support::{Completion, Gate, TestApp, with_timeout};

use crate::responses::{events, id, joined, output_text, respond};

#[tokio::test]
async fn stored_response_is_read_resumed_and_deleted() {
    let app = TestApp::start_on_disk().await;
    app.model.queue_replies([Completion::new().thinking("想").text("你好，世界！").end()]);
    let response = respond(&app, &json!("你好"), &json!({ "instructions": "短。", "user": "u" })).await.ok();
    assert_eq!((output_text(&response), &response["instructions"]), ("你好，世界！", &json!("短。")));
    let path = format!("/v1/responses/{}", id(&response));
    let mut app = app;
    for _ in 0..2 {
        let read = app.get(&path).await.ok();
        assert_eq!(read, response);
        let all = events(&app.get(&format!("{path}?stream=true")).await, 0);
        assert_eq!(all.last().unwrap()["response"], response);
        for after in [0, 5, all.len() - 2] {
            let rest = app.get(&format!("{path}?stream=true&starting_after={after}")).await;
            assert_eq!(events(&rest, after + 1), all[after + 1..]);
        }
        app.restart().await;
    }
    let listed = app.get("/api/conversations").await.ok()["conversations"].clone();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["title"]), (1, &json!("你好")));
    assert_eq!(app.client().as_user("other").get(&path).await.status, 404);
    let deleted = app.delete(&path).await.ok();
    assert_eq!((&deleted["deleted"], &deleted["id"]), (&json!(true), &response["id"]));
    assert_eq!(app.get(&path).await.status, 404);
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
}

#[tokio::test]
async fn long_answer_has_the_same_events_again() {
    let mut app = TestApp::start_on_disk().await;
    let text = "多少个字？Many. ".repeat(1_000);
    app.model.queue_replies([Completion::of([&text])]);
    let first = events(&respond(&app, &json!("说"), &json!({ "stream": true })).await, 0);
    app.restart().await;
    let path = format!("/v1/responses/{}?stream=true", id(&first.last().unwrap()["response"]));
    assert_eq!(events(&app.get(&path).await, 0), first);
    assert_eq!(joined(&first, "output_text"), text);
}

#[tokio::test]
async fn background_response_is_cancelled() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).end()]);
    let response = respond(&app, &json!("说"), &json!({ "background": true })).await.ok();
    assert_eq!((&response["status"], &response["background"]), (&json!("in_progress"), &json!(true)));
    with_timeout("the model", gate.wait_until_reached()).await;
    let path = format!("/v1/responses/{}", id(&response));
    assert_eq!(app.get(&path).await.ok()["status"], "in_progress");
    let cancelled = app.post(&format!("{path}/cancel"), &json!({})).await.ok();
    assert_eq!((&cancelled["status"], output_text(&cancelled)), (&json!("cancelled"), "半句"));
    assert_eq!(app.get(&path).await.ok(), cancelled);
    assert_eq!(app.post(&format!("{path}/cancel"), &json!({})).await.ok(), cancelled, "it has ended");
}

#[tokio::test]
async fn continued_response_is_read_whole() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).end(), Completion::of(["，完。"])]);
    let response = respond(&app, &json!("说"), &json!({ "background": true })).await.ok();
    with_timeout("the model", gate.wait_until_reached()).await;
    let path = format!("/v1/responses/{}", id(&response));
    app.post(&format!("{path}/cancel"), &json!({})).await.ok();
    app.continue_answer(&id(&response)[5..31], &json!({})).await.read_to_end().await;
    let whole = app.get(&path).await.ok();
    assert_eq!((&whole["status"], output_text(&whole)), (&json!("completed"), "半句，完。"));
    let all = events(&app.get(&format!("{path}?stream=true")).await, 0);
    assert_eq!(all.last().unwrap()["response"], whole);
}

#[tokio::test]
async fn deletion_in_any_order_leaves_no_conversation() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    for reversed in [false, true] {
        let first = respond(&app, &json!("一"), &json!({})).await.ok();
        let second = respond(&app, &json!("二"), &json!({ "previous_response_id": id(&first) })).await.ok();
        let mut order = vec![&first];
        if reversed {
            order.insert(0, &second);
        }
        for response in order {
            app.delete(&format!("/v1/responses/{}", id(response))).await.ok();
        }
        assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]), "{reversed}");
    }
}
