//! Branches of conversations: edited messages, several answers, selecting and deleting.

mod random;

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, Gate, Reply, TestApp};

use crate::resume::TwoInstances;

/// Answers each message by `答` and the message.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    app.model.respond_with(|request| Completion::of([format!("答{}", request.last_message())]));
    app
}

/// Runs a turn whose response is a document; returns the conversation's id and the answer's.
async fn send(client: &Client, body: Value) -> (String, String) {
    let document = client.chat_once(&body).await.ok();
    let field = |name: &str| document[name].as_str().unwrap().to_owned();
    (field("conversationId"), field("messageId"))
}

/// A conversation of `一` and `二` with their answers; the ids of the conversation and of the two answers.
async fn start_talk(client: &Client) -> (String, String, String) {
    let (id, first) = send(client, json!({ "message": "一" })).await;
    let (_, second) = send(client, json!({ "message": "二", "conversationId": id })).await;
    (id, first, second)
}

async fn read(client: &Client, id: &str, query: &str) -> Value {
    let page = client.get(&format!("/api/conversations/{id}{query}")).await.ok();
    if query.is_empty() {
        assert_eq!(page["conversation"]["messageCount"], page["messages"].as_array().unwrap().len());
    }
    page["messages"].clone()
}

fn contents(messages: &Value) -> Vec<&str> {
    messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect()
}

async fn regenerate(client: &Client, id: &str, body: Value) -> ApiResponse {
    client.post(&format!("/api/conversations/{id}/regenerate"), &body).await
}

async fn select(client: &Client, id: &str, message: &Value) -> ApiResponse {
    client.put(&format!("/api/conversations/{id}/branch"), &json!({ "messageId": message })).await
}

async fn delete(client: &Client, id: &str, message: &Value) -> u16 {
    let message = message.as_str().unwrap();
    client.delete(&format!("/api/conversations/{id}/messages/{message}")).await.status
}

fn last_dialogue(app: &TestApp) -> Vec<String> {
    app.model.requests().last().unwrap().dialogue().into_iter().map(|(_, text)| text).collect()
}

#[tokio::test]
async fn edited_message_begins_a_branch() {
    let app = start().await;
    let (id, first, second) = start_talk(&app).await;
    let (_, third) = send(&app, json!({ "message": "三", "conversationId": id, "parentId": first })).await;
    assert_eq!(last_dialogue(&app), ["一", "答一", "三"]);
    let shown = read(&app, &id, "").await;
    assert_eq!(contents(&shown), ["一", "答一", "三", "答三"]);
    assert_eq!((&shown[0]["parentId"], &shown[1]["parentId"]), (&Value::Null, &shown[0]["id"]));
    assert_eq!((&shown[2]["parentId"], &shown[3]["id"]), (&json!(first), &json!(third)));
    let other = read(&app, &id, &format!("?branch={second}")).await;
    assert_eq!(contents(&other), ["一", "答一", "二", "答二"]);
    let siblings = json!([other[2]["id"], shown[2]["id"]]);
    assert_eq!((&shown[2]["siblings"], &other[2]["siblings"]), (&siblings, &siblings));
    assert!(shown[0].get("siblings").is_none() && shown[3].get("siblings").is_none());
    app.follow_up(&id, "四").await;
    assert_eq!(
        last_dialogue(&app),
        ["一", "答一", "三", "答三", "四"],
        "it continues the branch that was written last"
    );
}

#[tokio::test]
async fn null_parent_begins_the_conversation_again() {
    let app = start().await;
    let (id, ..) = start_talk(&app).await;
    send(&app, json!({ "message": "零", "conversationId": id, "parentId": null })).await;
    assert_eq!(last_dialogue(&app), ["零"]);
    let shown = read(&app, &id, "").await;
    assert_eq!((contents(&shown), shown[0]["siblings"].as_array().unwrap().len()), (vec!["零", "答零"], 2));
    assert_eq!(app.conversation(&id).await["conversation"]["title"], "一", "and keeps its title");
    let (new, _) = send(&app, json!({ "message": "新", "parentId": null })).await;
    assert_ne!(new, id);
}

