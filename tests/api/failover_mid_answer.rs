//! Failover in the middle of an answer: what the user sees, what the next model receives, and what is stored.

use serde_json::{Value, json};
use support::{Completion, Reply, search_reply};

use crate::failover::{Chain, TOOL_MODES, outcome, overloaded};
use crate::model_faults::SHORT_TIMEOUTS;
use crate::search_call;

#[tokio::test]
async fn f019_fallback_continues_a_stalled_answer() {
    let chain = Chain::start_with(&SHORT_TIMEOUTS, TOOL_MODES[0]).await;
    chain.backup.queue_replies([Completion::of(["，后半句", "。"])]);
    let turn = chain.break_after("前半句", Reply::stall).await;
    assert_eq!(outcome(&turn), json!(["前半句，后半句。", "stop", ["first", "backup"]]));
    let stored = chain.stored_answer(&turn).await;
    let expected = json!(["前半句，后半句。", "complete", ["first", "backup"]]);
    assert_eq!(json!([stored["content"], stored["status"], stored["models"]]), expected);
}

#[tokio::test]
async fn f020_fallback_receives_partial_answer_and_history_merges() {
    for paths in TOOL_MODES {
        let chain = Chain::start_with(&[], paths).await;
        chain.backup.queue_replies([Completion::of(["，后半句。"])]);
        let turn = chain.break_after("前半句", Reply::reset).await;
        assert_eq!(outcome(&turn), json!(["前半句，后半句。", "stop", ["first", "backup"]]), "{paths:?}");
        let talk = chain.backup.wait_for_request(1).await.dialogue();
        let roles: Vec<&str> = talk.iter().map(|(role, _)| role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        assert_eq!((talk[0].1.as_str(), talk[1].1.as_str()), ("你好", "前半句"));
        assert!(talk[2].1.contains("继续"), "{talk:?}");
        chain.first.queue_replies([Completion::of(["好。"])]);
        let next = chain.app.follow_up(&turn.conversation_id(), "然后呢？").await;
        assert_eq!(outcome(&next), json!(["好。", "stop", null]));
        let expected = [("user", "你好"), ("assistant", "前半句，后半句。"), ("user", "然后呢？")]
            .map(|(a, b)| (a.into(), b.into()));
        assert_eq!(chain.first.wait_for_request(2).await.dialogue(), expected);
    }
}

#[tokio::test]
async fn continuation_overlap_is_trimmed() {
    let half = "Here is the list:\n\n- apples\n- pea";
    let rest = "rs\n- plums";
    for again in ["", "pea", "- pea", "- apples\n- pea", half] {
        let chain = Chain::start().await;
        let text = format!("{again}{rest}");
        let text = text.strip_prefix("peapears").unwrap_or(&text).to_owned();
        chain
            .backup
            .queue_replies([text.chars().fold(Completion::new(), |stream, one| stream.text(&one.to_string())).end()]);
        let turn = chain.break_after(half, Reply::disconnect).await;
        assert_eq!(turn.content(), format!("{half}{rest}"), "{again:?}");
    }
}

#[tokio::test]
async fn f021_f025_f041_f043_every_mid_answer_fault_fails_over() {
    let error = format!("data: {}\n\n", json!({ "error": { "message": "upstream words", "code": 503 } }));
    let endless = |mut reply: Reply| {
        reply = reply.bytes("data: ");
        for _ in 0..40 {
            reply = reply.bytes("x".repeat(1 << 16));
        }
        reply.stall()
    };
    let ends: [&dyn Fn(Reply) -> Reply; 6] = [
        &|reply| reply,
        &Reply::until_close,
        &Reply::disconnect,
        &|reply| reply.bytes(error.clone()),
        &|reply| reply.bytes("data: {\"choices\": [{]\n\n"),
        &endless,
    ];
    for (index, end) in ends.into_iter().enumerate() {
        let chain = Chain::start().await;
        chain.backup.queue_replies([Completion::of(["，后半句。"])]);
        let turn = chain.break_after("前半句", end).await;
        assert_eq!(outcome(&turn), json!(["前半句，后半句。", "stop", ["first", "backup"]]), "end {index}");
        assert!(!Value::from(turn.0.clone()).to_string().contains("upstream words"));
    }
}

#[tokio::test]
async fn f042_fallback_continues_after_endless_thinking() {
    let chain = Chain::start().await;
    let piece = "x".repeat(1 << 16);
    chain.first.queue_replies([(0..100).fold(Completion::new(), |stream, _| stream.thinking(&piece)).reply().stall()]);
    chain.backup.queue_replies([Completion::of(["That is all."])]);
    let turn = chain.app.send_message("你好").await;
    assert_eq!((turn.finish_reason(), turn.content().as_str()), ("stop", "That is all."));
    assert_eq!(turn.thinking().len(), 512 << 10, "no more of it is shown or stored");
    chain.first.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn f042_answer_at_size_limit_finishes_with_length() {
    let chain = Chain::start().await;
    let piece = "x".repeat(1 << 16);
    chain.first.queue_replies([(0..100).fold(Completion::new(), |stream, _| stream.text(&piece)).reply().stall()]);
    let turn = chain.app.send_message("你好").await;
    assert_eq!((turn.finish_reason(), turn.content().len()), ("length", 2 << 20));
    assert_eq!(chain.backup.requests().len(), 0);
    chain.first.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn disconnect_in_thinking_restarts_with_the_fallback() {
    let chain = Chain::start().await;
    chain.first.queue_replies([Completion::new().thinking("想一").reply().disconnect()]);
    chain.backup.queue_replies([Completion::new().thinking("想二").text("好。").end()]);
    let turn = chain.app.send_message("你好").await;
    assert_eq!(outcome(&turn), json!(["好。", "stop", ["first", "backup"]]));
    assert_eq!(turn.thinking(), "想一想二");
    assert_eq!(chain.backup.wait_for_request(1).await.dialogue(), [("user".to_owned(), "你好".to_owned())]);
}

#[tokio::test]
async fn complete_calls_run_before_failover() {
    // A native call is complete only when the reply is complete.
    for paths in [("prompt", "prompt"), ("prompt", "native")] {
        let chain = Chain::start_with(&[], paths).await;
        let call = Completion::new().text("我查。").text(&search_call("天气")).text("<tool_call>{\"tool\": \"sea");
        chain.first.queue_replies([call.reply().disconnect()]);
        chain.backup.queue_replies([Completion::of(["晴。"])]);
        let turn = chain.app.send_message("天气？").await;
        assert_eq!(outcome(&turn), json!(["我查。\n\n晴。", "stop", ["first", "backup"]]), "{paths:?}");
        assert_eq!((turn.events_of("tool_call").len(), turn.events_of("tool_result").len()), (1, 1), "{paths:?}");
        let request = chain.backup.wait_for_request(1).await;
        assert!(request.body["messages"].to_string().contains("天气：第1页"), "{paths:?}");
    }
}

#[tokio::test]
async fn partial_text_call_is_hidden_before_failover() {
    let chain = Chain::start().await;
    chain.first.queue_replies([Completion::new().text("我查。<tool_call>{\"tool\": \"sea").reply().disconnect()]);
    chain.backup.queue_replies([Completion::of([&*search_call("天气")]), Completion::of(["晴。"])]);
    let turn = chain.app.send_message("天气？").await;
    assert_eq!(outcome(&turn), json!(["我查。\n\n晴。", "stop", ["first", "backup"]]));
    assert_eq!(turn.events_of("tool_result").len(), 1);
}

#[tokio::test]
async fn partial_native_call_is_not_run_before_failover() {
    let chain = Chain::start_with(&[], ("native", "native")).await;
    let cut = Completion::new().text("我查。").call(0, "a", "search_web", "{\"query\":");
    chain.first.queue_replies([cut.reply().disconnect()]);
    chain.backup.queue_replies([search_reply("b", "天气"), Completion::of(["晴。"])]);
    let turn = chain.app.send_message("天气？").await;
    assert_eq!(outcome(&turn), json!(["我查。\n\n晴。", "stop", ["first", "backup"]]));
    assert_eq!(turn.events_of("tool_result").len(), 1);
}

#[tokio::test]
async fn failing_fallback_fails_over_to_the_next() {
    let chain = Chain::start().await;
    chain.backup.queue_replies([Completion::new().text("二").reply().disconnect()]);
    chain.third.queue_replies([Completion::of(["三。"])]);
    let turn = chain.break_after("一", Reply::reset).await;
    assert_eq!(outcome(&turn), json!(["一二三。", "stop", ["first", "backup", "third"]]));
    assert_eq!(chain.third.wait_for_request(1).await.dialogue()[1], ("assistant".to_owned(), "一二".to_owned()));
}

#[tokio::test]
async fn failure_of_all_models_keeps_partial_text() {
    let chain = Chain::start().await;
    chain.backup.queue_replies([Completion::new().text("二").reply().disconnect()]);
    chain.third.queue_replies([overloaded()]);
    let turn = chain.break_after("一", Reply::reset).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("一二", "upstream_disconnected"));
    assert_eq!(turn.end()["models"], json!(["first", "backup"]));
    assert_eq!(turn.events_of("error").len() + turn.events_of("done").len(), 1);
    let stored = chain.stored_answer(&turn).await;
    let expected = json!(["一二", "failed", ["first", "backup"]]);
    assert_eq!(json!([stored["content"], stored["status"], stored["models"]]), expected);
}

#[tokio::test]
async fn usage_combines_estimate_and_provider_count() {
    let chain = Chain::start().await;
    chain.backup.queue_replies([Completion::new().text("四").finish("stop").usage(50, 7).done().reply()]);
    let turn = chain.break_after("一二三", Reply::reset).await;
    let usage = turn.events_of("usage")[0].clone();
    assert_eq!(json!([usage["outputTokens"], usage["estimated"]]), json!([3 + 7, true]));
    assert!(usage["inputTokens"].as_u64().unwrap() > 50);
}

#[tokio::test]
async fn f046_partial_answer_is_counted_once() {
    let chain = Chain::start().await;
    chain.backup.queue_replies([Completion::new().text("四五").finish("stop").done().reply()]);
    let turn = chain.break_after("一二三", Reply::reset).await;
    assert_eq!(turn.events_of("usage")[0]["outputTokens"], 3 + 2);
}

#[tokio::test]
async fn document_names_the_first_model() {
    let chain = Chain::start().await;
    chain.first.queue_replies([Completion::new().text("前半句").reply().disconnect()]);
    chain.backup.queue_replies([Completion::of(["，后半句。"])]);
    let document = chain.app.chat_once(&json!({ "message": "你好" })).await.ok();
    assert_eq!(json!([document["content"], document["model"]]), json!(["前半句，后半句。", "first"]));
}
