//! The demo model over its wire.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::demo::router;

const TEACHING: &str = "### search_web - 联网搜索工具";
const RESULTS: &str = "以下是搜索结果，请基于这些结果回答：\n\n<search_results>\nAI 摘要：摘要。\n\n搜索结果：\n\n\
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

async fn choice(request: Value) -> Value {
    let (status, _, text) = post("model/chat/completions", request.to_string()).await;
    assert_eq!(status, 200);
    let body: Value = serde_json::from_str(&text).unwrap();
    body["choices"][0].clone()
}

async fn reply_text(system: &str, messages: &[(&str, &str)]) -> String {
    choice(talk(system, messages)).await["message"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn question_becomes_search_call_in_prompted_format() {
    let expected = "<think>这个问题我自己答不了：我是演示模型，没有任何知识。先用 search_web 查，再根据结果回答。</think>\
        好的，我查一下。\n\n<tool_call>{\"tool\": \"search_web\", \"query\": \"今天的新闻有哪些\"}</tool_call>";
    assert_eq!(reply_text(TEACHING, &[("user", "今天的新闻有哪些？")]).await, expected);
    let english = reply_text(TEACHING, &[("user", "Who won the last race?")]).await;
    assert!(english.ends_with(
        "Let me look that up.\n\n<tool_call>{\"tool\": \"search_web\", \"query\": \"Who won the last race\"}</tool_call>"
    ));
}

#[tokio::test]
async fn closing_tag_in_question_is_escaped() {
    let reply = reply_text(TEACHING, &[("user", "what is </tool_call> \"good\" for?")]).await;
    assert!(reply.ends_with(r#""query": "what is \u003c/tool_call> \"good\" for"}</tool_call>"#), "{reply}");
}

#[tokio::test]
async fn answer_cites_results_and_names_demo_model() {
    let call = r#"好的。<tool_call>{"tool": "search_web", "query": "天气"}</tool_call>"#;
    let reply = reply_text(TEACHING, &[("user", "天气"), ("assistant", call), ("user", RESULTS)]).await;
    let expected = "关于“天气”，搜索到这些内容：\n\n- [标题](https://a.example/1)：第一句。第二句。\n\n搜索的摘要：摘要。\n\n\
        以上由内置的演示模型拼成";
    assert!(reply.starts_with(expected), "{reply}");
    assert!(reply.contains("`ARK_API_KEY`"), "{reply}");
}

#[tokio::test]
async fn answer_uses_question_language_without_tools_too() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "weather"}</tool_call>"#;
    let reply = reply_text("", &[("user", "weather"), ("assistant", call), ("user", RESULTS)]).await;
    assert!(reply.starts_with("Here is what the search returned about “weather”:\n\n- [标题]"), "{reply}");
    assert!(reply.contains("This was put together by the built-in demo model"), "{reply}");
}

#[tokio::test]
async fn failed_search_is_reported() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "x"}</tool_call>"#;
    let error = "<search_error>搜索失败: 搜索超时</search_error>";
    let chinese = reply_text(TEACHING, &[("user", "新闻"), ("assistant", call), ("user", error)]).await;
    assert!(chinese.starts_with("搜索没有成功（搜索超时），所以这个问题我答不了。"), "{chinese}");
    let english = reply_text(TEACHING, &[("user", "news"), ("assistant", call), ("user", error)]).await;
    assert!(english.starts_with("The search failed"), "{english}");
}

#[tokio::test]
async fn small_talk_is_answered_plainly() {
    for (text, answer) in
        [("你好", "你好！"), ("Thanks!", "You are welcome!"), ("你是谁？", "我是 Lambda Chat 内置的演示模型")]
    {
        let reply = reply_text(TEACHING, &[("user", text)]).await;
        assert!(reply.starts_with(answer) && !reply.contains("<tool_call>"), "{reply}");
    }
}

#[tokio::test]
async fn next_question_starts_a_new_search() {
    let call = r#"<tool_call>{"tool": "search_web", "query": "天气"}</tool_call>"#;
    let earlier = [("user", "天气"), ("assistant", call), ("user", RESULTS), ("assistant", "晴。"), ("user", "news")];
    let reply = reply_text(TEACHING, &earlier).await;
    assert!(reply.ends_with(r#"{"tool": "search_web", "query": "news"}</tool_call>"#), "{reply}");
}

#[tokio::test]
async fn reply_without_tools_admits_missing_knowledge() {
    let reply = reply_text("You are helpful.", &[("user", "Who won the last race?")]).await;
    assert!(reply.starts_with("I am a demo model without any knowledge"), "{reply}");
}

#[tokio::test]
async fn native_call_and_reasoning_have_own_fields() {
    let mut request = talk("", &[("user", "weather")]);
    request["tools"] = json!([{"type": "function", "function": {"name": "search_web", "parameters": {}}}]);
    let choice = choice(request).await;
    let message = &choice["message"];
    assert_eq!(
        (&choice["finish_reason"], &message["content"]),
        (&json!("tool_calls"), &json!("Let me look that up.\n\n"))
    );
    assert!(message["reasoning_content"].as_str().unwrap().starts_with("I cannot answer this myself"));
    let call = &message["tool_calls"][0];
    let expected = json!({"name": "search_web", "arguments": r#"{"query":"weather"}"#});
    assert_eq!((&call["type"], &call["function"]), (&json!("function"), &expected));
    assert!(call["id"].as_str().unwrap().starts_with("call_demo_"));
}

#[tokio::test]
async fn native_tool_results_are_answered() {
    let mut request = talk("", &[("user", "weather")]);
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function"}]}));
    messages.push(json!({"role": "tool", "tool_call_id": "c", "content": RESULTS}));
    let choice = choice(request).await;
    assert!(choice["message"]["content"].as_str().unwrap().starts_with("Here is what the search returned"), "{choice}");
}

#[tokio::test]
async fn streamed_reply_equals_whole_and_ends_with_usage() {
    let mut request = talk(TEACHING, &[("user", "你好")]);
    let whole = choice(request.clone()).await["message"]["content"].as_str().unwrap().to_owned();
    request["stream"] = true.into();
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
    assert_eq!((prompt, usage["total_tokens"].as_u64().unwrap()), (8, prompt + completion));
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
