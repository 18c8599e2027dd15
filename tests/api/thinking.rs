//! Reasoning, in tags or in its own field, becomes thinking and never content.

use support::{Completion, TestApp};

use crate::split_points::for_every_split;

#[tokio::test]
async fn f027_reasoning_in_its_own_field_becomes_thinking() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::new().thinking("先想").thinking("一想。").text("你好。").end()]);
    let turn = app.send_message("你好").await;
    assert_eq!((turn.thinking().as_str(), turn.content().as_str()), ("先想一想。", "你好。"));
    let stored = app.conversation(&turn.conversation_id()).await;
    assert_eq!(stored["messages"][1]["thinking"], "先想一想。");
    assert_eq!(stored["messages"][1]["content"], "你好。");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reasoning_in_tags_becomes_thinking_at_any_split() {
    for_every_split(&["<think>a < b，先想一想。</think>你好。"], |_, split, turn| {
        let actual = (turn.thinking(), turn.content());
        assert_eq!(actual, ("a < b，先想一想。".to_owned(), "你好。".to_owned()), "{split}");
    })
    .await;
}

#[tokio::test]
async fn reasoning_is_not_sent_back_as_content() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["<think>暗想</think>你好。"]), Completion::of(["再见。"])]);
    let first = app.send_message("你好").await;
    app.follow_up(&first.conversation_id(), "再见").await;
    let talk = app.model.wait_for_request(2).await.dialogue();
    assert_eq!(talk[1], ("assistant".to_owned(), "你好。".to_owned()));
}
