//! Whole replies that are of no use: inventions, announcements, calls without tools, and reasoning without an end. Each
//! conversation runs with text calls and with native calls.

use serde_json::{Value, json};
use support::{Completion, FakeModel, FakeTavily, Gate, ModelRequest, NativeApp, Reply, TestApp, search_reply};

use crate::open_thinking::read;
use crate::search_call;

/// What came of one turn.
struct Outcome {
    content: String,
    thinking: String,
    stored: Value,
    requests: Vec<ModelRequest>,
    queries: Vec<String>,
}

impl Outcome {
    async fn of(app: &TestApp, model: &FakeModel, question: &str) -> Self {
        let turn = app.send_message(question).await;
        let (content, thinking) = read(&turn);
        let conversation = app.read_finished_conversation(&turn.conversation_id()).await;
        let stored = conversation["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(stored["content"], content, "stored and streamed are equal");
        Self { content, thinking, stored, requests: model.requests(), queries: app.search.queries() }
    }

    fn last_request(&self) -> &ModelRequest {
        self.requests.last().unwrap()
    }
}

/// Runs a turn whose model sends these replies.
async fn run(is_native: bool, settings: &[(&str, &str)], question: &str, replies: Vec<Reply>) -> Outcome {
    if is_native {
        let app = NativeApp::start_with(settings).await;
        app.model.queue_replies(replies);
        Outcome::of(&app.app, &app.model, question).await
    } else {
        let app = TestApp::start_with(settings).await;
        app.model.queue_replies(replies);
        Outcome::of(&app, &app.model, question).await
    }
}

fn call(is_native: bool, query: &str) -> Reply {
    if is_native { search_reply("a", query) } else { Completion::of([search_call(query)]) }
}

/// A reply that arrives by single characters.
fn by_characters(text: &str) -> Reply {
    Completion::of(text.chars().map(String::from))
}

#[tokio::test]
async fn f057_report_without_call_is_never_shown() {
    for is_native in [false, true] {
        for (invention, shown) in [
            ("根据搜索结果，营收 500 亿 [1]（来源：https://fake.example）", ""),
            ("好的。\n根据搜索结果：营收 500 亿。", "好的。\n"),
            ("According to the search results, revenue was 500 billion.", ""),
            ("Tool result: {\"revenue\": 500}", ""),
        ] {
            let replies = vec![by_characters(invention), call(is_native, "特斯拉"), Completion::of(["281 亿 [1]。"])];
            let outcome = run(is_native, &[], "特斯拉的营收？", replies).await;
            assert_eq!(outcome.content.replace("\n\n", "\n"), format!("{shown}281 亿 [1]。"), "{invention}");
            assert_eq!((outcome.thinking.as_str(), outcome.queries), ("", vec!["特斯拉".to_owned()]));
            assert!(outcome.requests[1].last_message().contains("工具并没有执行"));
            for request in &outcome.requests {
                assert!(!request.body["messages"].to_string().contains("500"), "{invention}");
            }
        }
    }
}

#[tokio::test]
async fn f057_cited_claim_without_source_is_no_answer() {
    for is_native in [false, true] {
        let replies = vec![
            by_characters("特斯拉营收 500 亿 [1]。同比增长 [2]。"),
            call(is_native, "特斯拉"),
            Completion::of(["281 亿 [1]。"]),
        ];
        let outcome = run(is_native, &[], "营收？", replies).await;
        assert_eq!(outcome.content, "281 亿 [1]。");
        assert_eq!(outcome.thinking.trim(), "特斯拉营收 500 亿", "what was shown by then is no answer");
    }
}

#[tokio::test]
async fn second_invention_is_shown_as_it_is() {
    for is_native in [false, true] {
        let invention = || Completion::of(["根据搜索结果，营收 500 亿。"]);
        let outcome = run(is_native, &[], "营收？", vec![invention(), invention()]).await;
        assert_eq!((outcome.content.as_str(), outcome.requests.len()), ("根据搜索结果，营收 500 亿。", 2));
    }
}

#[tokio::test]
async fn quoted_reports_and_citations_are_answers() {
    for is_native in [false, true] {
        for (question, answer) in [
            ("概括：[1] 营收 281 亿", "营收是 281 亿 [1]。"),
            ("把“根据搜索结果”译成英文", "Based on the search results: that is it."),
            ("用 JSON 回答", "{\"a\": \"根据搜索结果，营收 [1]。\"}"),
            ("写代码", "```\n// 根据搜索结果，\nlist[1].\n```"),
            ("范围？", "取值范围是 [0, 1]，坐标 [3]。"),
        ] {
            let outcome = run(is_native, &[], question, vec![by_characters(answer)]).await;
            assert_eq!((outcome.content.as_str(), outcome.requests.len()), (answer, 1), "{question}");
        }
    }
}

#[tokio::test]
async fn ordinary_answer_streams_while_it_is_checked() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("根据规定").wait(&gate).text("，如此。").end()]);
    let mut turn = app.open(&json!({ "message": "问" })).await;
    assert_eq!(turn.read_until("content").await["content"], "根据规定");
    gate.open();
    turn.read_to_end().await;
}

