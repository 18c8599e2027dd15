//! Whole prompts as models receive them, for people to read, in `snapshots/`. `INSTA_UPDATE=always` writes them again.

use serde_json::{Value, json};
use support::{Completion, FakeModel, FakeTavily, ModelRequest, NativeApp, Reply, TestApp};

/// A user's questions in one language.
struct Questions {
    language: &'static str,
    sum: &'static str,
    search: &'static str,
    query: &'static str,
}

const QUESTIONS: [Questions; 2] = [
    Questions {
        language: "zh", sum: "1234 乘以 5678 等于多少？", search: "今天有什么新闻？", query: "今日要闻"
    },
    Questions { language: "en", sum: "What is 1234 times 5678?", search: "What is in the news?", query: "top news" },
];

fn text_call(name: &str, arguments: &Value) -> Reply {
    let mut call = json!({ "tool": name });
    call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    Completion::of([format!("<tool_call>{call}</tool_call>")])
}

fn sum_call(factor: u32) -> Reply {
    text_call("calculator", &json!({ "expression": format!("1234 * {factor}") }))
}

/// Compares the last request of a model with a snapshot.
async fn assert_last_prompt(name: &str, questions: &Questions, model: &FakeModel, count: usize) {
    let text = stable(&render(&model.wait_for_request(count).await));
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("{name}_{}", questions.language), text));
}

/// A request with the text of its messages unescaped.
fn render(request: &ModelRequest) -> String {
    let mut parts = Vec::new();
    for message in request.body["messages"].as_array().unwrap() {
        let (role, content) = (message["role"].as_str().unwrap(), message["content"].as_str().unwrap_or_default());
        let calls = message.get("tool_calls").map(|calls| format!("\ntool_calls: {calls}")).unwrap_or_default();
        parts.push(format!("######## {role}\n{content}{calls}"));
    }
    for field in ["tools", "tool_choice"] {
        let value = request.body.get(field).map(|value| serde_json::to_string_pretty(value).unwrap());
        parts.extend(value.map(|value| format!("######## {field}\n{value}")));
    }
    parts.join("\n\n")
}

/// The text with a fixed date.
fn stable(text: &str) -> String {
    let date = |text: &str| {
        let is_date = |at: &usize| {
            let part = text.as_bytes().get(*at..at + 10);
            part.is_some_and(|part| {
                part.iter()
                    .enumerate()
                    .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() })
            })
        };
        (0..text.len()).find(is_date).map(|at| text[at..at + 10].to_owned())
    };
    let mut stable = text.to_owned();
    if let Some(today) = date(text) {
        stable = stable.replace(&today, "2026-01-02");
    }
    for weekday in ["一", "二", "三", "四", "六", "日"] {
        stable = stable.replace(&format!("，星期{weekday}（"), "，星期五（");
    }
    for weekday in ["Monday", "Tuesday", "Wednesday", "Thursday", "Saturday", "Sunday"] {
        stable = stable.replace(&format!("Today is {weekday},"), "Today is Friday,");
    }
    stable
}

#[tokio::test]
async fn text_path_prompt_matches_snapshot() {
    for questions in &QUESTIONS {
        let app = TestApp::start().await;
        app.model.queue_replies([sum_call(5678), Completion::of(["7006652"])]);
        app.send_message(questions.sum).await;
        assert_last_prompt("text_path", questions, &app.model, 2).await;
    }
}

#[tokio::test]
async fn native_path_prompt_matches_snapshot() {
    for questions in &QUESTIONS {
        let app = NativeApp::start().await;
        let call = Completion::new().call(0, "id-1", "calculator", "{\"expression\":\"1234 * 5678\"}");
        app.model.queue_replies([call.finish("tool_calls").done().reply(), Completion::of(["7006652"])]);
        app.send_message(questions.sum).await;
        assert_last_prompt("native_path", questions, &app.model, 2).await;
    }
}

#[tokio::test]
async fn last_round_prompt_matches_snapshot() {
    for questions in &QUESTIONS {
        let app = TestApp::start().await;
        app.model.queue_replies([sum_call(1), sum_call(2), sum_call(3), Completion::of(["7006652"])]);
        app.send_message(questions.sum).await;
        assert_last_prompt("last_round", questions, &app.model, 4).await;
    }
}

#[tokio::test]
async fn correction_prompt_matches_snapshot() {
    for questions in &QUESTIONS {
        let app = TestApp::start().await;
        let unreadable = Completion::of(["<tool_call>{\"tool\": \"calculator\", \"expression\": \"1234"]);
        app.model.queue_replies([unreadable, Completion::of(["7006652"])]);
        app.send_message(questions.sum).await;
        assert_last_prompt("correction", questions, &app.model, 2).await;
    }
}

#[tokio::test]
async fn failed_search_prompt_matches_snapshot() {
    for questions in &QUESTIONS {
        let app = TestApp::start().await;
        app.search.respond_with(|_| FakeTavily::error_reply(401, "no"));
        let search = text_call("search_web", &json!({ "query": questions.query }));
        app.model.queue_replies([search, Completion::of(["?"])]);
        app.send_message(questions.search).await;
        assert_last_prompt("failed_search", questions, &app.model, 2).await;
    }
}

#[tokio::test]
async fn prompt_with_instructions_matches_snapshot() {
    for questions in &QUESTIONS {
        let app = NativeApp::start().await;
        let wishes = if questions.language == "zh" { "回答尽量简短。" } else { "Keep it short." };
        let (headers, body) = ([("content-type", "application/json")], json!({ "text": wishes }).to_string());
        assert_eq!(app.send("PUT", "/api/me/instructions", &headers, body).await.status, 204);
        app.model.queue_replies([Completion::of(["7006652"])]);
        app.send_message(questions.sum).await;
        assert_last_prompt("instructions", questions, &app.model, 1).await;
    }
}
