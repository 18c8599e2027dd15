//! Turns over time: history, concurrent turns, clients that disconnect, deletion and restarts.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use support::{Client, Completion, Gate, TestApp, with_timeout};

use crate::auth::start_database;
use crate::stop::{call_database, scan_table};
use crate::{search_call, start_half_answer};

async fn read_contents(client: &Client, id: &str) -> Vec<Value> {
    let stored = client.read_finished_conversation(id).await;
    stored["messages"].as_array().unwrap().iter().map(|message| message["content"].clone()).collect()
}

fn owned_pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(role, content)| ((*role).to_owned(), (*content).to_owned())).collect()
}

#[tokio::test]
async fn model_receives_earlier_messages() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["答一"]), Completion::of(["答二"]), Completion::of(["答三"])]);
    let id = app.send_message("一").await.conversation_id();
    app.follow_up(&id, "二").await;
    app.follow_up(&id, "三").await;
    let talk = app.model.wait_for_request(3).await.dialogue();
    let expected = [("user", "一"), ("assistant", "答一"), ("user", "二"), ("assistant", "答二"), ("user", "三")];
    assert_eq!(talk, owned_pairs(&expected));
}

#[tokio::test]
async fn f102_earlier_search_is_sent_with_its_results() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::of(["好的。", &search_call("天气")]),
        Completion::of(["晴。"]),
        Completion::of(["是的。"]),
    ]);
    let id = app.send_message("天气？").await.conversation_id();
    app.follow_up(&id, "真的？").await;
    let talk = app.model.wait_for_request(3).await.dialogue();
    let roles: Vec<&str> = talk.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert!(talk[1].1.contains("<tool_call>") && talk[2].1.contains("天气：第1页"), "{talk:?}");
    assert_eq!(talk[3..], owned_pairs(&[("assistant", "晴。"), ("user", "真的？")]));
}

#[tokio::test]
async fn f102_long_history_drops_its_oldest_turns() {
    let app = TestApp::start_with(&[("MODEL_OPTIONS", r#"{"openai":{"contextTokens":128000}}"#)]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let long = |n: usize| format!("第{n}句{}", "长".repeat(30_000));
    let id = app.send_message(&long(0)).await.conversation_id();
    for n in 1..6 {
        app.follow_up(&id, &long(n)).await;
    }
    let request = app.model.wait_for_request(6).await;
    assert_eq!(request.last_message(), long(5));
    assert!(request.system_prompt().contains("search_web"));
    let characters: usize = request.dialogue().iter().map(|(_, content)| content.chars().count()).sum();
    // The question, and the part of the previous turn that fits the default budget.
    assert!((50_000..=60_000).contains(&characters), "{characters} characters");
    assert!(!request.dialogue().iter().any(|(_, content)| content.starts_with("第0句")));
}

#[tokio::test]
async fn f099_second_turn_during_the_first_is_rejected() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    for stream in [true, false] {
        let body = json!({ "message": "抢", "conversationId": id, "stream": stream });
        let refused = app.post("/api/chat", &body).await;
        assert_eq!(refused.error(), (409, "turn_in_progress".to_owned()));
        assert_eq!(refused.json()["error"]["retryable"], true);
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=20).contains(&wait), "{wait}");
    }
    gate.open();
    assert_eq!(turn.read_to_end().await.content(), "半句，整句。");
    app.model.queue_replies([Completion::of(["好。"])]);
    app.follow_up(&id, "再说").await;
    assert_eq!(read_contents(&app, &id).await, ["说", "半句，整句。", "再说", "好。"]);
}

/// Expires the lease of every running turn, as if the clock were ahead.
async fn expire_leases(database: &str) {
    let table = "lambda-chat-data";
    let items: Value = serde_json::from_str(&scan_table(database, table).await).unwrap();
    for item in items["Items"].as_array().unwrap() {
        let mut item = item.clone();
        if item.get("leaseUntil").is_some() {
            item["leaseUntil"] = json!({ "N": "1" });
            call_database(database, "PutItem", &json!({ "TableName": table, "Item": item })).await;
        }
    }
}

