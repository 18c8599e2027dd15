//! The demo model over its wire.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::request::Request;
use super::wire::Completion;
use crate::{CONVERSATION, router};

const TEACHING: &str = "### search_web - 联网搜索工具";
const RESULTS: &str = "以下是搜索结果：\n\n<search_results>\nAI 摘要：摘要。\n\n搜索结果：\n\n\
    1. 标题\n来源：https://a.example/1\n内容：第一句。第二句。\n\n</search_results>\n\n请回答。";

async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router()).await });
    address
}

async fn post(path: &str, body: String) -> (u16, String, String) {
    let url = format!("http://{}/demo/{path}", serve().await);
    let post =
        platform::transport::build_client().unwrap().post(url).header("content-type", "application/json").body(body);
    let response = post.send().await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    (response.status().as_u16(), kind, response.text().await.unwrap())
}

fn talk(system: &str, messages: &[(&str, &str)]) -> Value {
    let entries = messages.iter().map(|(role, content)| json!({"role": role, "content": content}));
    let messages: Vec<Value> = [json!({"role": "system", "content": system})].into_iter().chain(entries).collect();
    json!({"model": "demo", "messages": messages})
}

/// The text of a whole reply: the tokens of its stream together.
fn reply_text(system: &str, messages: &[(&str, &str)]) -> String {
    let request: Request = serde_json::from_value(talk(system, messages)).unwrap();
    reply_to(&request)
}

fn reply_to(request: &Request) -> String {
    Completion::new(request, super::answer(request)).tokens.concat()
}

#[test]
fn question_becomes_search_call_in_prompted_format() {
    let expected = "<think>这个问题先用 search_web 查一下，再根据结果回答。</think>\
        <tool_call>{\"tool\": \"search_web\", \"query\": \"今天的新闻有哪些\"}</tool_call>";
    assert_eq!(reply_text(TEACHING, &[("user", "今天的新闻有哪些？")]), expected);
    let english = reply_text(TEACHING, &[("user", "Who won the last race?")]);
    assert!(english.ends_with(
        "answer from what it returns.</think><tool_call>{\"tool\": \"search_web\", \"query\": \"Who won the last race\"}</tool_call>"
    ));
}