#[tokio::test]
async fn any_answer_can_be_regenerated() {
    let app = start().await;
    let (id, first, second) = start_talk(&app).await;
    let before = read(&app, &id, "").await;
    app.model.queue_replies([Completion::of(["又一"])]);
    regenerate(&app, &id, json!({ "messageId": first, "stream": false })).await.ok();
    assert_eq!(last_dialogue(&app), ["一"]);
    let shown = read(&app, &id, "").await;
    assert_eq!(contents(&shown), ["一", "又一"]);
    assert_eq!(shown[1]["siblings"], json!([first, shown[1]["id"]]));
    app.model.queue_replies([Completion::of(["又二"])]);
    regenerate(&app, &id, json!({ "messageId": before[2]["id"], "stream": false })).await.ok();
    assert_eq!(last_dialogue(&app), ["一", "答一", "二"], "a message is answered on its own branch");
    let shown = read(&app, &id, "").await;
    assert_eq!(contents(&shown), ["一", "答一", "二", "又二"]);
    assert_eq!(shown[3]["siblings"], json!([second, shown[3]["id"]]));
}

#[tokio::test]
async fn failed_attempt_stays_on_its_own_branch() {
    let app = start().await;
    let (id, first, second) = start_talk(&app).await;
    app.model.queue_replies([Reply::status(401)]);
    assert_eq!(regenerate(&app, &id, json!({ "messageId": first, "stream": false })).await.error().1, "upstream_auth");
    let shown = read(&app, &id, "").await;
    assert_eq!(contents(&shown), ["一", "答一", "二", "答二"]);
    let failed = shown[1]["siblings"][1].as_str().unwrap();
    let branch = read(&app, &id, &format!("?branch={failed}")).await;
    assert_eq!((contents(&branch), &branch[1]["status"]), (vec!["一", ""], &json!("failed")));
    let selected = select(&app, &id, &json!(failed)).await.ok();
    assert_eq!((&selected["conversation"]["id"], &selected["conversation"]["messageCount"]), (&json!(id), &json!(2)));
    assert_eq!(read(&app, &id, "").await, branch);
    assert_eq!(select(&app, &id, &json!(second)).await.ok()["conversation"]["messageCount"], 4);
    assert_eq!(read(&app, &id, "").await, shown);
}

#[tokio::test]
async fn unsuitable_or_unknown_messages_are_rejected() {
    let app = start().await;
    let (id, first, _) = start_talk(&app).await;
    let other = start_talk(&app).await;
    let question = read(&app, &id, "").await[0]["id"].clone();
    let unknown = json!("01J00000000000000000000000");
    let chat = async |parent: &Value| {
        app.chat_once(&json!({ "message": "x", "conversationId": id, "parentId": parent })).await.error()
    };
    assert_eq!(chat(&question).await, (400, "invalid_request".to_owned()));
    assert_eq!(chat(&json!(7)).await, (400, "invalid_request".to_owned()));
    let alone = app.chat_once(&json!({ "message": "x", "parentId": first })).await;
    assert_eq!(alone.error(), (400, "invalid_request".to_owned()), "a new conversation has no message");
    let missing = (404, "not_found".to_owned());
    for message in [&unknown, &json!("x"), &json!(other.1)] {
        assert_eq!(chat(message).await, missing);
        assert_eq!(regenerate(&app, &id, json!({ "messageId": message })).await.error(), missing);
        assert_eq!(
            app.post(&format!("/api/conversations/{id}/continue"), &json!({ "messageId": message })).await.error(),
            missing
        );
        assert_eq!(select(&app, &id, message).await.error(), missing);
        assert_eq!(delete(&app, &id, message).await, 404);
        let branch = app.get(&format!("/api/conversations/{id}?branch={}", message.as_str().unwrap())).await;
        assert_eq!(branch.error(), missing);
    }
    for query in ["from=start", "from=", "from=end&limit=0", "from=end&cursor=x"] {
        let page = app.get(&format!("/api/conversations/{id}?{query}")).await;
        assert_eq!(page.error(), (400, "invalid_request".to_owned()), "{query}");
    }
    for body in ["{}", "[]", r#"{"messageId":null}"#, r#"{"messageId":1}"#] {
        let path = format!("/api/conversations/{id}/branch");
        let refused = app.send("PUT", &path, &[("content-type", "application/json")], body).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "{body}");
    }
    let mallory = app.as_user("mallory");
    assert_eq!(select(&mallory, &id, &json!(first)).await.error(), missing);
    assert_eq!(delete(&mallory, &id, &json!(first)).await, 404);
    assert_eq!(regenerate(&mallory, &id, json!({ "messageId": first })).await.error(), missing);
    let stolen = json!({ "message": "x", "conversationId": id, "parentId": first });
    assert_eq!(mallory.chat_once(&stolen).await.error(), missing);
    assert_eq!(contents(&read(&app, &id, "").await), ["一", "答一", "二", "答二"]);
}