#[tokio::test]
async fn f099_clock_skew_ends_no_local_turn() {
    let (database, gate) = (start_database().await, Gate::new());
    let app = TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    let (turn, id) = start_half_answer(&app, &gate).await;
    expire_leases(&database).await;
    let refused = app.post("/api/chat", &json!({ "message": "抢", "conversationId": id })).await;
    assert_eq!(refused.error(), (409, "turn_in_progress".to_owned()));
    gate.open();
    let turn = turn.read_to_end().await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句，整句。", "stop"));
    assert_eq!(read_contents(&app, &id).await, ["说", "半句，整句。"]);
}

#[tokio::test]
async fn f087_turn_with_lost_lease_is_interrupted() {
    let (database, gate) = (start_database().await, Gate::new());
    let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.as_str())];
    let (app, other) = (TestApp::start_with(&settings).await, TestApp::start_with(&settings).await);
    let (turn, id) = start_half_answer(&app, &gate).await;
    expire_leases(&database).await;
    other.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(other.follow_up(&id, "又").await.content(), "好。");
    gate.open();
    let turn = turn.read_to_end().await;
    assert_eq!(turn.error_code(), "interrupted");
    assert_eq!(
        read_contents(&other, &id).await,
        ["说", "", "又", "好。"],
        "it is not stored, and nothing else is lost"
    );
}

#[tokio::test]
async fn long_answer_is_stored_as_sent() {
    for (field, end, longest) in [("text", "length", [2 << 20, 0]), ("thinking", "stop", [3, 512 << 10])] {
        let (app, long) = (TestApp::start().await, "x".repeat(100_000));
        let reply = (0..30).fold(Completion::new(), |reply, _| match field {
            "text" => reply.text(&long),
            _ => reply.thinking(&long),
        });
        app.model.queue_replies([reply.text("完").end()]);
        let turn = app.send_message("说").await;
        assert_eq!(turn.finish_reason(), end, "{field}");
        let stored = app.conversation(&turn.conversation_id()).await["messages"][1].clone();
        assert_eq!(stored["content"].as_str().unwrap(), turn.content(), "{field}: what is stored is what was sent");
        assert_eq!(stored["thinking"].as_str().unwrap_or_default(), turn.thinking(), "{field}");
        assert_eq!(stored["status"], "complete");
        assert_eq!(stored["finishReason"].as_str().unwrap_or("stop"), end);
        assert_eq!([turn.content().len(), turn.thinking().len()], longest, "{field}");
    }
}

#[tokio::test]
async fn f100_concurrent_turns_in_one_conversation_run_once() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["零"])]);
    let id = app.send_message("〇").await.conversation_id();
    let gate = Gate::new();
    app.model.queue_replies([Completion::of(["好。"]).wait_before_head(&gate)]);
    let body = json!({ "message": "抢", "conversationId": id, "stream": false });
    let mut racing: FuturesUnordered<_> = (0..8).map(|_| app.chat_once(&body)).collect();
    let answers = with_timeout("the race", async {
        let mut answers: Vec<_> = racing.by_ref().take(7).collect().await;
        // The winner holds the conversation until all others have a response.
        gate.wait_until_reached().await;
        gate.open();
        answers.extend(racing.next().await);
        answers
    });
    let mut statuses: Vec<u16> = answers.await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[200].as_slice(), &[409; 7]].concat());
    assert_eq!(read_contents(&app, &id).await, ["〇", "零", "抢", "好。"]);
    assert_eq!(app.conversation(&id).await["conversation"]["messageCount"], 4);
}

