//! Valid answers in every unusual format that endpoints send.

use serde_json::json;
use support::{Completion, Reply, TestApp};

/// The content of a turn with this reply of the model; the turn must end with `stop`.
async fn answer_content(reply: Reply) -> String {
    let app = TestApp::start().await;
    app.model.queue_replies([reply]);
    let turn = app.send_message("你好").await;
    assert_eq!(turn.finish_reason(), "stop", "{turn:?}");
    turn.content()
}

#[tokio::test]
async fn f022_finish_without_terminator_is_a_complete_answer() {
    let stream = || Completion::new().text("好").text("。").finish("stop");
    assert_eq!(answer_content(stream().reply()).await, "好。");
    assert_eq!(answer_content(stream().reply().until_close()).await, "好。");
    assert_eq!(answer_content(stream().usage(1, 1).reply().disconnect()).await, "好。");
}

#[tokio::test]
async fn f023_empty_finish_reason_is_ignored() {
    let chunk = |text: &str, reason: &str| {
        json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": reason }] }).to_string()
    };
    let stream = Completion::new().data(&chunk("好", "")).data(&chunk("。", "")).finish("stop").done();
    assert_eq!(answer_content(stream.reply()).await, "好。");
}

#[tokio::test]
async fn f024_data_after_the_terminator_is_ignored() {
    let stream = Completion::new().text("好。").finish("stop").done().text("多余").data("{").reply();
    assert_eq!(answer_content(stream).await, "好。");
}

#[tokio::test]
async fn f026_chunks_without_choices_do_not_end_stream() {
    let filter = json!({ "choices": [], "prompt_filter_results": [] }).to_string();
    let stream = Completion::new().data(&filter).text("好").usage(3, 1).text("。").end();
    assert_eq!(answer_content(stream).await, "好。");
}

#[tokio::test]
async fn f027_unusual_deltas_are_tolerated() {
    let stream = Completion::new()
        .delta(&json!({ "role": "assistant", "content": "" }))
        .delta(&json!({ "role": "assistant", "content": null }))
        .data(&json!({ "choices": [{ "index": 0, "delta": null }] }).to_string())
        .data(&json!({ "choices": [{ "index": 0 }], "usage": null, "service_tier": "default" }).to_string())
        .delta(&json!({ "role": "assistant", "content": "好", "extra": { "a": [1] } }))
        .text("。");
    assert_eq!(answer_content(stream.end()).await, "好。");
}

#[tokio::test]
async fn f028_first_of_several_choices_is_the_answer() {
    let chunk = json!({ "choices": [
        { "index": 1, "delta": { "content": "乙" } }, { "index": 0, "delta": { "content": "好。" } },
    ] });
    assert_eq!(answer_content(Completion::new().data(&chunk.to_string()).end()).await, "好。");
}

#[tokio::test]
async fn f034_single_byte_chunks_give_the_same_answer() {
    let stream = Completion::of(["你好，", "🦀 世界", "。"]);
    assert_eq!(answer_content(stream.in_chunks_of(1)).await, "你好，🦀 世界。");
}

#[tokio::test]
async fn f034_any_chunk_size_gives_the_same_answer() {
    let app = TestApp::start().await;
    for size in 2..64 {
        app.model.queue_replies([Completion::of(["你好，", "🦀 世界", "。"]).in_chunks_of(size)]);
        assert_eq!(app.send_message("你好").await.content(), "你好，🦀 世界。", "pieces of {size}");
    }
}

#[tokio::test]
async fn f035_invalid_utf8_becomes_a_replacement_character() {
    let event = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb\"}}]}\n\n".to_vec();
    assert_eq!(answer_content(Completion::new().raw(event).end()).await, "a\u{fffd}b");
}

#[tokio::test]
async fn f036_split_byte_order_mark_is_stripped() {
    assert_eq!(answer_content(Completion::new().raw("\u{feff}").text("好。").end()).await, "好。");
    let cut = Completion::new().raw(&b"\xef"[..]).raw(&b"\xbb"[..]).raw(&b"\xbf"[..]);
    assert_eq!(answer_content(cut.text("好。").end()).await, "好。");
}

#[tokio::test]
async fn f037_every_line_end_is_accepted() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = || Completion::new().line_end(end).text("好").text("。").end();
        assert_eq!(answer_content(stream()).await, "好。", "{end:?}");
        assert_eq!(answer_content(stream().in_chunks_of(1)).await, "好。", "{end:?} in single bytes");
    }
    let mixed = Completion::new().line_end("\r\n").text("好").line_end("\r").text("。").line_end("\n").end();
    assert_eq!(answer_content(mixed).await, "好。");
}

#[tokio::test]
async fn f039_sse_fields_follow_the_standard() {
    let chunk = |text: &str| json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string();
    let stream = Completion::new()
        .raw(format!(": comment\n\ndata:{}\n\n", chunk("好")))
        .raw(format!("event: message\nid: 7\nretry: 10\nother: x\ndata:  {}\n\n", chunk("的")))
        .raw("data\n\n".to_owned())
        .text("。");
    assert_eq!(answer_content(stream.end()).await, "好的。");
}

#[tokio::test]
async fn f040_multiple_data_lines_are_joined() {
    let stream =
        Completion::new().raw("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"好。\"}}]}\n\n");
    assert_eq!(answer_content(stream.end()).await, "好。");
}

#[tokio::test]
async fn f013_json_completion_is_accepted_as_answer() {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": support::MODEL,
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "好。" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6 },
    });
    assert_eq!(answer_content(Reply::json(200, &body)).await, "好。");
}

#[tokio::test]
async fn f047_terminator_inside_text_is_content() {
    let text = "data: [DONE] 和 <|im_end|> 只是文字。";
    assert_eq!(answer_content(Completion::of([text])).await, text);
}

#[tokio::test]
async fn f045_thousands_of_deltas_in_one_chunk_arrive() {
    let deltas: Vec<String> = (0..5_000).map(|n| format!("{n} ")).collect();
    let answer = Completion::of(&deltas).in_chunks_of(usize::MAX);
    assert_eq!(answer_content(answer).await.trim_end(), deltas.concat().trim_end());
}
