//! Tests of the fake servers with an ordinary HTTP client.

use serde_json::{Value, json};

use crate::{Completion, FakeModel, FakeTavily, Gate, MODEL, MODEL_KEY, Reply, SEARCH_KEY, with_timeout};

fn request_body(messages: &[(&str, &str)]) -> Value {
    let messages: Vec<Value> =
        messages.iter().map(|(role, content)| json!({ "role": role, "content": content })).collect();
    json!({ "model": MODEL, "stream": true, "messages": messages })
}

async fn send_request(model: &FakeModel) -> reqwest::Response {
    try_send_request(model).await.unwrap()
}

async fn try_send_request(model: &FakeModel) -> reqwest::Result<reqwest::Response> {
    let request = platform::transport::build_client().unwrap().post(format!("{}/chat/completions", model.url()));
    let request = request.bearer_auth(MODEL_KEY).json(&request_body(&[("user", "hi")]));
    with_timeout("a response of a fake server", request.send()).await
}

async fn post(url: &str, key: &str, body: &Value) -> reqwest::Response {
    let request = platform::transport::build_client().unwrap().post(url).bearer_auth(key).json(body);
    with_timeout("a response of a fake server", request.send()).await.unwrap()
}

#[tokio::test]
async fn script_plays_in_order_and_requests_are_recorded() {
    let model = FakeModel::start().await;
    model.queue_replies([
        Completion::of(["a"]),
        Reply::json(429, &json!({ "error": "slow" })).header("retry-after", "7"),
    ]);
    assert!(send_request(&model).await.text().await.unwrap().ends_with("data: [DONE]\n\n"));
    let second = send_request(&model).await;
    assert_eq!((second.status().as_u16(), second.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(model.wait_for_request(2).await.dialogue(), [("user".to_owned(), "hi".to_owned())]);
}

#[tokio::test]
async fn chunk_waits_for_its_gate() {
    let (model, gate) = (FakeModel::start().await, Gate::new());
    model.queue_replies([Completion::new().raw("one").wait(&gate).raw("two").reply()]);
    let mut response = send_request(&model).await;
    assert_eq!(response.chunk().await.unwrap().unwrap(), "one");
    gate.wait_until_reached().await;
    gate.open();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "two");
    assert!(response.chunk().await.unwrap().is_none());
}

#[tokio::test]
async fn every_write_is_its_own_chunk() {
    let model = FakeModel::start().await;
    model.queue_replies([Reply::status(200).bytes("abcde").in_chunks_of(2)]);
    let mut response = send_request(&model).await;
    for piece in ["ab", "cd", "e"] {
        assert_eq!(response.chunk().await.unwrap().unwrap(), piece);
    }
}

#[tokio::test]
async fn disconnect_and_reset_fail_unlike_unframed_end() {
    let model = FakeModel::start().await;
    let body = || Completion::new().raw("x").reply();
    model.queue_replies([body().disconnect(), body().reset(), Reply::reset_before_head(), body().until_close()]);
    assert!(send_request(&model).await.text().await.is_err());
    // A reset may overtake the head of the response.
    let reset = try_send_request(&model).await;
    assert!(if let Ok(response) = reset { response.text().await.is_err() } else { true });
    assert!(try_send_request(&model).await.is_err());
    assert_eq!(send_request(&model).await.text().await.unwrap(), "x");
}

#[tokio::test]
async fn client_disconnect_from_stalled_reply_is_detected() {
    let model = FakeModel::start().await;
    model.queue_replies([Completion::new().raw("x").reply().stall()]);
    let mut response = send_request(&model).await;
    assert_eq!(response.chunk().await.unwrap().unwrap(), "x");
    drop(response);
    model.wait_for_hang_ups(1).await;
}

#[tokio::test]
#[should_panic(expected = "the key is the configured one")]
async fn wrong_key_fails_the_test() {
    let model = FakeModel::start().await;
    model.queue_replies([Completion::of(["a"])]);
    post(&format!("{}/chat/completions", model.url()), "another", &request_body(&[("user", "hi")])).await;
}

#[tokio::test]
#[should_panic(expected = "messages alternate")]
async fn request_ending_with_assistant_message_fails_the_test() {
    let model = FakeModel::start().await;
    model.queue_replies([Completion::of(["a"])]);
    let body = request_body(&[("user", "hi"), ("assistant", "x")]);
    post(&format!("{}/chat/completions", model.url()), MODEL_KEY, &body).await;
}

#[tokio::test]
#[should_panic(expected = "an unscripted request")]
async fn unscripted_request_fails_the_test() {
    let model = FakeModel::start().await;
    send_request(&model).await;
}

#[tokio::test]
#[should_panic(expected = "1 scripted replies were not used")]
async fn unused_reply_fails_the_test() {
    let model = FakeModel::start().await;
    model.queue_replies([Completion::of(["a"])]);
}

#[tokio::test]
async fn fake_search_finds_two_pages_for_any_query() {
    let search = FakeTavily::start().await;
    let body = json!({ "query": "天气", "max_results": 10 });
    let answer: Value = post(&format!("{}/search", search.url()), SEARCH_KEY, &body).await.json().await.unwrap();
    assert_eq!(answer["results"][1]["title"], "天气：第2页");
    assert_eq!(search.queries(), ["天气"]);
}