#[tokio::test]
async fn turns_of_different_conversations_run_concurrently() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (first, _) = start_half_answer(&app, &gate).await;
    app.model.queue_replies([Completion::of(["别的。"])]);
    assert_eq!(app.send_message("别的").await.content(), "别的。");
    gate.open();
    assert_eq!(first.read_to_end().await.content(), "半句，整句。");
}

#[tokio::test]
async fn running_turn_is_readable_as_running() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    let stored = app.conversation(&id).await;
    let row = |n: usize| json!([stored["messages"][n]["role"], stored["messages"][n]["status"]]);
    assert_eq!([row(0), row(1)], [json!(["user", "complete"]), json!(["assistant", "running"])]);
    gate.open();
    turn.read_to_end().await;
    assert_eq!(app.conversation(&id).await["messages"][1]["status"], "complete");
}

#[tokio::test]
async fn turn_is_stored_before_its_stream_ends() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let mut turn = app.open(&json!({ "message": "你好" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    turn.read_until("done").await;
    let stored = app.conversation(&id).await;
    assert_eq!(json!([stored["messages"][1]["content"], stored["messages"][1]["status"]]), json!(["好。", "complete"]));
}

#[tokio::test]
async fn f096_turn_completes_after_its_client_disconnects() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    drop(turn);
    gate.open();
    assert_eq!(read_contents(&app, &id).await, ["说", "半句，整句。"]);
    assert_eq!(app.conversation(&id).await["messages"][1]["status"], "complete");
    assert_eq!(app.model.hang_up_count(), 0);
}

#[tokio::test]
async fn f096_disconnect_before_first_token_loses_nothing() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::of([search_call("天气")]).wait_before_head(&gate), Completion::of(["晴。"])]);
    let mut turn = app.open(&json!({ "message": "天气" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    drop(turn);
    gate.wait_until_reached().await;
    gate.open();
    assert_eq!(read_contents(&app, &id).await, ["天气", "晴。"]);
    assert_eq!(app.search.queries(), ["天气"]);
}

#[tokio::test]
async fn deletion_stops_the_running_turn() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    assert_eq!(app.delete(&format!("/api/conversations/{id}")).await.status, 204);
    turn.read_to_end().await;
    app.model.wait_for_hang_ups(1).await;
    assert_eq!(app.get(&format!("/api/conversations/{id}")).await.error().0, 404);
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
}

#[tokio::test]
async fn restart_keeps_all_data() {
    let mut app = TestApp::start_on_disk().await;
    app.model.respond_with(|request| {
        if request.has_tool_results() {
            Completion::of(["晴。"])
        } else {
            Completion::of(["好的。", &search_call("天气")])
        }
    });
    let id = app.send_message("天气如何？").await.conversation_id();
    app.as_user("alice").send_message("别的").await;
    let paths = ["/api/conversations".to_owned(), format!("/api/conversations/{id}")];
    let mut before = Vec::new();
    for path in &paths {
        before.push(app.get(path).await.ok());
    }
    app.restart().await;
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(app.get(path).await.ok(), before, "{path}");
    }
    assert_eq!(app.as_user("alice").get("/api/conversations").await.ok()["conversations"].as_array().unwrap().len(), 1);
    let turn = app.follow_up(&id, "又如何？").await;
    assert_eq!(turn.events_of("tool_result")[0]["cached"], true, "search results are kept too");
    assert_eq!(read_contents(&app, &id).await, ["天气如何？", "好的。\n\n晴。", "又如何？", "好的。\n\n晴。"]);
}

#[tokio::test]
async fn shutdown_interrupts_turns_and_keeps_partial_text() {
    let (mut app, gate) = (TestApp::start_on_disk().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    app.restart().await;
    let turn = turn.read_to_end().await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "interrupted"));
    let stored = app.conversation(&id).await;
    assert_eq!(
        json!([stored["messages"][1]["content"], stored["messages"][1]["status"]]),
        json!(["半句", "interrupted"])
    );
    app.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(app.follow_up(&id, "再说").await.content(), "好。");
}
