//! Replies that begin in reasoning: the prompt opened it, and their text only closes it.

use serde_json::{Value, json};
use support::{Completion, Reply, TestApp, Transcript};

/// A reply in these deltas.
fn reply() -> Reply {
    Completion::of(["想一", "想\n</thi", "nk>\n", "答案"])
}

/// The content and the reasoning as a client has them in the end.
pub(crate) fn read(turn: &Transcript) -> (String, String) {
    let (mut content, mut thinking) = (Vec::new(), String::new());
    for event in &turn.0 {
        match event["type"].as_str() {
            Some("content") => content.extend(event["content"].as_str().unwrap().chars()),
            Some("thinking") => thinking += event["thinking"].as_str().unwrap(),
            Some("reclassify") => {
                let count = usize::try_from(event["characters"].as_u64().unwrap()).unwrap();
                thinking.extend(content.split_off(content.len() - count));
            }
            _ => {}
        }
    }
    (content.into_iter().collect(), thinking)
}

async fn stored(app: &TestApp, turn: &Transcript) -> [Value; 2] {
    let conversation = app.read_finished_conversation(&turn.conversation_id()).await;
    let messages = conversation["messages"].as_array().unwrap();
    let answer = messages.last().unwrap();
    [answer["content"].clone(), answer["thinking"].clone()]
}

#[tokio::test]
async fn first_reply_takes_its_text_back() {
    let app = TestApp::start().await;
    app.model.queue_replies([reply(), reply()]);
    let turn = app.send_message("问").await;
    assert_eq!(turn.events_of("reclassify"), [&json!({"type": "reclassify", "characters": 4})]);
    assert_eq!(read(&turn), ("答案".to_owned(), "想一想\n".to_owned()));
    assert_eq!(stored(&app, &turn).await, [json!("答案"), json!("想一想\n")]);
    let next = app.send_message("问").await;
    assert!(next.events_of("reclassify").is_empty(), "the model is remembered");
    assert_eq!((next.content(), next.thinking()), ("答案".to_owned(), "想一想\n".to_owned()));
}

#[tokio::test]
async fn thinking_open_shows_none_of_it() {
    let app = TestApp::start_with(&[("MODEL_OPTIONS", r#"{"openai":{"thinkingOpen":true}}"#)]).await;
    app.model.queue_replies([reply(), Completion::of(["没有", "思考"])]);
    let turn = app.send_message("问").await;
    assert_eq!((turn.content(), turn.thinking()), ("答案".to_owned(), "想一想\n".to_owned()));
    let turn = app.send_message("问").await;
    assert_eq!(turn.content(), "没有思考", "reasoning that never ends was the answer");
    assert_eq!(stored(&app, &turn).await[0], json!("没有思考"));
    assert!(stored(&app, &turn).await[1].as_str().unwrap_or_default().is_empty(), "and is stored once");
}

#[tokio::test]
async fn stray_end_tag_keeps_next_reply_an_answer() {
    let app = TestApp::start().await;
    app.model.queue_replies([reply(), Completion::of(["281 亿", "美元。"]), Completion::of(["甲", "乙"])]);
    app.send_message("问").await;
    let turn = app.send_message("问").await;
    assert_eq!((turn.content(), turn.thinking()), ("281 亿美元。".to_owned(), String::new()));
    assert_eq!(stored(&app, &turn).await[0], json!("281 亿美元。"));
    assert_eq!(turn.events_of("content").len(), 1, "it was held back: it might have been reasoning");
    let turn = app.send_message("问").await;
    assert_eq!(turn.events_of("content").len(), 2, "a reply without the tag takes the observation back");
}

#[tokio::test]
async fn reasoning_of_its_own_field_is_kept_apart() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::new().thinking("想").text("用 <b></think>").text("结束。").end()]);
    let turn = app.send_message("问").await;
    assert!(turn.events_of("reclassify").is_empty());
    assert_eq!((turn.content(), turn.thinking()), ("用 <b>结束。".to_owned(), "想".to_owned()));
}
