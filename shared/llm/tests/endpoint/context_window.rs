//! The context window of a model at Ollama, and that each request contains it.

use std::future::ready;
use std::time::{Duration, SystemTime};

use llm::{ModelClient, Models};
use platform::settings::Settings;
use serde_json::{Value, json};

use crate::server::{Answer, Server, far_deadline, hello_prompt, read_reply};

fn ollama(server: &Server, more: &[(&str, &str)]) -> ModelClient {
    let mut settings = Settings::from_pairs([("OLLAMA_API_URL", &*server.root), ("OLLAMA_MODEL", "qwen3:8b")]);
    for (name, value) in more {
        settings.set(*name, *value);
    }
    Models::from_settings(&settings, platform::transport::build_client().unwrap())
        .unwrap()
        .get("local")
        .unwrap()
        .clone()
}

fn show(length: u64) -> Answer {
    let info = json!({"general.architecture": "qwen3", "qwen3.context_length": length});
    Answer::json(200, &json!({"capabilities": ["completion", "tools"], "model_info": info}).to_string())
}

fn line() -> Answer {
    let line = json!({"message": {"role": "assistant", "content": "hello"}, "done": true, "done_reason": "stop"});
    Answer::streaming("application/x-ndjson").bytes(format!("{line}\n").as_bytes()).end()
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

/// The `num_ctx` of two requests after a probe.
async fn requested_windows(shown: Answer, more: &[(&str, &str)]) -> Vec<Value> {
    let server = Server::start([shown, line()]).await;
    let client = ollama(&server, more);
    client.probe_tool_support(now(), ready(None)).await;
    for _ in 0..2 {
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, None);
    }
    let chats = server.requests().into_iter().filter(|request| request.line == "POST /api/chat");
    let windows: Vec<Value> = chats.map(|request| request.body["options"]["num_ctx"].clone()).collect();
    assert_eq!(windows, vec![json!(client.context_tokens()); 2], "prompts are held to the requested window");
    windows
}

#[tokio::test(start_paused = true)]
async fn every_request_contains_the_shown_window() {
    assert_eq!(requested_windows(show(8_192), &[]).await[0], 8_192);
    assert_eq!(requested_windows(show(40_960), &[]).await[0], 16_384);
}

#[tokio::test(start_paused = true)]
async fn setting_and_option_change_the_requested_window() {
    let setting = ("OLLAMA_MAX_CONTEXT_TOKENS", "32768");
    assert_eq!(requested_windows(show(40_960), &[setting]).await[0], 32_768);
    let option = ("MODEL_OPTIONS", r#"{"local":{"contextTokens":24000}}"#);
    assert_eq!(requested_windows(show(40_960), &[setting, option]).await[0], 24_000);
    assert_eq!(requested_windows(show(4_096), &[setting, option]).await[0], 4_096);
}

#[tokio::test(start_paused = true)]
async fn default_window_is_requested_without_information() {
    for shown in [Answer::json(404, "{}"), Answer::json(200, "<html>"), Answer::json(200, r#"{"capabilities":[]}"#)] {
        assert_eq!(requested_windows(shown, &[]).await[0], 8_192);
    }
}

#[tokio::test(start_paused = true)]
async fn shown_window_outlives_the_daily_probe() {
    let server = Server::start([show(12_000), Answer::json(500, "{}")]).await;
    let client = ollama(&server, &[]);
    for day in 0..2 {
        client.probe_tool_support(now() + Duration::from_hours(day * 24), ready(None)).await;
        assert_eq!(client.context_tokens(), 12_000);
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn configured_tool_mode_does_not_hide_the_window() {
    let server = Server::start([show(12_000)]).await;
    for tools in ["native", "prompt"] {
        let entry = json!([{"name": "x", "baseUrl": server.root, "wire": "ollama", "model": "m", "tools": tools}]);
        let settings = Settings::from_pairs([("MODELS", entry.to_string())]);
        let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
        let client = models.get("x").unwrap();
        assert!(!client.knows_tool_support(now()));
        client.probe_tool_support(now(), ready(None)).await;
        assert_eq!((client.context_tokens(), client.knows_tool_support(now())), (12_000, true), "{tools}");
    }
}
