//! The tools that need nothing from outside, on both paths, with good and bad arguments.

use serde_json::{Value, json};
use support::{Completion, FakeModel, Reply, TestApp};

use crate::native::Native;

/// A call as text.
fn text(name: &str, arguments: &Value) -> Reply {
    let mut call = json!({ "tool": name });
    call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    Completion::of([format!("<tool_call>{call}</tool_call>")])
}

/// The same as a native one.
fn native(name: &str, arguments: &Value) -> Reply {
    Completion::new().call(0, "id-1", name, &arguments.to_string()).finish("tool_calls").done().reply()
}

/// What the user sees of a call and what the model is told, on the text path and on the native one.
async fn both(name: &str, arguments: Value) -> [(Value, String); 2] {
    let by_text = TestApp::start().await;
    by_text.model.replies([text(name, &arguments), Completion::of(["好。"])]);
    let natively = Native::start().await;
    natively.model.replies([native(name, &arguments), Completion::of(["好。"])]);
    [seen(&by_text, &by_text.model).await, seen(&natively, &natively.model).await]
}

async fn seen(app: &TestApp, model: &FakeModel) -> (Value, String) {
    let turn = app.ask("问").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    let told = model.asked(2).await.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    (turn.of("tool_result")[0].clone(), told.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_sum_is_calculated_exactly() {
    for (result, told) in both("calculator", json!({ "expression": "0.1 + ０．２ × 2^100" })).await {
        let summary = "0.1 + ０．２ × 2^100 = 253530120045645880299340641075.3";
        assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!(summary)));
        assert!(told.contains(r#""result":"253530120045645880299340641075.3","exact":true"#), "{told}");
    }
}

#[tokio::test]
async fn the_time_is_told_with_its_zone() {
    for (result, told) in both("current_time", json!({ "zone": "Tokyo" })).await {
        assert!(result["summary"].as_str().unwrap().ends_with(" Asia/Tokyo"), "{result}");
        assert!(told.contains("时区：Asia/Tokyo（UTC+09:00）\n日期：20"), "{told}");
    }
}

#[tokio::test]
async fn f051_bad_arguments_are_told_with_what_is_accepted() {
    let cases = [
        ("calculator", json!({}), "invalid_arguments", "`expression` is missing"),
        ("calculator", json!({ "expression": ["1"] }), "invalid_arguments", "`expression` must be a string"),
        ("calculator", json!({ "expression": "" }), "invalid_arguments", "算式是空的"),
        ("calculator", json!({ "expression": "x".repeat(10_000) }), "invalid_arguments", "超过 1000 个字符"),
        ("calculator", json!({ "expression": "1/0" }), "failed", "除数为零"),
        ("current_time", json!({ "zone": { "city": "Tokyo" } }), "invalid_arguments", "`zone` must be a string"),
        ("current_time", json!({ "zone": "Argentina/Buenos" }), "invalid_arguments", "America/Buenos_Aires"),
        ("calculate", json!({ "expression": "1+1" }), "unknown_tool", "calculator, current_time"),
    ];
    for (name, arguments, code, reason) in cases {
        for (result, told) in both(name, arguments.clone()).await {
            assert_eq!((&result["ok"], &result["error"]["code"]), (&json!(false), &json!(code)), "{result}");
            assert!(told.contains(reason), "{told}");
        }
    }
}

#[tokio::test]
async fn f053_a_calculation_without_end_is_stopped_and_the_turn_goes_on() {
    for (result, told) in both("calculator", json!({ "expression": "9^9^9^9" })).await {
        assert_eq!(result["error"], json!({ "code": "failed", "message": "The calculation is too large." }));
        assert!(told.contains("数字太大"), "{told}");
    }
}

#[tokio::test]
async fn the_tools_that_come_with_the_product_are_listed_in_order() {
    let app = TestApp::start().await;
    let tools = app.get("/api/tools").await.ok();
    let names: Vec<&str> = tools["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["search_web", "calculator", "current_time"]);
}
