//! How many tokens explain the built-in tools, by the product's own estimate for an unknown vocabulary.

use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, NativeApp, TestApp};

/// Maximum for the system prompt's part on tools and the native schemas together.
const MAX_TOKENS: u64 = 900;

/// Native schemas need no rules for written calls.
const MAX_NATIVE_TOKENS: u64 = 700;

const QUESTIONS: [&str; 2] = ["你好", "Hello"];

/// The tokens of the prompt of a turn.
async fn input_tokens(client: &Client, model: &FakeModel, message: &Value) -> u64 {
    // Without a token count, so that the product counts the prompt itself.
    model.queue_replies([Completion::new().text("!").finish("stop").done().reply()]);
    let turn = client.chat(message).await;
    let usage = turn.events_of("usage")[0];
    assert_eq!(usage["estimated"], true);
    usage["inputTokens"].as_u64().unwrap_or_default()
}

#[tokio::test]
async fn explanation_of_tools_is_bounded_in_tokens() {
    let (app, native) = (TestApp::start().await, NativeApp::start().await);
    for question in QUESTIONS {
        let without = json!({ "message": question, "toolChoice": "none" });
        let plain = input_tokens(&app, &app.model, &without).await;
        let with = json!({ "message": question });
        let text = input_tokens(&app, &app.model, &with).await - plain;
        let fields = input_tokens(&native, &native.model, &with).await - plain;
        eprintln!("{question}: {text} tokens as text, {fields} with native calls, {plain} of the rest");
        assert!((1..=MAX_TOKENS).contains(&text), "{question}: {text} as text");
        assert!((1..=MAX_NATIVE_TOKENS).contains(&fields), "{question}: {fields} with native calls");
    }
}
