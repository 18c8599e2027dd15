//! Faulty native calls: malformed arguments, unknown names, copies in the text, truncated calls, and endless rounds.

use serde_json::{Value, json};
use support::{Completion, NativeApp, Reply, Transcript, search_reply};

/// Runs a turn with this reply, after which the model answers `晴。`.
async fn run_with_reply(reply: Reply) -> (NativeApp, Transcript) {
    let app = NativeApp::start().await;
    app.model.queue_replies([reply, Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.finish_reason(), app.model.requests().len()), ("stop", 2), "{turn:?}");
    (app, turn)
}

fn tool_error(turn: &Transcript) -> Value {
    let result = turn.events_of("tool_result")[0];
    json!([result["ok"], result["error"]["code"]])
}

#[tokio::test]
async fn f051_malformed_arguments_are_repaired_when_safe() {
    for arguments in [
        "{\"query\": \"天气\",}",
        "{'query': '天气'}",
        "{\"query\"：\"天气\"}",
        "\"{\\\"query\\\": \\\"天气\\\"}\"",
        " {\"query\": \"天气\", \"count\": null} ",
    ] {
        let (app, turn) = run_with_reply(Completion::new().call(0, "a", "search_web", arguments).end()).await;
        assert_eq!(turn.events_of("tool_result")[0]["ok"], true, "{arguments}");
        assert_eq!(app.search.queries(), ["天气"], "{arguments}");
    }
}

