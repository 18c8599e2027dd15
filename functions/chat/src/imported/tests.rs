use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use fuzz::{ensure, run_text};
use serde_json::{Value, json};

use super::*;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(527_777)
}

/// A node of the mapping of `ChatGPT`.
fn node(parent: Option<&str>, role: &str, text: &str, seconds: u32) -> Value {
    let content = json!({ "content_type": "text", "parts": [text] });
    json!({ "parent": parent, "message": { "author": { "role": role }, "create_time": seconds, "content": content } })
}

fn outcome(conversation: &Value) -> Result<NewConversation, Reason> {
    outcome_of(&conversation.to_string())
}

fn outcome_of(body: &str) -> Result<NewConversation, Reason> {
    parse(body.as_bytes(), now()).unwrap().remove(0)
}

/// Each message as its parent's index, its role and its text.
fn lines(conversation: &NewConversation) -> Vec<String> {
    let line = |message: &store::NewMessage| {
        let parent = message.parent.map_or("-".to_owned(), |parent| parent.to_string());
        format!("{parent} {:?} {}", message.role, message.content)
    };
    conversation.messages.iter().map(line).collect()
}

#[test]
fn chatgpt_tree_keeps_branches_times_and_title() {
    let mut picture = node(Some("b"), "user", "看图", 5);
    picture["message"]["content"] =
        json!({ "content_type": "multimodal_text", "parts": [{ "asset_pointer": "file-service://x" }, "看图"] });
    let mut code = node(Some("a"), "assistant", "search(\"tea\")", 3);
    code["message"]["recipient"] = json!("browser");
    let mut answer = node(Some("tool"), "assistant", "茶。", 4);
    answer["message"]["metadata"] = json!({ "model_slug": "gpt-4o" });
    let mut hidden = node(Some("root"), "user", "秘密", 1);
    hidden["message"]["metadata"] = json!({ "is_visually_hidden_from_conversation": true });
    let imported = outcome(&json!({
        "title": "关于\u{0}茶", "create_time": 1.5, "update_time": 9.0, "current_node": "b", "id": "x", "voice": null,
        "mapping": {
            "d": node(Some("picture"), "assistant", "一只猫。", 6), "picture": picture, "b": answer,
            "tool": node(Some("code"), "tool", "结果", 3), "code": code, "a": node(Some("hidden"), "user", "茶？\u{7}", 2),
            "hidden": hidden, "root": { "parent": null, "message": null },
            "e": node(Some("hidden"), "user", "咖啡？", 7),
        },
    }));
    let imported = imported.unwrap();
    let expected =
        ["- User 茶？", "0 Assistant 茶。", "1 User 看图", "2 Assistant 一只猫。", "- User 咖啡？", "4 Assistant "];
    assert_eq!(lines(&imported), expected);
    assert_eq!((imported.title.as_str(), imported.has_own_title, imported.last), ("关于茶", true, 3));
    let times = [imported.created_at, imported.updated_at, imported.messages[1].created_at];
    assert_eq!(times.map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_millis()), [1_500, 9_000, 4_000]);
    assert_eq!((imported.messages[1].model.as_str(), imported.messages[5].is_complete), ("gpt-4o", false));
}

#[test]
fn texts_of_one_role_are_joined_or_siblings() {
    let imported = outcome(&json!({ "mapping": {
        "greeting": node(None, "assistant", "Hello!", 1), "a": node(Some("greeting"), "user", "one", 2),
        "b": node(Some("a"), "user", "two", 3), "c": node(Some("b"), "assistant", "three", 4),
        "d": node(Some("b"), "user", "four", 5),
    } }));
    let imported = imported.unwrap();
    assert_eq!(lines(&imported), ["- User one\n\ntwo", "0 Assistant three", "- User four", "2 Assistant "]);
    assert_eq!((imported.title.as_str(), imported.has_own_title), ("one two", false));
}

#[test]
fn own_questions_without_answers_stay_apart() {
    let message = |id: &str, parent: Option<&str>, role: &str| json!({ "id": id, "parentId": parent, "role": role, "content": id });
    let imported = outcome(&json!({ "version": 1, "conversation": {}, "messages": [
        message("one", None, "user"), message("two", Some("one"), "user"), message("three", Some("two"), "assistant"),
    ] }));
    assert_eq!(lines(&imported.unwrap()), ["- User one", "0 User two", "1 Assistant three"]);
}

#[test]
fn branches_are_in_the_order_of_their_times() {
    let imported = outcome(&json!({ "create_time": 1, "current_node": "c", "mapping": {
        "a": node(None, "user", "茶？", 2), "b": node(Some("a"), "assistant", "绿茶。", 3),
        "c": node(Some("a"), "assistant", "红茶。", 4), "d": node(Some("b"), "user", "然后？", 5),
        "e": node(Some("d"), "assistant", "喝。", 6),
    } }));
    let imported = imported.unwrap();
    let expected = ["- User 茶？", "0 Assistant 绿茶。", "0 Assistant 红茶。", "1 User 然后？", "3 Assistant 喝。"];
    assert_eq!((lines(&imported), imported.last), (expected.map(str::to_owned).to_vec(), 2));
}

