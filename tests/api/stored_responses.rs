//! Stored responses of `/v1/responses`: read again, resumed, cancelled, continued and deleted.

use serde_json::json;
use support::{Completion, Gate, TestApp, with_timeout};

use crate::responses::{error_fields, events, id, joined, output_text, respond, without_end};
use crate::search_call;

#[tokio::test]
async fn stored_response_is_read_resumed_and_deleted() {
    let app = TestApp::start_on_disk().await;
    app.model.queue_replies([Completion::new().thinking("想").text("你好，世界！").end()]);
    let response = respond(&app, &json!("你好"), &json!({ "instructions": "短。", "user": "u" })).await.ok();
    assert_eq!((output_text(&response), &response["instructions"]), ("你好，世界！", &json!("短。")));
    let path = format!("/v1/responses/{}", id(&response));
    let mut app = app;
    let stored = app.get(&path).await.ok();
    assert_eq!(without_end(stored.clone()), without_end(response));
    let response = stored;
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
    let mut first = events(&respond(&app, &json!("说"), &json!({ "stream": true })).await, 0);
    app.restart().await;
    let path = format!("/v1/responses/{}?stream=true", id(&first.last().unwrap()["response"]));
    let mut again = events(&app.get(&path).await, 0);
    for events in [&mut first, &mut again] {
        let last = &mut events.last_mut().unwrap()["response"];
        *last = without_end(last.take());
    }
    assert_eq!(again, first);
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
    assert_eq!(cancelled["completed_at"], json!(null));
    assert_eq!(app.get(&path).await.ok(), cancelled);
    assert_eq!(app.post(&format!("{path}/cancel"), &json!({})).await.ok(), cancelled, "it has ended");
}

#[tokio::test]
async fn unstored_response_follows_a_stored_one() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("天气")]), Completion::of(["晴[1]。"])]);
    let first = respond(&app, &json!("一"), &json!({})).await.ok();
    let more = json!({ "previous_response_id": id(&first), "store": false });
    app.model.respond_with(|_| Completion::of(["见[1]。"]));
    let next = respond(&app, &json!("二"), &more).await.ok();
    assert_eq!((&next["store"], &next["previous_response_id"]), (&json!(false), &first["id"]));
    assert_eq!(next["output"][0]["content"][0]["annotations"][0]["type"], "url_citation", "pages keep their numbers");
    let dialogue = app.model.wait_for_request(3).await.dialogue();
    let talk: Vec<&str> = dialogue.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((talk[0], talk.last().copied()), ("一", Some("二")), "{talk:?}");
    assert!(talk.contains(&"晴[1]。"), "{talk:?}");
    assert_eq!(app.get(&format!("/v1/responses/{}", id(&next))).await.status, 404);
    let stored = app.conversation(&id(&first)[5..31]).await;
    assert_eq!(stored["messages"].as_array().unwrap().len(), 2);
    let missing = app.client().as_user("other");
    let answer = respond(&missing, &json!("二"), &more).await;
    assert_eq!(error_fields(&answer)[2], "previous_response_not_found");
}

#[tokio::test]
async fn running_response_is_not_followed() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).end()]);
    let running = respond(&app, &json!("一"), &json!({ "background": true })).await.ok();
    for store in [true, false] {
        let more = json!({ "previous_response_id": id(&running), "store": store });
        let answer = respond(&app, &json!("二"), &more).await;
        assert_eq!((answer.status, &error_fields(&answer)[2]), (409, &json!("turn_in_progress")), "{store}");
    }
    gate.open();
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
