//! The texts of several rounds are paragraphs of one answer, in every form of it.

use serde_json::{Value, json};
use support::{Client, Completion, NativeApp, Reply, TestApp};

use crate::openai::{chunks, complete, greeting};
use crate::search_call;

const TEXTS: [&str; 3] = ["Let me look that up.", "One more search.", "The answer is 42 [1]."];

const WHOLE: &str = "Let me look that up.\n\nOne more search.\n\nThe answer is 42 [1].";

fn native(texts: [&str; 3]) -> [Reply; 3] {
    let search = |text: &str, id: &str| {
        let call = json!({ "query": id }).to_string();
        Completion::new().text(text).call(0, id, "search_web", &call).finish("tool_calls").usage(10, 5).done().reply()
    };
    [search(texts[0], "c1"), search(texts[1], "c2"), Completion::of([texts[2]])]
}

fn prompted() -> [Reply; 3] {
    let search = |text: &str, query: &str| Completion::of([text.to_owned(), search_call(query)]);
    [search(TEXTS[0], "a"), search(TEXTS[1], "b"), Completion::of([TEXTS[2]])]
}

async fn assert_stored(app: &Client, id: &str) {
    assert_eq!(app.read_finished_conversation(id).await["messages"][1]["content"], WHOLE);
    let export = app.get("/api/me/export").await;
    assert!(export.text().contains(&json!(WHOLE).to_string()), "{}", export.text());
}

fn deltas(turn: &[&Value]) -> Vec<String> {
    turn.iter().map(|event| event["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn native_rounds_are_paragraphs_live_and_stored() {
    let app = NativeApp::start().await;
    app.model.queue_replies(native(TEXTS));
    let turn = app.send_message("What is it?").await;
    assert_eq!(deltas(&turn.events_of("content")), [TEXTS[0], "\n\n", TEXTS[1], "\n\n", TEXTS[2]]);
    assert_stored(&app, &turn.conversation_id()).await;
    let sent = app.last_messages();
    assert_eq!((&sent[1]["content"], &sent[3]["content"]), (&json!(TEXTS[0]), &json!(TEXTS[1])));
    app.model.queue_replies([Completion::of(["Yes."])]);
    app.follow_up(&turn.conversation_id(), "Really?").await;
    // The results of a finished turn are cut.
    let texts =
        |messages: &[Value]| messages[..4].iter().filter(|one| one["role"] != "tool").cloned().collect::<Vec<_>>();
    assert_eq!(texts(&app.last_messages()), texts(&sent), "the later prompt begins with the texts of the earlier one");
}

#[tokio::test]
async fn prompted_rounds_are_paragraphs_in_every_form() {
    let app = TestApp::start().await;
    app.model.queue_replies(prompted());
    let turn = app.send_message("What is it?").await;
    assert_eq!(turn.content(), WHOLE);
    assert_stored(&app, &turn.conversation_id()).await;
    app.model.queue_replies(prompted());
    let document = app.chat_once(&json!({"message": "What is it?", "stream": false})).await.ok();
    assert_eq!(document["content"], WHOLE);
    app.model.queue_replies(prompted());
    let whole = complete(&app, &greeting(), &json!({})).await.ok();
    assert_eq!(whole["choices"][0]["message"]["content"], WHOLE);
    app.model.queue_replies(prompted());
    let streamed = chunks(&complete(&app, &greeting(), &json!({"stream": true})).await);
    let content: String = streamed.iter().filter_map(|one| one["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(content, WHOLE);
}

#[tokio::test]
async fn resumed_stream_counts_the_line_breaks() {
    let app = NativeApp::start().await;
    app.model.queue_replies(native(TEXTS));
    let mut turn = app.open(&json!({"message": "What is it?"})).await;
    let start = turn.next().await.unwrap();
    while turn.read_until("content").await["content"] != "\n\n" {}
    let last = turn.last_id();
    turn.read_to_end().await;
    let mut rest = app.resume(start["conversationId"].as_str().unwrap(), Some(&last)).await.unwrap();
    assert_eq!(rest.read_until("content").await["content"], TEXTS[1]);
}

#[tokio::test]
async fn existing_blank_line_is_not_doubled() {
    let app = NativeApp::start().await;
    for (texts, expected) in [
        (["a.\n\n", "\n\nb.\n", "\nc."], "a.\n\n\n\nb.\n\nc."),
        (["a.\n", "b.", "\nc."], "a.\n\nb.\n\nc."),
        (["", "", "c."], "c."),
        (["\n", "b.", "c."], "b.\n\nc."),
    ] {
        app.model.queue_replies(native(texts));
        assert_eq!(app.send_message("What is it?").await.content(), expected);
    }
}