#[tokio::test]
async fn deletion_shows_the_nearest_branch() {
    let app = start().await;
    let (id, first, second) = start_talk(&app).await;
    let question = read(&app, &id, "").await[2]["id"].clone();
    for text in ["三", "四"] {
        send(&app, json!({ "message": text, "conversationId": id, "parentId": first })).await;
    }
    let shown = read(&app, &id, "").await;
    assert_eq!(delete(&app, &id, &shown[2]["id"]).await, 204);
    assert_eq!(contents(&read(&app, &id, "").await), ["一", "答一", "三", "答三"], "the previous one");
    assert_eq!(delete(&app, &id, &shown[2]["id"]).await, 404);
    assert_eq!(select(&app, &id, &json!(second)).await.status, 200);
    assert_eq!(delete(&app, &id, &question).await, 204);
    let shown = read(&app, &id, "").await;
    assert_eq!(contents(&shown), ["一", "答一", "三", "答三"], "the next one");
    assert!(shown[2].get("siblings").is_none());
    assert_eq!(delete(&app, &id, &shown[3]["id"]).await, 204);
    assert_eq!(contents(&read(&app, &id, "").await), ["一", "答一", "三"], "the parent");
    assert_eq!(regenerate(&app, &id, json!({ "stream": false })).await.ok()["content"], "答三");
    assert_eq!(delete(&app, &id, &shown[0]["id"]).await, 204);
    assert_eq!(read(&app, &id, "").await, json!([]));
    assert_eq!(regenerate(&app, &id, json!({})).await.error(), (400, "invalid_request".to_owned()));
    send(&app, json!({ "message": "新", "conversationId": id })).await;
    assert_eq!(
        (last_dialogue(&app), contents(&read(&app, &id, "").await)),
        (vec!["新".to_owned()], vec!["新", "答新"])
    );
    let exported = app.get("/api/me/export").await.text();
    assert!(!exported.contains("答一") && exported.contains("答新"), "{exported}");
}

#[tokio::test]
async fn deletion_stops_a_running_turn_below() {
    let two = TwoInstances::start().await;
    for deleting in [&two.first, &two.second] {
        two.first.model.respond_with(|request| Completion::of([format!("答{}", request.last_message())]));
        let (id, first, _) = start_talk(&two.first).await;
        let gate = Gate::new();
        two.first.model.queue_replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
        let body = json!({ "message": "三", "conversationId": id, "parentId": first });
        let mut turn = two.first.open(&body).await;
        turn.read_until("content").await;
        let running = read(&two.second, &id, "").await;
        assert_eq!((contents(&running), &running[3]["status"]), (vec!["一", "答一", "三", ""], &json!("running")));
        assert_eq!(delete(deleting, &id, &running[2]["id"]).await, 204);
        assert_eq!(turn.read_to_end().await.finish_reason(), "stopped");
        gate.open();
        assert_eq!(contents(&read(deleting, &id, "").await), ["一", "答一", "二", "答二"]);
        assert_eq!(deleting.post(&format!("/api/conversations/{id}/stop"), &json!({})).await.status, 200);
        assert!(deleting.resume(&id, None).await.is_none());
        let exported = deleting.get("/api/me/export").await.text();
        assert!(!exported.contains("半句") && !exported.contains("\"三\""), "{exported}");
    }
}

