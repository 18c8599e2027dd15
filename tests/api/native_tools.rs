//! A model with native tools: the requests to it, and the events, which are the same as on the text path.

use std::collections::HashMap;

use serde_json::{Value, json};
use support::{Completion, FakeTavily, Gate, NativeApp, Reply, TestApp, search_reply, searches_reply};

fn native_call(id: &str, query: &str) -> Value {
    let arguments = json!({ "query": query }).to_string();
    json!({ "id": id, "type": "function", "function": { "name": "search_web", "arguments": arguments } })
}

#[tokio::test]
async fn tools_are_sent_with_schemas_without_prompt_instructions() {
    let app = NativeApp::start().await;
    app.model.queue_replies([Completion::of(["你好。"])]);
    app.send_message("你好").await;
    let request = app.model.wait_for_request(1).await;
    let mut offered = app.get("/api/tools").await.ok()["tools"].clone();
    for tool in offered.as_array_mut().unwrap() {
        tool.as_object_mut()
            .unwrap()
            .retain(|field, _| ["name", "description", "parameters"].contains(&field.as_str()));
    }
    let functions: Vec<Value> =
        request.body["tools"].as_array().unwrap().iter().map(|tool| tool["function"].clone()).collect();
    assert_eq!(Value::from(functions), offered);
    assert_eq!(request.body["tools"][0]["type"], "function");
    assert_eq!(request.body["tools"][0]["function"]["parameters"]["required"], json!(["query"]));
    assert_eq!(request.body.get("tool_choice"), None);
    assert!(!request.system_prompt().contains("<tool_call>") && !request.system_prompt().contains("search_web"));
}

#[tokio::test]
async fn tool_choice_applies_only_to_first_round() {
    let named = json!({ "type": "function", "function": { "name": "search_web" } });
    for (choice, sent) in [
        (json!("auto"), None),
        (json!("required"), Some(json!("required"))),
        (json!({ "name": "search_web" }), Some(named)),
    ] {
        let app = NativeApp::start().await;
        app.model.queue_replies([search_reply("a", "天气"), search_reply("b", "新闻"), Completion::of(["晴。"])]);
        app.chat(&json!({ "message": "问", "toolChoice": choice })).await;
        let choices: Vec<Option<Value>> =
            app.model.requests().iter().map(|request| request.body.get("tool_choice").cloned()).collect();
        assert_eq!(choices, [sent, None, None], "{choice}");
        assert!(app.model.requests().iter().all(|request| request.body["tools"].is_array()));
    }
}

#[tokio::test]
async fn turn_without_tools_sends_none_despite_earlier_calls() {
    let app = NativeApp::start().await;
    app.model.queue_replies([search_reply("a", "天气"), Completion::of(["晴。"]), Completion::of(["好。"])]);
    let id = app.send_message("天气").await.conversation_id();
    let turn = app.chat(&json!({ "message": "好", "conversationId": id, "toolChoice": "none" })).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    let request = app.model.wait_for_request(3).await;
    assert_eq!((request.body.get("tools"), request.body.get("tool_choice")), (None, None));
    let talk = request.dialogue();
    assert!(talk[2].1.contains("天气：第1页"), "what was found stays known: {talk:?}");
}

#[tokio::test]
async fn parallel_calls_return_results_in_call_order() {
    let app = NativeApp::start().await;
    let gates: HashMap<&str, Gate> = [("甲", Gate::new()), ("乙", Gate::new())].into();
    let held = gates.clone();
    app.search.respond_with(move |body| {
        FakeTavily::search_reply(body).wait_before_head(&held[body["query"].as_str().unwrap()])
    });
    app.model.queue_replies([searches_reply([("id-1", "甲"), ("id-2", "乙")]), Completion::of(["好。"])]);
    let mut turn = app.open(&json!({ "message": "问" })).await;
    for gate in gates.values() {
        gate.wait_until_reached().await;
    }
    gates["乙"].open();
    assert_eq!(turn.read_until("tool_result").await["id"], "id-2");
    gates["甲"].open();
    assert_eq!(turn.read_until("tool_result").await["id"], "id-1");
    assert_eq!(turn.read_to_end().await.content(), "好。");
    let messages = app.last_messages();
    assert_eq!(messages[1]["tool_calls"], json!([native_call("id-1", "甲"), native_call("id-2", "乙")]));
    let results: Vec<_> = messages[2..].iter().map(|result| (&result["role"], &result["tool_call_id"])).collect();
    assert_eq!(results, [(&json!("tool"), &json!("id-1")), (&json!("tool"), &json!("id-2"))]);
    assert!(messages[2]["content"].as_str().unwrap().contains("甲：第1页"));
    assert!(messages[3]["content"].as_str().unwrap().contains("乙：第1页"));
}