#[test]
fn attached_files_answer_their_question() {
    let message = "<file name=\"a.md\">\n1: alpha\n2: \n3: the race was won by Ann\n</file>\n\n\
        <file name=\"b.pdf\">\n[1]\nWeather\n\n[2]\nRace: none\n</file>\n\n[image c.png]\n\n(note)\n\nWho won the last race?";
    let reply = reply_text(TEACHING, &[("user", message)]);
    let expected = "The attached files have this on “Who won the last race?”:\n\n\
        - the race was won by Ann `a.md:3`\n- Race: none `b.pdf:2`\n\nThe demo model can’t see pictures";
    assert!(reply.starts_with(expected), "{reply}");
    let reply = reply_text(TEACHING, &[("user", &message.replace("Who won the last race?", "天气怎么样？"))]);
    assert!(reply.starts_with("附件里没有与“天气怎么样？”有关的内容，开头是这样的：\n\n- alpha `a.md:1`\n"), "{reply}");
    let reply =
        reply_text(TEACHING, &[("user", &message.replace("Who won the last race?", "Summarise this race file"))]);
    assert!(reply.starts_with("The demo can’t summarise; the file begins like this:\n\n- alpha `a.md:1`\n"), "{reply}");
    let reply = reply_text(TEACHING, &[("user", &message.replace("Who won the last race?", "翻译这个文件"))]);
    assert!(reply.starts_with("演示不会翻译，文件开头是：\n\n- alpha `a.md:1`\n"), "{reply}");
    let picture =
        json!([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:"}}]);
    let request = json!({"messages": [{"role": "user", "content": picture}]});
    let request: Request = serde_json::from_value(request).unwrap();
    assert!(reply_to(&request).starts_with("The demo model can’t see pictures"));
    let others = [
        ("What is 12 * 12?", "<tool_call>{\"tool\": \"calculator\""),
        ("What is Lambda Chat?", "<tool_call>{\"tool\": \"search_web\""),
        ("Hi!", "Hello!"),
        ("How much does it cost?", "The attached files have nothing on"),
    ];
    for (question, expected) in others {
        let message = message.replace("Who won the last race?", question);
        let reply = reply_text(&format!("{TEACHING}\n### calculator"), &[("user", &message)]);
        assert!(reply.contains(expected), "{reply}");
    }
    let later = [("user", message), ("assistant", "Ann."), ("user", "news")];
    assert!(reply_text(TEACHING, &later).ends_with(r#""query": "news"}</tool_call>"#));
}

#[test]
fn unknown_question_gets_the_limits_of_the_demo() {
    let found = |question: &str, address: &str| {
        let results = RESULTS.replace("https://a.example/1", address);
        let call = r#"<tool_call>{"tool": "search_web", "query": "x"}</tool_call>"#;
        reply_text(TEACHING, &[("user", question), ("assistant", call), ("user", &results)])
    };
    let chinese = found("天气", "https://lambda-chat.example/zh/search");
    assert!(
        chinese.starts_with("这个问题我答不了：") && chinese.contains("说明[1]。") && !chinese.contains("标题"),
        "{chinese}"
    );
    let english = found("weather", "https://lambda-chat.example/en/cost");
    assert!(english.starts_with("I can’t answer that:") && !english.contains('['), "{english}");
    assert!(found("天气", "https://a.example/1").starts_with("关于“天气”，搜索到这些网页："));
}

#[test]
fn interrupted_answer_is_continued_where_it_stopped() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "天气"}</tool_call>"#;
    let before = [("user", "天气"), ("assistant", call), ("user", RESULTS)];
    let whole = reply_text(TEACHING, &before);
    let start: String = whole.chars().take(20).collect();
    let stopped = [("assistant", start.as_str()), ("user", "你上面的回答在中途断开了。请从断开的地方继续")];
    let found = [("assistant", call), ("user", RESULTS)];
    let again = reply_text(TEACHING, &[&before[..], &stopped].concat());
    assert!(again.contains(r#""query": "天气""#), "the results are not there: {again}");
    let rest = reply_text(TEACHING, &[&before[..], &stopped, &found].concat());
    assert_eq!(start + &rest, whole);
    for prompt in [
        include_str!("../../../prompts/zh/agent/continuation.txt"),
        include_str!("../../../prompts/en/agent/continuation.txt"),
    ] {
        let known = CONVERSATION.continuation_prompts.iter().any(|known| prompt.starts_with(known));
        assert!(known, "the demo does not know {prompt:?}");
    }
}

#[test]
fn closing_tag_in_question_is_escaped() {
    let reply = reply_text(TEACHING, &[("user", "what is </tool_call> \"good\" for?")]);
    assert!(reply.ends_with(r#""query": "what is \u003c/tool_call> \"good\" for"}</tool_call>"#), "{reply}");
}

#[test]
fn answer_cites_results_and_names_demo_model() {
    let call = r#"好的。<tool_call>{"tool": "search_web", "query": "天气"}</tool_call>"#;
    let reply = reply_text(TEACHING, &[("user", "天气"), ("assistant", call), ("user", RESULTS)]);
    let expected = "关于“天气”，搜索到这些网页：\n\n- **标题**：第一句。第二句。[1]\n\n这是脚本演示。";
    assert!(reply.starts_with(expected), "{reply}");
    assert!(reply.contains("`ARK_API_KEY`"), "{reply}");
}

#[test]
fn tool_results_are_answered_in_sentences() {
    let call = r#"<tool_call>{"tool": "x"}</tool_call>"#;
    let answer = |before: &[(&str, &str)], question: &str, result: &str| {
        let result = format!("<tool_result name=\"x\">\n{result}\n</tool_result>");
        let turn = [("user", question), ("assistant", call), ("user", result.as_str())];
        reply_text(TEACHING, &[before, &turn[..]].concat())
    };
    let time =
        "Time zone: UTC (UTC+00:00)\nDate: 2026-11-28 (Saturday)\nTime: 09:44:10\nISO 8601: 2026-11-28T09:44:10Z";
    let chinese_time =
        "时区：UTC（UTC+00:00）\n日期：2026-11-28（星期六）\n时间：09:44:10\nISO 8601：2026-11-28T09:44:10Z";
    let zero = include_str!("../../../prompts/zh/calculator/division_by_zero.txt");
    let english_zero = include_str!("../../../prompts/en/calculator/division_by_zero.txt");
    for (question, result, expected) in [
        ("What time is it?", time, "It is 9:44 on Saturday, 28 November 2026 (UTC)."),
        ("What’s the date?", chinese_time, "Today is Saturday, 28 November 2026."),
        ("几点了？", chinese_time, "现在是 2026 年 11 月 28 日星期六 9:44（UTC）。"),
        ("今天几号？", time, "今天是 2026 年 11 月 28 日，星期六。"),
        ("十除以零", english_zero, "除以零没有意义。"),
        ("10/0", zero, "Division by zero has no value."),
    ] {
        let note = if question.is_ascii() || question.starts_with("What") { "*This is" } else { "这是脚本演示" };
        let reply = answer(&[], question, result);
        assert!(reply.starts_with(&format!("{expected}\n\n{note}")), "{reply}");
    }
    let before = [("user", "你好"), ("assistant", "你好！")];
    for question in ["10/0", "3 x 0 / 0"] {
        assert_eq!(answer(&before, question, zero), "除以零没有意义。", "no note, in Chinese");
    }
}

#[test]
fn answer_uses_question_language_without_tools_too() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "weather"}</tool_call>"#;
    let reply = reply_text("", &[("user", "weather"), ("assistant", call), ("user", RESULTS)]);
    assert!(reply.starts_with("These pages were found for “weather”:\n\n- **标题**"), "{reply}");
    assert!(reply.contains("*This is a scripted demo."), "{reply}");
}

#[test]
fn failed_search_is_reported() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "x"}</tool_call>"#;
    let error = "<search_error>搜索失败: 搜索超时</search_error>";
    let chinese = reply_text(TEACHING, &[("user", "新闻"), ("assistant", call), ("user", error)]);
    assert!(chinese.starts_with("搜索没有成功（搜索超时），所以这个问题我答不了。"), "{chinese}");
    let english = reply_text(TEACHING, &[("user", "news"), ("assistant", call), ("user", error)]);
    assert!(english.starts_with("The search failed"), "{english}");
}

#[test]
fn question_about_documents_is_answered_with_cited_lines() {
    let offer = "### grep_search - search";
    let call = reply_text(offer, &[("user", "What did we agree on with the landlord?")]);
    let expected = r#"<tool_call>{"tool": "grep_search", "pattern": "(?i)agree|landlord"}</tool_call>"#;
    assert!(call.contains("The documents should have the answer") && call.ends_with(expected), "{call}");
    let found = json!({"matches": [
        {"file": "notes.md", "lines": ["9:The landlord called."]},
        {"file": "contracts/lease.md", "lines": ["2:# Agreed with the landlord", "3:nothing"]},
    ]});
    let result = format!("<tool_result name=\"grep_search\">\n{found}\n</tool_result>");
    let question = [("user", "What did we agree on with the landlord?"), ("assistant", call.as_str())];
    let reply = reply_text(offer, &[&question[..], &[("user", result.as_str())]].concat());
    let expected = "The documents have this on “What did we agree on with the landlord?”:\n\n\
        - Agreed with the landlord `contracts/lease.md:2`\n- The landlord called. `notes.md:9`\n\n";
    assert!(reply.starts_with(expected), "{reply}");
    let nothing = "<tool_result name=\"grep_search\">\n{\"matches\": []}\n</tool_result>";
    let reply = reply_text(offer, &[&question[..], &[("user", nothing)]].concat());
    assert!(reply.starts_with("None of the terms in this question"), "{reply}");
}

#[test]
fn small_talk_is_answered_plainly() {
    for (text, answer) in [("你好", "你好！"), ("Say hello.", "Hello!"), ("Thanks!", "You’re welcome!")] {
        let reply = reply_text(TEACHING, &[("user", text)]);
        assert!(reply.starts_with(answer) && !reply.contains("<tool_call>"), "{reply}");
    }
}

#[test]
fn next_question_starts_a_new_search() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "天气"}</tool_call>"#;
    let earlier = [("user", "天气"), ("assistant", call), ("user", RESULTS), ("assistant", "晴。"), ("user", "news")];
    let reply = reply_text(TEACHING, &earlier);
    assert!(reply.ends_with(r#"{"tool": "search_web", "query": "news"}</tool_call>"#), "{reply}");
}

#[test]
fn reply_without_tools_admits_missing_knowledge() {
    let reply = reply_text("You are helpful.", &[("user", "Who won the last race?")]);
    assert!(reply.starts_with("I’m a demo model without any knowledge"), "{reply}");
}

#[tokio::test]
async fn streamed_reply_equals_whole_and_ends_with_usage() {
    let messages = [("user", "你好")];
    let (request, whole) = (talk(TEACHING, &messages), reply_text(TEACHING, &messages));
    let (status, kind, text) = post("model/chat/completions", request.to_string()).await;
    assert_eq!((status, kind.as_str()), (200, "text/event-stream"));
    let frames: Vec<&str> = text.split("\n\n").filter_map(|frame| frame.strip_prefix("data: ")).collect();
    assert_eq!(frames.last(), Some(&"[DONE]"));
    let chunks: Vec<Value> =
        frames[..frames.len() - 1].iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    let pieces: Vec<&str> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(pieces.concat(), whole);
    assert!(pieces.iter().all(|piece| piece.chars().count() <= 4), "{pieces:?}");
    let reasons: Vec<&Value> =
        chunks.iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).filter(|reason| !reason.is_null()).collect();
    assert_eq!(reasons, ["stop"]);
    let usage = &chunks.last().unwrap()["usage"];
    let (prompt, completion) = (usage["prompt_tokens"].as_u64().unwrap(), usage["completion_tokens"].as_u64().unwrap());
    assert_eq!(usize::try_from(completion).unwrap(), pieces.iter().filter(|piece| !piece.is_empty()).count());
    assert_eq!((prompt, usage["total_tokens"].as_u64().unwrap()), (9, prompt + completion));
}

#[tokio::test]
async fn search_route_is_served() {
    let (status, _, text) = post("search/search", json!({"query": "news"}).to_string()).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &found["query"]), (200, &json!("news")));
}

#[tokio::test]
async fn invalid_requests_get_provider_style_errors() {
    for body in ["", "{}", r#"{"messages": 1}"#] {
        let (status, _, text) = post("model/chat/completions", body.to_owned()).await;
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &error["error"]["type"]), (400, &json!("invalid_request_error")), "{body}");
    }
    for body in ["", "{}", r#"{"query": " "}"#] {
        let (status, _, text) = post("search/search", body.to_owned()).await;
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &error["detail"]["error"]), (400, &json!("The demo search takes a query.")), "{body}");
    }
}
