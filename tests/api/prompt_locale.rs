//! The language and the time zone of prompts.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use support::{Completion, FakeTavily, TestApp};

use crate::search_call;

const CHINESE_START: &str = "你是 Lambda Chat 的智能助手";
const ENGLISH_START: &str = "You are the assistant of Lambda Chat";

/// The zone that is ahead of every other one, so that its date differs from that of the last one for most of the day.
const FIRST_ZONE: &str = "Pacific/Kiritimati";
const LAST_ZONE: &str = "Pacific/Pago_Pago";

fn date_in(zone: &str) -> String {
    Timestamp::now().to_zoned(TimeZone::get(zone).unwrap()).date().to_string()
}

fn weekday_in(zone: &str) -> &'static str {
    let names = ["星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"];
    let weekday = Timestamp::now().to_zoned(TimeZone::get(zone).unwrap()).weekday();
    names[usize::try_from(weekday.to_monday_zero_offset()).unwrap()]
}

fn has_han(text: &str) -> bool {
    text.chars().any(|character| ('\u{4E00}'..='\u{9FFF}').contains(&character))
}

/// The system prompt of the n-th request, counted from 1.
async fn system_prompt(app: &TestApp, number: usize) -> String {
    app.model.wait_for_request(number).await.system_prompt()
}

#[tokio::test]
async fn prompt_language_is_that_of_first_message() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["ok"]));
    for (first, later, start) in [("今天天气？", "And tomorrow?", CHINESE_START), ("Hello", "你好", ENGLISH_START)]
    {
        let before = app.model.requests().len();
        let id = app.send_message(first).await.conversation_id();
        app.follow_up(&id, later).await;
        let prompts = [system_prompt(&app, before + 1).await, system_prompt(&app, before + 2).await];
        assert!(prompts[0].starts_with(start), "{}", prompts[0]);
        assert_eq!(prompts[0], prompts[1], "the prompt stays byte-identical over a conversation");
    }
}

#[tokio::test]
async fn setting_fixes_the_prompt_language() {
    let app = TestApp::start_with(&[("PROMPT_LANGUAGE", "en")]).await;
    app.model.respond_with(|_| Completion::of(["ok"]));
    app.send_message("你好").await;
    assert!(system_prompt(&app, 1).await.starts_with(ENGLISH_START));
}

#[tokio::test]
async fn english_conversation_has_only_english_prompts() {
    let app = TestApp::start().await;
    app.search.respond_with(|body| match body["query"].as_str() {
        Some("down") => FakeTavily::error_reply(500, "down"),
        _ => FakeTavily::search_reply_with(
            "q",
            &json!([{"title": "T", "url": "https://a.example/", "content": "c"}]),
            &Value::Null,
        ),
    });
    app.model.queue_replies([
        Completion::of([search_call("one"), search_call("one")]),
        Completion::of([search_call("down")]),
        Completion::of(["<tool_call>{\"tool\": \"calculator\"}</tool_call>"]),
        Completion::of(["Done."]),
    ]);
    app.send_message("What is new?").await;
    for number in 1..=4 {
        for (role, text) in app.model.wait_for_request(number).await.messages() {
            assert!(!has_han(&text), "{role} of request {number}: {text}");
        }
    }
}

#[tokio::test]
async fn prompt_date_is_that_of_users_time_zone() {
    let app = TestApp::start_with(&[("TIME_ZONE", LAST_ZONE)]).await;
    app.model.respond_with(|_| Completion::of(["ok"]));
    let dates = || [date_in(LAST_ZONE), date_in(FIRST_ZONE)];
    let before = dates();
    app.chat(&json!({ "message": "你好" })).await;
    app.chat(&json!({ "message": "你好", "timeZone": FIRST_ZONE })).await;
    if before != dates() {
        // Midnight passed in one of the zones.
        return;
    }
    for (number, zone) in [(1, LAST_ZONE), (2, FIRST_ZONE)] {
        let expected = format!("今天是 {}，{}（{zone}）。", date_in(zone), weekday_in(zone));
        let prompt = system_prompt(&app, number).await;
        assert!(prompt.contains(&expected), "{expected} is not in {prompt}");
    }
}

#[tokio::test]
async fn unknown_time_zone_is_refused_on_every_route() {
    let app = TestApp::start().await;
    let message = "`timeZone` must be an IANA time zone such as Asia/Shanghai";
    let user = json!([{ "role": "user", "content": "q", "parts": [{ "type": "text", "text": "q" }] }]);
    let bodies: [(&str, Value); 3] = [
        ("/api/chat", json!({ "message": "q", "timeZone": "Mars/Olympus" })),
        ("/api/ui/chat", json!({ "id": "x", "messages": user, "timeZone": "Mars/Olympus" })),
        ("/v1/chat/completions", json!({ "model": "openai", "messages": user, "timeZone": "Mars/Olympus" })),
    ];
    for (route, body) in bodies {
        let response = app.post(route, &body).await;
        assert_eq!(response.status, 400, "{route}");
        assert!(response.text().contains(message), "{route}: {}", response.text());
    }
    assert_eq!(app.model.requests().len(), 0);
}

#[tokio::test]
async fn current_time_defaults_to_users_time_zone() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::of(["<tool_call>{\"tool\": \"current_time\"}</tool_call>"]),
        Completion::of(["ok"]),
    ]);
    app.chat(&json!({ "message": "现在几点？", "timeZone": "Asia/Tokyo" })).await;
    let results = app.model.wait_for_request(2).await.last_message();
    assert!(results.contains("Asia/Tokyo（UTC+09:00）"), "{results}");
}

#[tokio::test]
async fn last_round_states_that_tools_are_off() {
    let app = TestApp::start_with(&[("MAX_TOOL_ROUNDS", "1")]).await;
    app.model.queue_replies([Completion::of([search_call("甲")]), Completion::of(["好。"])]);
    app.send_message("问").await;
    let (first, last) = (app.model.wait_for_request(1).await, app.model.wait_for_request(2).await);
    assert!(last.last_message().ends_with("没有查到的内容请如实说明，不要编造。"), "{}", last.last_message());
    assert_eq!(first.system_prompt(), last.system_prompt(), "tools stay in it, because providers cache it");
}

#[tokio::test]
async fn failed_search_is_presented_as_failure() {
    let app = TestApp::start().await;
    app.search.respond_with(|_| FakeTavily::error_reply(500, "down"));
    app.model.queue_replies([Completion::of([search_call("甲")]), Completion::of(["好。"])]);
    app.send_message("问").await;
    let message = app.model.wait_for_request(2).await.last_message();
    assert!(message.starts_with("搜索失败，没有得到搜索结果：\n\n<search_error>"), "{message}");
    assert!(message.contains("不要编造") && !message.contains("详细回答"), "{message}");
}