#[tokio::test]
async fn f048_call_with_tools_off_gets_one_more_request() {
    for is_native in [false, true] {
        let replies = vec![call(is_native, "甲"), call(is_native, "乙"), Completion::of(["答案。"])];
        let outcome = run(is_native, &[("MAX_TOOL_ROUNDS", "1")], "问", replies).await;
        assert_eq!((outcome.content.as_str(), outcome.queries.len(), outcome.requests.len()), ("答案。", 1, 3));
        let last = outcome.last_request();
        assert!(last.last_message().ends_with("没有查到的内容请如实说明，不要编造。"), "{}", last.last_message());
        assert!(last.body.get("tools").is_none(), "tools that are off are not offered again");
    }
}

#[tokio::test]
async fn f048_list_instead_of_an_answer_is_short() {
    let app = NativeApp::start_with(&[("MAX_TOOL_ROUNDS", "2")]).await;
    app.search.respond_with(|body| {
        let query = body["query"].as_str().unwrap();
        let page = |n: u32| {
            json!({ "title": format!("{query}{n}"), "url": format!("https://{n}.example/{query}"), "content": "内容",
                "score": 0.9, "raw_content": null })
        };
        FakeTavily::search_reply_with(query, &(0..10).map(page).collect::<Value>(), &Value::Null)
    });
    app.model.queue_replies(["a", "b", "c", "d"].map(|query| search_reply(query, query)));
    let turn = app.send_message("问").await;
    let content = turn.content();
    let lines: Vec<&str> = content.lines().filter(|line| line.contains("](")).collect();
    assert_eq!(lines.len(), 10, "{lines:?}");
    assert!(lines[0].contains("[a0]") && lines[1].contains("[b0]"), "the best of each search: {lines:?}");
    assert_eq!((turn.finish_reason(), app.model.requests().len()), ("tool_limit", 4));
}

#[tokio::test]
async fn announcement_without_call_is_followed_by_one() {
    for is_native in [false, true] {
        for announcement in ["好的，我来搜索…请稍等", "Let me look that up for you.", "[search_web: 营收]"]
        {
            let replies = vec![Completion::of([announcement]), call(is_native, "营收"), Completion::of(["281 亿。"])];
            let outcome = run(is_native, &[], "营收？", replies).await;
            assert!(outcome.content.starts_with(announcement) && outcome.content.ends_with("281 亿。"));
            assert_eq!(outcome.queries, ["营收"]);
            let correction = &outcome.requests[1];
            assert!(
                correction.last_message().starts_with("你上一条回复没有调用工具。"),
                "{}",
                correction.last_message()
            );
            let replies = vec![Completion::of([announcement]), Completion::of([announcement])];
            let outcome = run(is_native, &[], "营收？", replies).await;
            assert_eq!(outcome.requests.len(), 2, "it is requested once");
        }
        let outcome = run(is_native, &[], "翻译：让我搜索一下", vec![Completion::of(["Let me search."])]).await;
        assert_eq!((outcome.content.as_str(), outcome.requests.len()), ("Let me search.", 1));
    }
}

#[tokio::test]
async fn call_in_closed_reasoning_is_requested_again() {
    for is_native in [false, true] {
        for rest in ["", "好的，让我查一下。"] {
            let reply = Completion::of([format!("<think>{}</think>{rest}", search_call("营收"))]);
            let replies = vec![reply, call(is_native, "营收"), Completion::of(["281 亿。"])];
            let outcome = run(is_native, &[], "营收？", replies).await;
            assert_eq!(outcome.content.replace('\n', ""), format!("{rest}281 亿。"));
            assert_eq!(outcome.queries, ["营收"]);
        }
    }
}

#[tokio::test]
async fn reasoning_without_end_is_the_answer() {
    for is_native in [false, true] {
        let outcome = run(is_native, &[], "几点？", vec![Completion::of(["<think>现在", "是三点。"])]).await;
        assert_eq!((outcome.content.as_str(), outcome.requests.len()), ("现在是三点。", 1));
        assert_eq!(outcome.stored["thinking"].as_str().unwrap_or_default(), "", "it is stored once");
    }
}