#[tokio::test]
async fn f150_deleted_answer_is_not_resumed_later() {
    let two = TwoInstances::start().await;
    two.first.model.queue_replies([Completion::of(["答一"])]);
    let mut turn = two.first.open(&json!({ "message": "一" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    let first = turn.last_id();
    turn.read_to_end().await;
    assert!(two.first.resume(&id, Some(&first)).await.is_some());
    let answer = read(&two.first, &id, "").await.as_array().unwrap()[1]["id"].clone();
    assert_eq!(delete(&two.second, &id, &answer).await, 204);
    for instance in [&two.first, &two.second] {
        assert!(instance.resume(&id, Some(&first)).await.is_none());
    }
}

#[tokio::test]
async fn turn_on_another_branch_survives_a_deletion() {
    let app = start().await;
    let (id, first, second) = start_talk(&app).await;
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
    let mut turn = app.open(&json!({ "message": "三", "conversationId": id, "parentId": first })).await;
    turn.read_until("content").await;
    assert_eq!(delete(&app, &id, &json!(second)).await, 204);
    assert_eq!(select(&app, &id, &json!(second)).await.status, 404);
    gate.open();
    assert_eq!(turn.read_to_end().await.finish_reason(), "stop");
    assert_eq!(contents(&read(&app, &id, "").await), ["一", "答一", "三", "半句，整句。"]);
}

#[tokio::test]
async fn last_messages_come_first_from_the_end() {
    let app = start().await;
    let (id, first, _) = start_talk(&app).await;
    for text in ["三", "四", "五"] {
        app.follow_up(&id, text).await;
    }
    send(&app, json!({ "message": "侧", "conversationId": id, "parentId": first })).await;
    let main = read(&app, &id, &format!("?branch={first}")).await;
    assert_eq!(contents(&main), ["一", "答一", "侧", "答侧"], "the newest message after it");
    let leaf = read(&app, &id, "").await;
    let other = leaf[2]["siblings"][0].as_str().unwrap().to_owned();
    let whole = read(&app, &id, &format!("?branch={other}")).await;
    assert_eq!(contents(&whole), ["一", "答一", "二", "答二", "三", "答三", "四", "答四", "五", "答五"]);
    for limit in 1..=11 {
        for from in ["", "&from=end"] {
            let (mut all, mut cursor) = (Vec::new(), String::new());
            loop {
                let query = format!("?branch={other}&limit={limit}{from}{cursor}");
                let page = app.get(&format!("/api/conversations/{id}{query}")).await.ok();
                let messages = page["messages"].as_array().unwrap().clone();
                all = if from.is_empty() { [all, messages].concat() } else { [messages, all].concat() };
                let Some(next) = page["nextCursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
            assert_eq!(json!(all), whole, "{limit} {from}");
        }
    }
    let page = app.get(&format!("/api/conversations/{id}?from=end&limit=3")).await.ok();
    assert_eq!(contents(&page["messages"]), ["答一", "侧", "答侧"]);
    select(&app, &id, &json!(other)).await.ok();
    let next = app.get(&format!("/api/conversations/{id}?cursor={}", page["nextCursor"].as_str().unwrap())).await.ok();
    assert_eq!(contents(&next["messages"]), ["一"], "a cursor stays on its branch");
}

#[tokio::test]
async fn simultaneous_selections_leave_one_branch() {
    let two = TwoInstances::start().await;
    two.first.model.respond_with(|_| Completion::of(["好。"]));
    let (id, first, second) = start_talk(&two.first).await;
    let (_, third) = send(&two.first, json!({ "message": "三", "conversationId": id, "parentId": first })).await;
    for _ in 0..5 {
        let (second, third) = (json!(second), json!(third));
        let selections = [(&two.first, &second), (&two.second, &third), (&two.second, &second), (&two.first, &third)];
        let selected = selections.map(|(app, message)| select(app, &id, message));
        for answer in futures_util::future::join_all(selected).await {
            assert_eq!(answer.ok()["conversation"]["messageCount"], 4);
        }
        let (one, other) = tokio::join!(read(&two.first, &id, ""), read(&two.second, &id, ""));
        assert!(one == other && (one[3]["id"] == second || one[3]["id"] == third), "{one} {other}");
    }
}

#[tokio::test]
async fn exported_messages_name_their_parents() {
    let app = start().await;
    let (id, first, _) = start_talk(&app).await;
    send(&app, json!({ "message": "三", "conversationId": id, "parentId": first })).await;
    let exported = app.get("/api/me/export").await.text();
    let rows: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "message").collect();
    let parent_of = |index: usize| rows.iter().position(|row| row["id"] == rows[index]["parentId"]);
    assert_eq!((0..6).map(parent_of).collect::<Vec<_>>(), [None, Some(0), Some(1), Some(2), Some(1), Some(4)]);
    let hidden: Vec<bool> = rows.iter().map(|row| row["aside"].as_bool().unwrap()).collect();
    assert_eq!(hidden, [false, false, true, true, false, false]);
}
