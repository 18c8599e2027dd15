//! A process that dies in the middle of an answer: the text that it had streamed is kept.

use std::thread;

use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, Gate, TestApp};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::resume::TwoInstances;
use crate::search_call;

/// An instance in a runtime of its own, which can be killed.
struct DoomedInstance {
    process: Runtime,
    model: FakeModel,
    client: Client,
}

impl DoomedInstance {
    async fn start(database: &str) -> Self {
        let (process, model) = (Runtime::new().unwrap(), FakeModel::start().await);
        let (url_sender, url_receiver) = oneshot::channel();
        let (model_url, database) = (model.url(), database.to_owned());
        process.spawn(async move {
            let settings = [("OPENAI_BASE_URL", model_url.as_str()), ("AWS_ENDPOINT_URL_DYNAMODB", &database)];
            let app = TestApp::start_with(&settings).await;
            url_sender.send(app.base().to_owned()).unwrap();
            std::future::pending::<()>().await;
            drop(app);
        });
        Self { process, model, client: Client::new(&url_receiver.await.unwrap()) }
    }

    fn kill(self) {
        thread::spawn(move || self.process.shutdown_background()).join().unwrap();
    }
}

/// Kills an instance in the middle of an answer that another instance has read up to `三`; returns the conversation's id
/// once its lease has expired.
async fn killed_turn(two: &TwoInstances) -> String {
    let (doomed, gate) = (DoomedInstance::start(two.database.url()).await, Gate::new());
    let answer = Completion::new().thinking("想").text("一").text("二").text("三").wait(&gate).end();
    doomed.model.queue_replies([Completion::of([search_call("茶")]), answer]);
    let mut turn = doomed.client.open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    let mut reader = two.second.resume(&id, None).await.unwrap();
    while reader.next().await.unwrap()["content"] != "三" {}
    doomed.kill();
    assert_eq!(reader.read_to_end().await.error_code(), "interrupted");
    id
}

async fn last_answer(client: &Client, id: &str) -> Value {
    client.conversation(id).await["messages"][1].clone()
}

#[tokio::test]
async fn f101_text_of_killed_turn_is_kept() {
    let two = TwoInstances::start().await;
    let id = killed_turn(&two).await;
    let (one, other) = tokio::join!(last_answer(&two.first, &id), last_answer(&two.second, &id));
    assert_eq!(one, other);
    assert_eq!(json!([one["content"], one["thinking"], one["status"]]), json!(["一二三", "想", "interrupted"]));
    assert_eq!(one["toolCalls"][0]["name"], "search_web");
    assert!(one["sources"].as_array().is_some_and(|sources| !sources.is_empty()), "{one}");
    let exported = two.first.get("/api/me/export").await.text();
    assert!(exported.contains(r#""content":"一二三""#), "{exported}");
}

#[tokio::test]
async fn f101_next_turn_reads_text_of_killed_one() {
    let two = TwoInstances::start().await;
    let id = killed_turn(&two).await;
    two.first.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(two.first.follow_up(&id, "再说").await.content(), "好。");
    let dialogue = two.first.model.wait_for_request(1).await.dialogue();
    let texts: Vec<&str> = dialogue.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["说", "一二三", "再说"]);
}

#[tokio::test]
async fn f101_text_of_killed_turn_is_continued() {
    let two = TwoInstances::start().await;
    let id = killed_turn(&two).await;
    two.first.model.queue_replies([Completion::of(["四。"])]);
    let turn = two.first.continue_answer(&id, &json!({})).await.read_to_end().await;
    assert_eq!(turn.content(), "四。");
    let whole = last_answer(&two.second, &id).await;
    assert_eq!(json!([whole["content"], whole["thinking"], whole["status"]]), json!(["一二三四。", "想", "complete"]));
    assert_eq!(whole["toolCalls"][0]["name"], "search_web");
}
