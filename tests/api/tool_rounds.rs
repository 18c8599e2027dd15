//! The tool loop: several calls, several rounds, and calls that cannot run.

use std::collections::HashMap;

use serde_json::{Value, json};
use support::{Completion, FakeTavily, Gate, TestApp};

use crate::search_call;

#[tokio::test]
async fn concurrent_calls_return_results_in_call_order() {
    let app = TestApp::start().await;
    let gates: HashMap<&str, Gate> = [("甲", Gate::new()), ("乙", Gate::new())].into();
    let held = gates.clone();
    app.search.respond_with(move |body| {
        FakeTavily::search_reply(body).wait_before_head(&held[body["query"].as_str().unwrap()])
    });
    app.model.queue_replies([
        Completion::of([search_call("甲"), "\n".to_owned(), search_call("乙")]),
        Completion::of(["好。"]),
    ]);
    let mut turn = app.open(&json!({ "message": "问" })).await;
    for gate in gates.values() {
        gate.wait_until_reached().await;
    }
    gates["乙"].open();
    let first = turn.read_until("tool_result").await;
    gates["甲"].open();
    let second = turn.read_until("tool_result").await;
    let turn = turn.read_to_end().await;
    let ids: Vec<&Value> = turn.events_of("tool_call").iter().map(|call| &call["id"]).collect();
    assert_eq!([&second["id"], &first["id"]], ids[..], "results come in order of completion");
    let message = app.model.wait_for_request(2).await.last_message();
    assert!(message.find("甲：第1页").unwrap() < message.find("乙：第1页").unwrap(), "{message}");
}

#[tokio::test]
async fn f055_one_failed_call_keeps_other_results() {
    let app = TestApp::start().await;
    app.search.respond_with(|body| match body["query"].as_str() {
        Some("乙") => FakeTavily::error_reply(500, "down"),
        _ => FakeTavily::search_reply(body),
    });
    app.model.queue_replies([
        Completion::of([search_call("甲"), search_call("乙"), search_call("丙")]),
        Completion::of(["好。"]),
    ]);
    let turn = app.send_message("问").await;
    let ok: HashMap<&str, bool> =
        turn.events_of("tool_result").iter().map(|r| (r["id"].as_str().unwrap(), r["ok"] == true)).collect();
    let in_order: Vec<bool> = turn.events_of("tool_call").iter().map(|call| ok[call["id"].as_str().unwrap()]).collect();
    assert_eq!(in_order, [true, false, true]);
    let message = app.model.wait_for_request(2).await.last_message();
    let at = |text: &str| message.find(text).unwrap_or_else(|| panic!("{text} is not in {message}"));
    assert!(at("甲：第1页") < at("<search_error>") && at("<search_error>") < at("丙：第1页"));
}

#[tokio::test]
async fn search_may_follow_another_search() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::of(["先查一。", &search_call("一")]),
        Completion::of(["再查二。", &search_call("二")]),
        Completion::of(["好。"]),
    ]);
    let turn = app.send_message("问").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("先查一。\n\n再查二。\n\n好。", "stop"));
    assert_eq!(app.search.queries(), ["一", "二"]);
    let ids: Vec<&Value> = turn.events_of("tool_call").iter().map(|call| &call["id"]).collect();
    assert_ne!(ids[0], ids[1], "ids are unique within a turn");
    assert_eq!(turn.events_of("usage")[0]["inputTokens"], 30);
}

/// Makes the model answer every request with another search, and with text once tools are off.
fn make_model_search_forever(app: &TestApp) {
    app.model.respond_with(|request| {
        if request.last_message().contains("工具已经不能再使用") {
            Completion::of(["够了。"])
        } else {
            Completion::of([search_call(&format!("第{}问", request.messages().len()))])
        }
    });
}

#[tokio::test]
async fn f048_round_limit_answers_with_tools_off() {
    for (settings, rounds) in [(&[("MAX_TOOL_ROUNDS", "2")][..], 2), (&[][..], 3)] {
        let app = TestApp::start_with(settings).await;
        make_model_search_forever(&app);
        let turn = app.send_message("问").await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("够了。", "tool_limit"));
        assert_eq!((app.search.queries().len(), app.model.requests().len()), (rounds, rounds + 1));
    }
}

#[tokio::test]
async fn turn_without_rounds_offers_no_tools() {
    let app = TestApp::start_with(&[("MAX_TOOL_ROUNDS", "0")]).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let turn = app.send_message("问").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(!system.contains("search_web"), "{system}");
}

#[tokio::test]
async fn deep_search_has_more_rounds_within_the_limit() {
    for (settings, search, rounds) in
        [(&[][..], "auto", 3), (&[], "deep", 12), (&[("MAX_TOOL_ROUNDS", "2")], "deep", 2)]
    {
        let app = TestApp::start_with(settings).await;
        make_model_search_forever(&app);
        let turn = app.chat(&json!({ "message": "问", "search": search })).await;
        assert_eq!((turn.finish_reason(), app.search.queries().len()), ("tool_limit", rounds));
        let system = app.model.wait_for_request(1).await.system_prompt();
        assert_eq!(system.contains("深入调研"), search == "deep", "{system}");
    }
}

#[tokio::test]
async fn turn_without_search_keeps_other_tools() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("天气")]), Completion::of(["不知道。"])]);
    let turn = app.chat(&json!({ "message": "问", "search": "off" })).await;
    assert_eq!((turn.content().as_str(), app.search.queries().len()), ("不知道。", 0));
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(!system.contains("search_web") && !system.contains("read_url"), "{system}");
    assert!(system.contains("calculator"), "{system}");
}

