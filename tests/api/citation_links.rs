//! Answers over OpenAI's wire that end with link definitions of the cited pages.

use serde_json::{Value, json};
use support::{Completion, TestApp};

use crate::openai::{chunks, complete, greeting};
use crate::search_call;

const ANSWER: &str = "晴 [2]，雨 [1, 2]。";

const LINKS: &str = "\n\n[1]: <https://example.com/1> \"茶：第1页\"\n[2]: <https://example.com/2> \"茶：第2页\"";

fn queue_answer(app: &TestApp, answer: &str) {
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of([answer])]);
}

async fn content(app: &TestApp, more: &Value) -> String {
    let whole = complete(app, &greeting(), more).await.ok();
    whole["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn request_option_appends_definitions_of_cited_pages() {
    let app = TestApp::start().await;
    queue_answer(&app, ANSWER);
    let whole = complete(&app, &greeting(), &json!({"citationLinks": true})).await.ok();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], format!("{ANSWER}{LINKS}"));
    let citation = &message["annotations"][0]["url_citation"];
    assert_eq!((&citation["start_index"], &citation["end_index"]), (&json!(2), &json!(5)));
    queue_answer(&app, ANSWER);
    let streamed = chunks(&complete(&app, &greeting(), &json!({"citationLinks": true, "stream": true})).await);
    let deltas: Vec<_> = streamed.iter().filter_map(|one| one["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!((deltas.concat(), *deltas.last().unwrap()), (format!("{ANSWER}{LINKS}"), LINKS));
    queue_answer(&app, "晴。");
    assert_eq!(content(&app, &json!({"citationLinks": true})).await, "晴。", "without a citation");
    queue_answer(&app, ANSWER);
    assert_eq!(content(&app, &json!({})).await, ANSWER, "without the option");
}

#[tokio::test]
async fn agent_option_applies_unless_the_request_decides() {
    let app = TestApp::start().await;
    let created = app.post("/api/admin/agents", &json!({"name": "links", "citation_links": true})).await;
    assert_eq!((created.status, &created.json()["citationLinks"]), (201, &json!(true)));
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let model = json!(format!("agent:{id}"));
    queue_answer(&app, ANSWER);
    assert_eq!(content(&app, &json!({"model": model})).await, format!("{ANSWER}{LINKS}"));
    queue_answer(&app, ANSWER);
    assert_eq!(content(&app, &json!({"model": model, "citationLinks": false})).await, ANSWER);
    queue_answer(&app, ANSWER);
    let native = app.chat(&json!({"message": "查", "agentId": id})).await;
    assert_eq!(native.content(), ANSWER, "the native protocol has sources");
    let stored = app.read_finished_conversation(&native.conversation_id()).await;
    assert_eq!(stored["messages"][1]["content"], ANSWER);
}
