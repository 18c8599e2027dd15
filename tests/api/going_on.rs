//! A model that fails in the middle of its answer while another one stands behind it: what is seen, asked and kept.

use serde_json::{Value, json};
use support::{Completion, Reply};

use crate::call;
use crate::failover::{Chain, PATHS, overloaded, told};
use crate::model_faults::IMPATIENT;
use crate::native::search;

#[tokio::test]
async fn f019_another_model_goes_on_where_one_stalls() {
    let chain = Chain::with(&IMPATIENT, PATHS[0]).await;
    chain.backup.replies([Completion::of(["，后半句", "。"])]);
    let turn = chain.broken_after("前半句", Reply::stall).await;
    assert_eq!(told(&turn), json!(["前半句，后半句。", "stop", ["first", "backup"]]));
    let stored = chain.stored(&turn).await;
    let expected = json!(["前半句，后半句。", "complete", ["first", "backup"]]);
    assert_eq!(json!([stored["content"], stored["status"], stored["models"]]), expected);
}

#[tokio::test]
async fn f020_the_model_that_goes_on_is_told_what_was_said_and_a_later_turn_reads_one_answer() {
    for paths in PATHS {
        let chain = Chain::with(&[], paths).await;
        chain.backup.replies([Completion::of(["，后半句。"])]);
        let turn = chain.broken_after("前半句", Reply::reset).await;
        assert_eq!(told(&turn), json!(["前半句，后半句。", "stop", ["first", "backup"]]), "{paths:?}");
        let talk = chain.backup.asked(1).await.talk();
        let roles: Vec<&str> = talk.iter().map(|(role, _)| role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        assert_eq!((talk[0].1.as_str(), talk[1].1.as_str()), ("你好", "前半句"));
        assert!(talk[2].1.contains("继续"), "{talk:?}");
        chain.first.replies([Completion::of(["好。"])]);
        let next = chain.app.go_on(&turn.conversation_id(), "然后呢？").await;
        assert_eq!(told(&next), json!(["好。", "stop", null]));
        let expected = [("user", "你好"), ("assistant", "前半句，后半句。"), ("user", "然后呢？")]
            .map(|(a, b)| (a.into(), b.into()));
        assert_eq!(chain.first.asked(2).await.talk(), expected);
    }
}

#[tokio::test]
async fn what_goes_on_repeats_nothing_however_it_begins() {
    let half = "Here is the list:\n\n- apples\n- pea";
    let rest = "rs\n- plums";
    for again in ["", "pea", "- pea", "- apples\n- pea", half] {
        let chain = Chain::start().await;
        let text = format!("{again}{rest}");
        let text = text.strip_prefix("peapears").unwrap_or(&text).to_owned();
        chain.backup.replies([text.chars().fold(Completion::new(), |stream, one| stream.text(&one.to_string())).end()]);
        let turn = chain.broken_after(half, Reply::cut).await;
        assert_eq!(turn.content(), format!("{half}{rest}"), "{again:?}");
    }
}

#[tokio::test]
async fn f021_f025_f041_f043_whatever_breaks_an_answer_another_model_goes_on() {
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
        &Reply::cut,
        &|reply| reply.bytes(error.clone()),
        &|reply| reply.bytes("data: {\"choices\": [{]\n\n"),
        &endless,
    ];
    for (place, end) in ends.into_iter().enumerate() {
        let chain = Chain::start().await;
        chain.backup.replies([Completion::of(["，后半句。"])]);
        let turn = chain.broken_after("前半句", end).await;
        assert_eq!(told(&turn), json!(["前半句，后半句。", "stop", ["first", "backup"]]), "end {place}");
        assert!(!Value::from(turn.0.clone()).to_string().contains("upstream words"));
    }
}

#[tokio::test]
async fn f042_another_model_goes_on_from_an_answer_without_end() {
    let chain = Chain::start().await;
    let piece = "x".repeat(1 << 16);
    chain.first.replies([(0..100).fold(Completion::new(), |stream, _| stream.thinking(&piece)).reply().stall()]);
    chain.backup.replies([Completion::of(["That is all."])]);
    let turn = chain.app.ask("你好").await;
    assert_eq!((turn.finish_reason(), turn.content().as_str()), ("stop", "That is all."));
    assert_eq!(turn.thinking().len(), 512 << 10, "no more of it is shown or stored");
    chain.first.hung_up(1).await;
}

#[tokio::test]
async fn f042_an_answer_as_long_as_one_may_be_ends_with_length() {
    let chain = Chain::start().await;
    let piece = "x".repeat(1 << 16);
    chain.first.replies([(0..100).fold(Completion::new(), |stream, _| stream.text(&piece)).reply().stall()]);
    let turn = chain.app.ask("你好").await;
    assert_eq!((turn.finish_reason(), turn.content().len()), ("length", 2 << 20));
    assert_eq!(chain.backup.requests().len(), 0);
    chain.first.hung_up(1).await;
}