#[tokio::test]
async fn search_mode_is_checked_before_the_turn() {
    let app = TestApp::start().await;
    let agent = json!({ "name": "a", "tools": [{ "tool": "calculator" }] });
    let agent = app.post("/api/admin/agents", &agent).await.json()["id"].clone();
    for (mode, message) in [
        (json!("much"), "`search` must be \"off\", \"auto\" or \"deep\""),
        (json!("deep"), "`search` must not be \"deep\": this agent does not search the web"),
    ] {
        let answer = app.chat_bytes(json!({ "message": "问", "agentId": agent, "search": mode }).to_string()).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()));
        assert!(answer.text().contains(&message.replace('"', "\\\"")), "{}", answer.text());
    }
    assert_eq!(app.model.requests().len(), 0);
}

#[tokio::test]
async fn f048_call_with_tools_off_is_dropped() {
    let app = TestApp::start_with(&[("MAX_TOOL_ROUNDS", "1")]).await;
    app.model
        .respond_with(|request| Completion::of(["嗯。", &search_call(&format!("第{}问", request.messages().len()))]));
    let turn = app.send_message("问").await;
    assert_eq!(app.search.queries().len(), 1);
    assert!(!turn.content().contains("tool_call"), "{}", turn.content());
    assert_eq!(turn.events_of("tool_call").len(), turn.events_of("tool_result").len());
    assert_eq!(turn.finish_reason(), "tool_limit");
}

#[tokio::test]
async fn f049_duplicate_call_in_turn_runs_once() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::of([search_call("天气")]),
        Completion::of([search_call("天气")]),
        Completion::of(["晴。"]),
    ]);
    let turn = app.send_message("天气").await;
    let cached: Vec<&Value> = turn.events_of("tool_result").iter().map(|result| &result["cached"]).collect();
    assert_eq!(cached, [&json!(false), &json!(true)]);
    assert_eq!((turn.content().as_str(), app.search.queries().len()), ("晴。", 1));
}

#[tokio::test]
async fn f050_unknown_tool_error_lists_tools_to_model() {
    for form in [
        "<tool_call name=\"get_weather\">{\"city\": \"北京\"}</tool_call>",
        "<tool name=\"get_weather\">{\"city\": \"北京\"}</tool>",
        "<tool_call>{\"tool\": \"get_weather\", \"city\": \"北京\"}</tool_call>",
    ] {
        let app = TestApp::start().await;
        app.model.queue_replies([Completion::of([form]), Completion::of(["不知道。"])]);
        let turn = app.send_message("天气").await;
        let called = turn.events_of("tool_call")[0];
        assert_eq!(json!([called["name"], called["arguments"]]), json!(["get_weather", { "city": "北京" }]));
        let result = turn.events_of("tool_result")[0];
        assert_eq!(json!([result["ok"], result["error"]["code"]]), json!([false, "unknown_tool"]));
        assert!(
            app.model.wait_for_request(2).await.last_message().contains("search_web"),
            "{}",
            app.model.wait_for_request(2).await.last_message()
        );
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("不知道。", "stop"));
    }
}

#[tokio::test]
async fn f051_invalid_arguments_are_reported_to_the_model() {
    for arguments in ["{}", "{\"query\": {\"a\": 1}}", "{\"query\": null}", "{\"query\": \"\"}"] {
        let app = TestApp::start().await;
        let form = format!("<tool_call name=\"search_web\">{arguments}</tool_call>");
        app.model.queue_replies([Completion::of([form]), Completion::of(["不知道。"])]);
        let turn = app.send_message("天气").await;
        let result = turn.events_of("tool_result")[0];
        assert_eq!(json!([result["ok"], result["error"]["code"]]), json!([false, "invalid_arguments"]), "{arguments}");
        assert!(
            app.model.wait_for_request(2).await.last_message().contains("query"),
            "the field is named for {arguments}"
        );
        assert_eq!(app.search.queries(), Vec::<String>::new(), "{arguments}");
    }
}

#[tokio::test]
async fn f052_huge_arguments_are_rejected() {
    let app = TestApp::start().await;
    let huge = search_call(&"长".repeat(30_000));
    app.model.queue_replies([Completion::of([huge]), Completion::of(["不知道。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!(app.search.queries(), Vec::<String>::new());
    assert!(!turn.content().contains("tool_call"));
    assert_eq!(turn.finish_reason(), "stop");
}

#[tokio::test]
async fn tool_choice_none_removes_tool_instructions() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let turn = app.chat(&json!({ "message": "你好", "toolChoice": "none" })).await;
    assert_eq!(turn.finish_reason(), "stop");
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(!system.contains("<tool_call>") && !system.contains("search_web"), "{system}");
}

#[tokio::test]
async fn f048_reply_with_thousands_of_calls_is_limited() {
    let app = TestApp::start().await;
    let calls =
        (0..1000).map(|at| format!("<tool_call>{{\"tool\": \"calculator\", \"expression\": \"{at}\"}}</tool_call>\n"));
    app.model.queue_replies([Completion::of([calls.collect::<String>()]), Completion::of(["好。"])]);
    let turn = app.send_message("算").await;
    assert_eq!(
        (turn.content().as_str(), turn.events_of("tool_call").len(), turn.events_of("tool_result").len()),
        ("好。", 128, 128)
    );
    let refused: Vec<_> = turn.events_of("tool_result").into_iter().filter(|result| result["ok"] != true).collect();
    assert_eq!((refused.len(), &refused[0]["error"]["code"]), (1, &"too_many_calls".into()));
    assert!(app.model.wait_for_request(2).await.last_message().contains("只执行了前 127 个"));
}