#[tokio::test]
async fn f029_call_split_across_deltas_is_one_call() {
    let app = NativeApp::start().await;
    let piece = |part: Value| json!({ "tool_calls": [part] });
    let pieces = Completion::new()
        .text("好的。")
        .delta(&piece(
            json!({ "index": 0, "id": "a", "type": "function", "function": { "name": "search_web", "arguments": "" } }),
        ))
        .delta(&piece(json!({ "index": 0, "function": { "arguments": "{\"query\":" } })))
        .delta(&piece(json!({ "index": 0, "id": "", "function": { "name": "", "arguments": " \"天气\"}" } })));
    app.model.queue_replies([
        pieces.finish("tool_calls").usage(10, 5).done().reply().in_chunks_of(7),
        Completion::of(["晴。"]),
    ]);
    let turn = app.send_message("天气").await;
    let call = turn.events_of("tool_call")[0];
    assert_eq!(
        *call,
        json!({ "type": "tool_call", "id": "a", "name": "search_web", "arguments": { "query": "天气" } })
    );
    assert_eq!((turn.content().as_str(), app.search.queries().len()), ("好的。\n\n晴。", 1));
    let messages = app.last_messages();
    assert_eq!(
        (&messages[1]["content"], &messages[1]["tool_calls"]),
        (&json!("好的。"), &json!([native_call("a", "天气")]))
    );
}

#[tokio::test]
async fn calls_run_with_finish_reason_stop() {
    let app = NativeApp::start().await;
    app.model.queue_replies([
        Completion::new().call(0, "a", "search_web", "{\"query\":\"天气\"}").end(),
        Completion::of(["晴。"]),
    ]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason(), app.search.queries().len()), ("晴。", "stop", 1));
}

#[tokio::test]
async fn native_and_text_calls_emit_the_same_events() {
    let text = TestApp::start().await;
    text.model.queue_replies([
        Completion::of(["好的。", &crate::search_call("甲"), &crate::search_call("乙")]),
        Completion::of([crate::search_call("丙")]),
        Completion::of(["晴。"]),
    ]);
    let native = NativeApp::start().await;
    let both = Completion::new().text("好的。").call(0, "x", "search_web", "{\"query\":\"甲\"}");
    native.model.queue_replies([
        both.call(1, "y", "search_web", "{\"query\":\"乙\"}").end(),
        search_reply("z", "丙"),
        Completion::of(["晴。"]),
    ]);
    let turns = [text.send_message("问").await, native.send_message("问").await];
    let seen = turns.each_ref().map(|turn| {
        let mut events = turn.normalise();
        events[0]["model"] = "MODEL".into();
        // Results come in the order of completion, which may differ between two runs.
        events.as_array_mut().unwrap().sort_by_key(|event| (event["type"] == "tool_result", event["id"].to_string()));
        events
    });
    assert_eq!(seen[0], seen[1]);
    let stored = |app: &TestApp, id: String| {
        let client = app.client();
        async move { client.conversation(&id).await["messages"][1]["toolCalls"].as_array().unwrap().len() }
    };
    assert_eq!(stored(&text, turns[0].conversation_id()).await, 3);
    assert_eq!(stored(&native, turns[1].conversation_id()).await, 3);
}

#[tokio::test]
async fn earlier_calls_are_sent_natively_with_unique_ids() {
    let app = NativeApp::start().await;
    app.model.queue_replies([
        search_reply("call_1", "甲"),
        Completion::of(["一。"]),
        search_reply("call_1", "乙"),
        Completion::of(["二。"]),
    ]);
    let id = app.send_message("问甲").await.conversation_id();
    app.follow_up(&id, "问乙").await;
    let messages = app.last_messages();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]);
    let ids = [&messages[1]["tool_calls"][0]["id"], &messages[5]["tool_calls"][0]["id"]];
    assert_eq!([&messages[2]["tool_call_id"], &messages[6]["tool_call_id"]], ids);
    assert_eq!(ids[0], "call_1", "what was sent once is sent again unchanged");
    assert_ne!(ids[0], ids[1]);
    assert_eq!(messages[3], json!({ "role": "assistant", "content": "一。" }));
}

#[tokio::test]
async fn endpoint_that_requires_reasoning_receives_it_with_calls() {
    let app = NativeApp::start().await;
    let thought = Completion::new().thinking("先查。").call(0, "a", "search_web", "{\"query\":\"天气\"}").end();
    let error = json!({ "error": { "message": "The `reasoning_content` in the thinking mode must be passed back" } });
    app.model.queue_replies([thought, Reply::json(400, &error), Completion::of(["晴。"]), Completion::of(["好。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.thinking().as_str()), ("晴。", "先查。"));
    app.follow_up(&turn.conversation_id(), "好").await;
    let reasoning: Vec<Value> = app.model.requests()[1..]
        .iter()
        .map(|request| request.body["messages"][2].get("reasoning_content").cloned().unwrap_or_default())
        .collect();
    assert_eq!(reasoning, [Value::Null, json!("先查。"), json!("先查。")]);
}
