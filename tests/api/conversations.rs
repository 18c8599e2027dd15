//! `/api/conversations`: list, read, rename, delete.

use serde_json::{Value, json};
use support::{Client, Completion, Gate, TestApp};

use crate::search_call;

/// Creates a conversation for each text, in this order, and returns their ids.
async fn create_conversations(app: &TestApp, texts: &[&str]) -> Vec<String> {
    app.model.respond_with(|request| Completion::of([format!("答{}", request.last_message())]));
    let mut ids = Vec::new();
    for text in texts {
        let turn = app.send_message(text).await;
        assert_eq!(turn.finish_reason(), "stop");
        ids.push(turn.conversation_id());
    }
    ids
}

/// Follows the cursors of a list to its end and returns the ids of each page.
async fn read_pages(client: &Client, path: &str, rows: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut next = path.to_owned();
    loop {
        let page = client.get(&next).await.ok();
        let ids = page[rows].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
        pages.push(ids.collect());
        assert!(pages.len() < 1_000, "the cursors of {path} never end");
        match page["nextCursor"].as_str() {
            Some(cursor) => next = format!("{path}&cursor={cursor}"),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn empty_list_is_an_empty_page() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/api/conversations").await.ok(), json!({ "conversations": [], "nextCursor": null }));
}

#[tokio::test]
async fn list_is_ordered_by_last_change_descending() {
    let app = TestApp::start().await;
    let ids = create_conversations(&app, &["一", "二", "三"]).await;
    let order = [&ids[2], &ids[1], &ids[0]].map(Clone::clone).to_vec();
    assert_eq!(read_pages(&app, "/api/conversations?limit=20", "conversations").await, [order]);
    app.follow_up(&ids[0], "又").await;
    let order = [&ids[0], &ids[2], &ids[1]].map(Clone::clone).to_vec();
    assert_eq!(read_pages(&app, "/api/conversations?limit=20", "conversations").await, [order]);
}

#[tokio::test]
async fn row_holds_title_model_count_and_times() {
    let app = TestApp::start().await;
    let ids = create_conversations(&app, &["一"]).await;
    app.follow_up(&ids[0], "二").await;
    let list = app.get("/api/conversations").await.ok();
    let mut row = list["conversations"][0].clone();
    let (created, updated) = (read_time(&row, "createdAt"), read_time(&row, "updatedAt"));
    assert!(created < updated, "{created} {updated}");
    row["createdAt"] = Value::Null;
    row["updatedAt"] = Value::Null;
    let expected = json!({
        "id": ids[0], "title": "一", "model": "openai", "messageCount": 4, "createdAt": null, "updatedAt": null,
        "titleFrom": "message", "pinned": false, "archived": false,
    });
    assert_eq!(row, expected);
    assert_eq!(list["nextCursor"], Value::Null);
}

/// Reads a time, which must be RFC 3339 in UTC with a text that sorts by time.
fn read_time(row: &Value, key: &str) -> String {
    let text = row[key].as_str().unwrap().to_owned();
    let digits: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert!(digits.starts_with("0000-00-00T00:00:00") && digits.ends_with('Z'), "{text}");
    text
}

#[tokio::test]
async fn f083_pages_follow_each_other_without_a_gap() {
    let app = TestApp::start().await;
    let mut ids = create_conversations(&app, &["一", "二", "三", "四", "五"]).await;
    ids.reverse();
    let pages = read_pages(&app, "/api/conversations?limit=2", "conversations").await;
    assert_eq!(pages.concat(), ids);
    assert_eq!(pages[..2].iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
}

#[tokio::test]
async fn default_page_size_is_twenty() {
    let app = TestApp::start().await;
    let texts: Vec<String> = (0..21).map(|n| n.to_string()).collect();
    create_conversations(&app, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let page = app.get("/api/conversations").await.ok();
    assert_eq!(page["conversations"].as_array().unwrap().len(), 20);
    assert!(page["nextCursor"].is_string());
}

#[tokio::test]
async fn messages_are_paged_oldest_first() {
    let app = TestApp::start().await;
    let id = &create_conversations(&app, &["一"]).await[0];
    app.follow_up(id, "二").await;
    app.follow_up(id, "三").await;
    let whole = app.conversation(id).await;
    let contents: Vec<&Value> =
        whole["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(contents, ["一", "答一", "二", "答二", "三", "答三"]);
    let all: Vec<String> = whole["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_str().unwrap().to_owned())
        .collect();
    for limit in 1..=4 {
        let pages = read_pages(&app, &format!("/api/conversations/{id}?limit={limit}"), "messages").await;
        assert_eq!(pages.concat(), all, "limit {limit}");
    }
}

#[tokio::test]
async fn invalid_limit_or_cursor_is_rejected() {
    let app = TestApp::start().await;
    let id = &create_conversations(&app, &["一"]).await[0];
    for path in ["/api/conversations".to_owned(), format!("/api/conversations/{id}")] {
        for query in [
            "limit=0",
            "limit=101",
            "limit=-1",
            "limit=ten",
            "limit=",
            "cursor=x",
            "cursor=%00",
            "cursor=e30",
            "cursor=",
        ] {
            let answer = app.get(&format!("{path}?{query}")).await;
            assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{path}?{query}");
        }
    }
}

#[tokio::test]
async fn cursor_is_valid_only_for_its_list() {
    let app = TestApp::start().await;
    let ids = create_conversations(&app, &["一", "二"]).await;
    app.follow_up(&ids[0], "三").await;
    let cursor = |page: Value| page["nextCursor"].as_str().unwrap().to_owned();
    let list = cursor(app.get("/api/conversations?limit=1").await.ok());
    let messages = cursor(app.get(&format!("/api/conversations/{}?limit=1", ids[0])).await.ok());
    for wrong in [
        format!("/api/conversations?cursor={messages}"),
        format!("/api/conversations/{}?cursor={list}", ids[0]),
        format!("/api/conversations/{}?cursor={messages}", ids[1]),
    ] {
        assert_eq!(app.get(&wrong).await.error(), (400, "invalid_request".to_owned()), "{wrong}");
    }
}

#[tokio::test]
async fn answer_is_stored_with_calls_and_sources() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::new().thinking("想一想。").text("好的。").text(&search_call("天气")).end(),
        Completion::of(["晴。"]),
    ]);
    let turn = app.send_message("天气如何？").await;
    let mut stored = app.conversation(&turn.conversation_id()).await;
    assert_eq!(stored["messages"][1]["id"], turn.message_id());
    let call_id = turn.events_of("tool_call")[0]["id"].clone();
    let question_id = stored["messages"][0]["id"].clone();
    for message in stored["messages"].as_array_mut().unwrap() {
        read_time(message, "createdAt");
        message["id"] = Value::Null;
        message["createdAt"] = Value::Null;
    }
    let times = ["/thinkingMs", "/toolCalls/0/durationMs", "/toolCalls/0/position/thinkingMs"];
    for path in times {
        let time = stored["messages"][1].pointer_mut(path).unwrap();
        assert!(time.take().is_u64(), "{path}");
    }
    let mut usage = turn.events_of("usage")[0].clone();
    usage.as_object_mut().unwrap().remove("type");
    let user = json!({
        "id": null, "parentId": null, "role": "user", "content": "天气如何？", "thinking": "", "model": "", "toolCalls": [],
        "sources": [], "status": "complete", "createdAt": null,
    });
    let assistant = json!({
        "id": null, "parentId": question_id, "role": "assistant", "content": "好的。\n\n晴。", "thinking": "想一想。", "model": "openai",
        "thinkingMs": null,
        "toolCalls": [{
            "id": call_id, "name": "search_web", "arguments": { "query": "天气" }, "ok": true, "summary": "2 results",
            "position": { "text": 3, "thinking": 4, "thinkingMs": null }, "durationMs": null,
        }],
        "sources": [
            { "index": 1, "title": "天气：第1页", "url": "https://example.com/1", "excerpt": "关于“天气”的内容 1。" },
            { "index": 2, "title": "天气：第2页", "url": "https://example.com/2", "excerpt": "关于“天气”的内容 2。" },
        ],
        "usage": usage, "status": "complete", "createdAt": null,
    });
    assert_eq!(stored["messages"], json!([user, assistant]));
    assert_eq!(stored["nextCursor"], Value::Null);
    assert_eq!(stored["conversation"]["messageCount"], 2);
}

#[tokio::test]
async fn conversation_can_be_renamed() {
    let app = TestApp::start().await;
    let id = &create_conversations(&app, &["一"]).await[0];
    let renamed = app.patch(&format!("/api/conversations/{id}"), &json!({ "title": "天气 & <b>你好</b>" })).await.ok();
    assert_eq!(renamed["conversation"]["title"], "天气 & <b>你好</b>");
    assert_eq!(app.conversation(id).await["conversation"], renamed["conversation"]);
    let list = app.get("/api/conversations").await.ok();
    assert_eq!(list["conversations"][0], renamed["conversation"]);
}

#[tokio::test]
async fn f150_deleted_conversation_is_not_found() {
    let app = TestApp::start().await;
    let ids = create_conversations(&app, &["一", "二"]).await;
    let path = format!("/api/conversations/{}", ids[0]);
    let deleted = app.delete(&path).await;
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    for answer in [app.get(&path).await, app.delete(&path).await, app.patch(&path, &json!({ "title": "x" })).await] {
        assert_eq!(answer.error(), (404, "not_found".to_owned()));
    }
    let again = app.post("/api/chat", &json!({ "message": "hi", "conversationId": ids[0] })).await;
    assert_eq!(again.error(), (404, "not_found".to_owned()));
    assert_eq!(read_pages(&app, "/api/conversations?limit=20", "conversations").await.concat(), ids[1..]);
}

#[tokio::test]
async fn title_comes_from_the_first_message() {
    let app = TestApp::start().await;
    let turn_text = "  今天\n北京   天气如何？ ";
    app.model.respond_with(|_| Completion::of(["晴。"]));
    let first = app.send_message(turn_text).await;
    let id = first.conversation_id();
    assert_eq!(
        app.follow_up(&id, "上海呢？").await.events_of("title").len(),
        0,
        "only a new conversation gets a title"
    );
    let title = app.conversation(&id).await["conversation"]["title"].clone();
    assert!(first.events_of("title").iter().all(|event| event["title"] == title), "{first:?}");
    assert!(title.as_str().unwrap().contains("北京"), "{title}");
    let long = app.send_message(&"长".repeat(5_000)).await.conversation_id();
    let title = app.conversation(&long).await["conversation"]["title"].clone();
    assert!((1..=200).contains(&title.as_str().unwrap().chars().count()), "{title}");
}

#[tokio::test]
async fn title_of_renamed_conversation_is_not_announced() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("一").wait(&gate).text("二").end()]);
    let mut turn = app.open(&json!({ "message": "茶是什么？" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    app.patch(&format!("/api/conversations/{id}"), &json!({ "title": "我的茶" })).await.ok();
    gate.open();
    let turn = turn.read_to_end().await;
    assert_eq!((turn.content().as_str(), turn.events_of("title").len()), ("一二", 0));
    assert_eq!(app.conversation(&id).await["conversation"]["title"], "我的茶");
}

#[tokio::test]
async fn archived_and_pinned_conversations_have_own_lists() {
    let app = TestApp::start().await;
    let ids = create_conversations(&app, &["一", "二", "三", "四", "五"]).await;
    let mark = async |index: usize, change: Value| {
        let path = format!("/api/conversations/{}", ids[index]);
        let before = app.get(&path).await.ok()["conversation"]["updatedAt"].clone();
        let changed = app.patch(&path, &change).await.ok()["conversation"].take();
        assert_eq!(changed["updatedAt"], before, "a mark is no change of the conversation");
        changed
    };
    mark(0, json!({ "archived": true })).await;
    mark(1, json!({ "pinned": true })).await;
    let both = mark(2, json!({ "pinned": true, "archived": true })).await;
    assert_eq!(
        (&both["pinned"], &both["archived"], &both["titleFrom"]),
        (&json!(true), &json!(true), &json!("message"))
    );
    for (query, expected) in [
        ("", [4, 3, 1].as_slice()),
        ("archived=false", &[4, 3, 1]),
        ("archived=true", &[2, 0]),
        ("pinned=true", &[1]),
        ("pinned=false", &[4, 3]),
        ("archived=true&pinned=true", &[2]),
        ("archived=true&pinned=false", &[0]),
    ] {
        let expected: Vec<&String> = expected.iter().map(|index| &ids[*index]).collect();
        for limit in [1, 2, 20] {
            let path = format!("/api/conversations?{query}&limit={limit}");
            let pages = read_pages(&app, &path, "conversations").await.concat();
            assert_eq!(pages.iter().collect::<Vec<_>>(), expected, "{path}");
        }
    }
    mark(2, json!({ "archived": false })).await;
    app.follow_up(&ids[0], "又").await;
    let listed = read_pages(&app, "/api/conversations?archived=true", "conversations").await.concat();
    assert_eq!(listed, [ids[0].clone()], "a turn leaves the marks as they are");
    for query in ["archived=yes", "pinned=", "pinned=1"] {
        let answer = app.get(&format!("/api/conversations?{query}")).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{query}");
    }
}

#[tokio::test]
async fn change_names_at_least_one_known_field() {
    let app = TestApp::start().await;
    let id = &create_conversations(&app, &["一"]).await[0];
    let path = format!("/api/conversations/{id}");
    for body in [
        json!({}),
        json!({ "title": null }),
        json!({ "colour": "red" }),
        json!({ "pinned": "yes" }),
        json!({ "archived": 1 }),
        json!({ "title": " " }),
        json!({ "title": 7 }),
        json!({ "pinned": true, "title": "" }),
    ] {
        assert_eq!(app.patch(&path, &body).await.error(), (400, "invalid_request".to_owned()), "{body}");
    }
    let found = app.conversation(id).await;
    assert_eq!((&found["conversation"]["title"], &found["conversation"]["pinned"]), (&json!("一"), &json!(false)));
    let changed = app.patch(&path, &json!({ "title": " 我的 ", "pinned": true, "colour": "red" })).await.ok();
    let changed = &changed["conversation"];
    assert_eq!(
        (&changed["title"], &changed["titleFrom"], &changed["pinned"]),
        (&json!("我的"), &json!("user"), &json!(true))
    );
    for body in [json!({ "pinned": true }), json!({ "archived": true })] {
        assert_eq!(app.as_user("bob").patch(&path, &body).await.status, 404);
    }
}