#[tokio::test]
async fn a_model_that_broke_in_its_thinking_is_replaced_by_one_that_is_simply_asked() {
    let chain = Chain::start().await;
    chain.first.replies([Completion::new().thinking("想一").reply().cut()]);
    chain.backup.replies([Completion::new().thinking("想二").text("好。").end()]);
    let turn = chain.app.ask("你好").await;
    assert_eq!(told(&turn), json!(["好。", "stop", ["first", "backup"]]));
    assert_eq!(turn.thinking(), "想一想二");
    assert_eq!(chain.backup.asked(1).await.talk(), [("user".to_owned(), "你好".to_owned())]);
}

#[tokio::test]
async fn calls_that_were_complete_are_run_and_the_next_model_goes_on_from_their_results() {
    // A native call is complete when the reply is.
    for paths in [("prompt", "prompt"), ("prompt", "native")] {
        let chain = Chain::with(&[], paths).await;
        let call = Completion::new().text("我查。").text(&call("天气")).text("<tool_call>{\"tool\": \"sea");
        chain.first.replies([call.reply().cut()]);
        chain.backup.replies([Completion::of(["晴。"])]);
        let turn = chain.app.ask("天气？").await;
        assert_eq!(told(&turn), json!(["我查。晴。", "stop", ["first", "backup"]]), "{paths:?}");
        assert_eq!((turn.of("tool_call").len(), turn.of("tool_result").len()), (1, 1), "{paths:?}");
        let request = chain.backup.asked(1).await;
        assert!(request.body["messages"].to_string().contains("天气：第1页"), "{paths:?}");
    }
}

#[tokio::test]
async fn half_a_call_is_not_shown_and_the_model_that_goes_on_may_call() {
    let chain = Chain::start().await;
    chain.first.replies([Completion::new().text("我查。<tool_call>{\"tool\": \"sea").reply().cut()]);
    chain.backup.replies([Completion::of([&*call("天气")]), Completion::of(["晴。"])]);
    let turn = chain.app.ask("天气？").await;
    assert_eq!(told(&turn), json!(["我查。晴。", "stop", ["first", "backup"]]));
    assert_eq!(turn.of("tool_result").len(), 1);
}

#[tokio::test]
async fn half_a_native_call_is_not_run_and_the_model_that_goes_on_may_call() {
    let chain = Chain::with(&[], ("native", "native")).await;
    let cut = Completion::new().text("我查。").call(0, "a", "search_web", "{\"query\":");
    chain.first.replies([cut.reply().cut()]);
    chain.backup.replies([search("b", "天气"), Completion::of(["晴。"])]);
    let turn = chain.app.ask("天气？").await;
    assert_eq!(told(&turn), json!(["我查。晴。", "stop", ["first", "backup"]]));
    assert_eq!(turn.of("tool_result").len(), 1);
}

#[tokio::test]
async fn a_model_that_goes_on_and_breaks_is_followed_by_the_next() {
    let chain = Chain::start().await;
    chain.backup.replies([Completion::new().text("二").reply().cut()]);
    chain.third.replies([Completion::of(["三。"])]);
    let turn = chain.broken_after("一", Reply::reset).await;
    assert_eq!(told(&turn), json!(["一二三。", "stop", ["first", "backup", "third"]]));
    assert_eq!(chain.third.asked(1).await.talk()[1], ("assistant".to_owned(), "一二".to_owned()));
}

#[tokio::test]
async fn when_all_break_the_first_that_passes_is_told_and_the_words_are_kept() {
    let chain = Chain::start().await;
    chain.backup.replies([Completion::new().text("二").reply().cut()]);
    chain.third.replies([overloaded()]);
    let turn = chain.broken_after("一", Reply::reset).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("一二", "upstream_disconnected"));
    assert_eq!(turn.end()["models"], json!(["first", "backup"]));
    assert_eq!(turn.of("error").len() + turn.of("done").len(), 1);
    let stored = chain.stored(&turn).await;
    let expected = json!(["一二", "interrupted", ["first", "backup"]]);
    assert_eq!(json!([stored["content"], stored["status"], stored["models"]]), expected);
}

#[tokio::test]
async fn what_broke_counts_once_by_estimate_and_what_went_on_as_it_was_counted() {
    let chain = Chain::start().await;
    chain.backup.replies([Completion::new().text("四").finish("stop").usage(50, 7).done().reply()]);
    let turn = chain.broken_after("一二三", Reply::reset).await;
    let usage = turn.of("usage")[0].clone();
    assert_eq!(json!([usage["outputTokens"], usage["estimated"]]), json!([3 + 7, true]));
    assert!(usage["inputTokens"].as_u64().unwrap() > 50);
}

#[tokio::test]
async fn f046_words_of_a_model_that_broke_are_not_counted_again_with_those_of_the_next() {
    let chain = Chain::start().await;
    chain.backup.replies([Completion::new().text("四五").finish("stop").done().reply()]);
    let turn = chain.broken_after("一二三", Reply::reset).await;
    assert_eq!(turn.of("usage")[0]["outputTokens"], 3 + 2);
}

#[tokio::test]
async fn a_document_tells_who_wrote_it() {
    let chain = Chain::start().await;
    chain.first.replies([Completion::new().text("前半句").reply().cut()]);
    chain.backup.replies([Completion::of(["，后半句。"])]);
    let document = chain.app.chat_once(&json!({ "message": "你好" })).await.ok();
    assert_eq!(json!([document["content"], document["model"]]), json!(["前半句，后半句。", "first"]));
}