#[test]
fn damaged_conversations_have_reasons() {
    let chat = |mapping: Value| json!({ "mapping": mapping });
    let ours = |messages: Value| json!({ "version": 1, "conversation": {}, "messages": messages });
    let question = json!({ "id": "a", "parentId": null, "role": "user", "content": "hi" });
    for (conversation, expected) in [
        (json!(7), "not an object"),
        (json!({}), "known form"),
        (json!({ "mapping": [] }), "known form"),
        (json!({ "version": 2, "messages": [] }), "known form"),
        (chat(json!({})), "no message"),
        (chat(json!({ "a": node(Some("b"), "user", "x", 1), "b": node(Some("a"), "user", "y", 2) })), "circle"),
        (chat(json!({ "a": node(Some("a"), "user", "x", 1) })), "circle"),
        (chat(json!({ "a": node(Some("z"), "user", "x", 1) })), "missing"),
        (chat(json!({ "a": { "parent": 7 } })), "without an id"),
        (chat(json!({ "a": node(None, "system", "x", 1), "b": node(None, "tool", "x", 1) })), "no message"),
        (chat(json!({ "a": { "parent": null, "message": { "author": 7, "content": { "parts": 7 } } } })), "no message"),
        (ours(json!([question, question])), "same id"),
        (ours(json!([{ "role": "user", "content": "hi" }])), "has no id"),
        (ours(json!([{ "id": "a", "role": "user", "content": " " }])), "no message"),
    ] {
        let reason = outcome(&conversation).unwrap_err();
        assert!(reason.contains(expected), "{conversation}: {reason}");
    }
}

#[test]
fn chains_of_any_length_take_linear_time() {
    let mut chain = String::from(r#"{"mapping":{"0":{"parent":null}"#);
    for at in 1..100_000 {
        let _ = write!(chain, r#","{at}":{{"parent":"{}"}}"#, at - 1);
    }
    chain.push_str("}}");
    assert_eq!(parse(chain.as_bytes(), now()).unwrap(), [Err("It is not an object, or has more than 200,000 values")]);
    let mut chain = String::from(r#"{"version":1,"messages":[{"id":"0","role":"user","content":"x"}"#);
    for at in 1..30_000 {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let _ = write!(chain, r#",{{"id":"{at}","parentId":"{}","role":"{role}","content":"x"}}"#, at - 1);
    }
    chain.push_str("]}");
    assert_eq!(parse(chain.as_bytes(), now()).unwrap(), [Err("With it the import has more than 20,000 messages")]);
}

#[test]
fn elements_of_an_array_are_bounded() {
    let count = |body: &str| parse(body.as_bytes(), now()).map(|rows| rows.len()).ok();
    assert_eq!(
        ["[]", " [ ] ", "[{}]", " [ 1 , {\"a\":[1,2]}\n, \"],\" ] ", "{}"].map(count),
        [0, 0, 1, 3, 1].map(Some)
    );
    assert_eq!(["", "[", "]", "[1,]", "[,]", "[1 2]", "[1]]", "{}{}", "[{}"].map(count), [None; 9]);
    let many = |count: usize| format!("[{}]", vec!["0"; count].join(","));
    assert_eq!((count(&many(1_000)), count(&many(1_001))), (Some(1_000), None));
    let deep = format!("[{}{}]", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(outcome_of(&deep), Err("It is not an object, or has more than 200,000 values"));
}

#[test]
fn sources_of_other_schemes_are_dropped() {
    let source = |url: &str| json!({ "index": 1, "title": "t", "url": url });
    let urls = ["https://a.example", "javascript:alert(1)", "http://b.example", "data:text/html,x"].map(source);
    let message = |id: &str, parent: Value, role: &str| json!({ "id": id, "parentId": parent, "role": role, "content": "x", "sources": urls, "createdAt": "2020-01-01T00:00:00Z" });
    let messages = [message("a", Value::Null, "user"), message("b", json!("a"), "assistant")];
    let head = json!({ "createdAt": "2019-01-01T00:00:00Z" });
    let imported = outcome(&json!({ "version": 1, "conversation": head, "messages": messages })).unwrap();
    let urls: Vec<&str> = imported.messages[1].sources.iter().map(|source| source.url.as_str()).collect();
    assert_eq!((urls, imported.messages[0].sources.len()), (vec!["https://a.example", "http://b.example"], 0));
    assert_eq!(imported.messages[1].created_at, UNIX_EPOCH + Duration::from_hours(438_288));
}

#[test]
fn fuzz_imports_are_trees_or_have_reasons() {
    let chat = json!({ "mapping": { "a": node(None, "user", "x", 1), "b": node(Some("a"), "assistant", "y", 2) } });
    let messages = [
        json!({ "id": "a", "role": "user", "content": "x" }),
        json!({ "id": "b", "parentId": "a", "role": "assistant", "content": "y" }),
    ];
    let ours = json!({ "version": 1, "conversation": {}, "messages": messages, "currentId": "a" });
    let seeds = [chat.to_string(), ours.to_string(), json!([chat, ours]).to_string()];
    let pieces =
        ["\"parent\":\"b\"", "\"assistant\"", "\"user\"", "null", "[", "]", "{", "}", ",", "-1e999", "\\u0000"];
    run_text("imports", &seeds.each_ref().map(String::as_str), &pieces, |text| {
        for conversation in parse(text.as_bytes(), now()).unwrap_or_default().into_iter().flatten() {
            let NewConversation { messages, last, .. } = &conversation;
            let is_tree = messages.iter().enumerate().all(|(at, message)| match message.parent {
                Some(parent) => parent < at && messages[parent].role != message.role,
                None => message.role == Role::User,
            });
            let is_leaf = messages.iter().all(|message| message.parent != Some(*last));
            ensure(is_tree && is_leaf && messages[*last].role == Role::Assistant, || format!("{conversation:?}"))?;
        }
        Ok(())
    });
}