#[tokio::test]
async fn f051_invalid_arguments_are_reported_to_the_model() {
    for arguments in ["{}", "[1]", "7", "null", "", "{\"query\": {\"a\": 1}}", "{\"question\": \"天气\"}", "<<天气>>"]
    {
        let (app, turn) = run_with_reply(Completion::new().call(0, "a", "search_web", arguments).end()).await;
        assert_eq!(tool_error(&turn), json!([false, "invalid_arguments"]), "{arguments}");
        assert_eq!(app.search.queries(), Vec::<String>::new(), "{arguments}");
        let messages = app.last_messages();
        assert_eq!((&messages[2]["role"], &messages[2]["tool_call_id"]), (&json!("tool"), &json!("a")));
        assert!(!messages[2]["content"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn f051_invalid_arguments_are_repaired_twice() {
    let app = NativeApp::start().await;
    app.model.respond_with(|request| match &request.body["tool_choice"] {
        choice if choice == "none" => Completion::of(["不知道。"]),
        _ => Completion::new().call(0, "a", "search_web", &json!({ "n": request.messages().len() }).to_string()).end(),
    });
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("不知道。", "tool_limit"));
    assert_eq!((turn.events_of("tool_result").len(), app.model.requests().len()), (3, 4));
}

#[tokio::test]
async fn f051_round_with_a_fitting_call_is_no_repair() {
    let app = NativeApp::start().await;
    app.model.respond_with(|request| match (&request.body["tool_choice"], request.messages().len()) {
        (choice, _) if choice == "none" => Completion::of(["不知道。"]),
        (_, messages) if messages > 12 => Completion::of(["好。"]),
        (_, messages) => {
            let calls = Completion::new().call(0, "a", "search_web", &json!({ "n": messages }).to_string());
            calls.call(1, "b", "calculator", &json!({ "expression": format!("{messages}+1") }).to_string()).end()
        }
    });
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
}

#[tokio::test]
async fn empty_arguments_are_an_empty_object() {
    let (app, turn) = run_with_reply(Completion::new().call(0, "a", "search_web", "").end()).await;
    assert_eq!(turn.events_of("tool_call")[0]["arguments"], json!({}));
    assert_eq!(app.last_messages()[1]["tool_calls"][0]["function"]["arguments"], "{}");
}

#[tokio::test]
async fn f052_huge_arguments_are_rejected() {
    let huge = json!({ "query": "长".repeat(30_000) }).to_string();
    let (app, turn) = run_with_reply(Completion::new().call(0, "a", "search_web", &huge).end()).await;
    assert_eq!(tool_error(&turn), json!([false, "invalid_arguments"]));
    assert_eq!(app.search.queries(), Vec::<String>::new());
}

#[tokio::test]
async fn f050_unknown_tool_error_lists_tools_to_model() {
    let (app, turn) = run_with_reply(Completion::new().call(0, "a", "get_weather", "{\"city\":\"北京\"}").end()).await;
    assert_eq!(tool_error(&turn), json!([false, "unknown_tool"]));
    assert_eq!(turn.events_of("tool_call")[0]["name"], "get_weather");
    assert!(app.last_messages()[2]["content"].as_str().unwrap().contains("search_web"));
}

#[tokio::test]
async fn f049_duplicate_call_in_turn_runs_once() {
    let app = NativeApp::start().await;
    app.model.queue_replies([search_reply("a", "天气"), search_reply("b", "天气"), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    let cached: Vec<&Value> = turn.events_of("tool_result").iter().map(|result| &result["cached"]).collect();
    assert_eq!((cached, app.search.queries().len()), (vec![&json!(false), &json!(true)], 1));
}

#[tokio::test]
async fn duplicate_or_missing_call_ids_become_unique() {
    let app = NativeApp::start().await;
    let nameless = Completion::new()
        .call(0, "call_2", "search_web", "{\"query\":\"甲\"}")
        .call(1, "", "search_web", "{\"query\":\"乙\"}")
        .end();
    app.model.queue_replies([nameless, search_reply("call_2", "丙"), Completion::of(["好。"])]);
    let turn = app.send_message("问").await;
    let mut ids: Vec<String> = turn.events_of("tool_call").iter().map(|call| call["id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), app.search.queries().len()), (3, 3));
}

#[tokio::test]
async fn text_copy_of_native_call_is_dropped() {
    for copy in [
        "<tool_call>{\"tool\": \"search_web\", \"query\": \"副本\"}</tool_call>",
        "<seed:tool_call><function name=\"search_web\"><parameter name=\"query\" string=\"true\">副本</parameter></function></seed:tool_call>",
        "<|FunctionCallBegin|>[{\"name\":\"search_web\",\"parameters\":{\"query\":\"副本\"}}]<|FunctionCallEnd|>",
        "<tool_call>{\"tool\": </tool_call>",
        "<｜DSML｜function_calls>",
    ] {
        let reply =
            Completion::new().text("好的。").text(copy).call(0, "a", "search_web", "{\"query\":\"天气\"}").end();
        let (app, turn) = run_with_reply(reply).await;
        assert_eq!((turn.content().as_str(), app.search.queries().len()), ("好的。\n\n晴。", 1), "{copy}");
        assert_eq!(turn.events_of("tool_call").len(), 1, "{copy}");
    }
}

#[tokio::test]
async fn malformed_copy_stays_hidden_without_corrections_left() {
    let app = NativeApp::start().await;
    let unreadable = "<tool_call>{\"tool\": </tool_call>";
    let leak = Completion::new().text(unreadable).call(0, "a", "search_web", "{\"query\":\"天气\"}").end();
    app.model.queue_replies([Completion::of([unreadable]), leak, Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.events_of("tool_call").len()), ("晴。", 1));
}

#[tokio::test]
async fn text_calls_of_a_native_model_run() {
    let form = "<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\"}</tool_call>";
    let (app, turn) = run_with_reply(Completion::of(["好的。", form])).await;
    assert_eq!((turn.content().as_str(), app.search.queries()), ("好的。\n\n晴。", vec!["天气".to_owned()]));
    let messages = app.last_messages();
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "search_web");
    assert_eq!(messages[2]["tool_call_id"], messages[1]["tool_calls"][0]["id"]);
}

#[tokio::test]
async fn call_without_a_name_is_dropped() {
    let app = NativeApp::start().await;
    app.model.queue_replies([Completion::new().text("晴。").call(0, "a", "", "]<|FunctionCallEnd|>").end()]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("晴。", "stop"));
    assert_eq!(turn.events_of("tool_call"), Vec::<&Value>::new());
}

#[tokio::test]
async fn calls_in_native_thinking_never_run() {
    let app = NativeApp::start().await;
    let form = "<tool_call>{\"tool\": \"search_web\", \"query\": \"天气\"}</tool_call>";
    app.model.queue_replies([Completion::new().thinking(form).text("<think>").text(form).text("</think>晴。").end()]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.events_of("tool_call").len()), ("晴。", 0));
}

/// A call whose arguments the output limit truncated.
fn truncated_call() -> Completion {
    Completion::new().call(0, "a", "search_web", "{\"query\": \"天")
}

#[tokio::test]
async fn f031_truncated_call_never_runs_and_is_retried() {
    for text in ["", "好的。"] {
        let app = NativeApp::start().await;
        let reply = if text.is_empty() {
            truncated_call()
        } else {
            Completion::new().text(text).call(0, "a", "search_web", "{\"q")
        };
        app.model.queue_replies([reply.finish("length").usage(10, 5).done().reply(), Completion::of(["晴。"])]);
        let turn = app.send_message("天气").await;
        let between = if text.is_empty() { "" } else { "\n\n" };
        assert_eq!((turn.content(), turn.finish_reason()), (format!("{text}{between}晴。"), "stop"));
        assert_eq!((turn.events_of("tool_call").len(), app.search.queries().len()), (0, 0));
        assert!(app.model.wait_for_request(2).await.last_message().contains("截断"));
    }
}

#[tokio::test]
async fn f031_second_truncation_finishes_with_length() {
    let app = NativeApp::start().await;
    let truncated = || truncated_call().finish("length").usage(10, 5).done().reply();
    app.model.queue_replies([truncated(), truncated()]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason(), turn.events_of("tool_call").len()), ("", "length", 0));
}

#[tokio::test]
async fn f031_complete_call_before_a_truncated_one_runs() {
    let both = Completion::new().call(0, "a", "search_web", "{\"query\":\"天气\"}").call(
        1,
        "b",
        "search_web",
        "{\"query\": \"新",
    );
    let (app, turn) = run_with_reply(both.finish("length").usage(10, 5).done().reply()).await;
    assert_eq!((turn.content().as_str(), app.search.queries()), ("晴。", vec!["天气".to_owned()]));
}

#[tokio::test]
async fn uncounted_replies_with_only_calls_are_estimated() {
    let app = NativeApp::start().await;
    let uncounted = Completion::new().call(0, "a", "search_web", "{\"query\":\"天气\"}").finish("tool_calls").done();
    app.model.queue_replies([uncounted.reply(), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    let usage = turn.events_of("usage")[0];
    assert_eq!(usage["estimated"], true);
    assert!(usage["inputTokens"].as_u64().unwrap() > 10 && usage["outputTokens"].as_u64().unwrap() > 5, "{usage}");
}

/// Makes the model answer every request with another search, until tools are off.
fn make_model_search_forever(app: &NativeApp) {
    app.model.respond_with(|request| {
        if request.body["tool_choice"] == "none" {
            return Completion::of(["够了。"]);
        }
        search_reply("a", &format!("第{}问", request.messages().len()))
    });
}

#[tokio::test]
async fn f048_round_limit_keeps_tools_and_forbids_calls() {
    for (settings, rounds) in [(&[("MAX_TOOL_ROUNDS", "2")][..], 2), (&[][..], 10)] {
        let app = NativeApp::start_with(settings).await;
        make_model_search_forever(&app);
        let turn = app.send_message("问").await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("够了。", "tool_limit"));
        assert_eq!((app.search.queries().len(), app.model.requests().len()), (rounds, rounds + 1));
        let last = app.model.requests().pop().unwrap();
        assert_eq!((last.body["tools"].is_array(), &last.body["tool_choice"]), (true, &json!("none")));
    }
}

#[tokio::test]
async fn f048_native_call_with_tools_off_is_dropped() {
    let app = NativeApp::start_with(&[("MAX_TOOL_ROUNDS", "1")]).await;
    let last = Completion::new().text("嗯。").call(0, "b", "search_web", "{\"query\":\"新闻\"}").end();
    app.model.queue_replies([search_reply("a", "天气"), last]);
    let turn = app.send_message("问").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("嗯。", "tool_limit"));
    assert_eq!((app.search.queries().len(), turn.events_of("tool_call").len()), (1, 1));
}
