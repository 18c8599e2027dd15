mod results;

use domain::ToolMessage;
use serde_json::json;

use super::*;

fn parse(messages: &Value) -> Result<ParsedConversation, Failure> {
    parse_messages(&mut StrictObject::parse(json!({ "messages": messages }).to_string().as_bytes()).unwrap())
}

fn assistant(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: text.into(), thinking: String::new(), calls, provider_data: None }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

#[test]
fn conversation_is_split_at_last_user_message() {
    let calls = json!([
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{broken"}},
    ]);
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "一"}, {"type": "text", "text": "二"}]},
        {"role": "assistant", "content": "答"},
        {"role": "user", "content": " "},
        {"role": "developer", "content": [{"type": "text", "text": "In Chinese."}]},
        {"role": "user", "content": "三"},
        {"role": "assistant", "content": null, "tool_calls": calls, "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "b", "content": "rb"},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "ra"}]},
    ]);
    let call = |id: &str, name: &str, arguments| ToolCall { id: id.into(), name: name.into(), arguments };
    let result = |id: &str, name: &str, content: &str| {
        Message::Tool(ToolMessage { call_id: id.into(), name: name.into(), ok: true, content: content.into() })
    };
    let calls = vec![call("a", "f", json!({"x": 1})), call("b", "g", json!("{broken"))];
    let called = Message::Assistant { text: String::new(), thinking: "hm".into(), calls, provider_data: None };
    let expected = ParsedConversation {
        system: Some("Be brief.\n\nIn Chinese.".into()),
        history: vec![HistoryTurn { seq: 1, messages: vec![user("一\n二"), assistant("答", Vec::new())] }],
        text: "三".into(),
        attachments: Vec::new(),
        trailing_messages: vec![called, result("a", "f", "ra"), result("b", "g", "rb")],
    };
    assert_eq!(parse(&messages), Ok(expected));
}

#[test]
fn pictures_and_files_are_attachments_of_their_message() {
    let data = "data:application/pdf;base64,JVBE";
    let messages = json!([
        {"role": "user", "content": [{"type": "image_url", "image_url": "https://a.example/b.png"}]},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": data}},
        ]},
    ]);
    let at = |name: &str, media_type: &str, address| Attachment::at(name.into(), media_type.into(), address);
    let first = Message::User { text: String::new(), attachments: vec![at("", "", "https://a.example/b.png")] };
    let expected = ParsedConversation {
        history: vec![HistoryTurn { seq: 1, messages: vec![first, assistant("A cat.", Vec::new())] }],
        attachments: vec![at("", "image/png", "data:image/png;base64,AAAA"), at("a.pdf", "application/pdf", data)],
        ..ParsedConversation::default()
    };
    assert_eq!(parse(&messages), Ok(expected));
}

#[test]
fn unanswerable_messages_are_rejected_by_path() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let called = json!({"role": "assistant", "tool_calls": [call]});
    let user = json!({"role": "user", "content": "hi"});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "r"});
    let part = |part| json!([{"role": "user", "content": [{"type": "text", "text": "x"}, part]}]);
    let image = json!({"type": "image_url", "image_url": {"url": "data:,"}});
    let many = json!([{"role": "user", "content": vec![image; 11]}]);
    let url = |url| part(json!({"type": "image_url", "image_url": url}));
    let file = |file| part(json!({"type": "file", "file": file}));
    for (messages, param) in [
        (json!([]), "messages"),
        (json!([{"role": "system", "content": "x"}]), "messages"),
        (json!([{"role": "user", "content": ""}]), "messages"),
        (json!([user, {"role": "assistant", "content": "and"}]), "messages"),
        (json!([user, called]), "messages"),
        (json!([user, called, user]), "messages[2].role"),
        (json!([user, called, result, result]), "messages[3].tool_call_id"),
        (many, "messages[0].content[10].image_url.url"),
        (url(json!("ftp://a.example/b")), "messages[0].content[1].image_url"),
        (url(json!({"url": "file:///etc/passwd"})), "messages[0].content[1].image_url.url"),
        (url(json!({})), "messages[0].content[1].image_url.url"),
        (url(json!(null)), "messages[0].content[1].image_url"),
        (file(json!({"file_id": "file-1"})), "messages[0].content[1].file.file_id"),
        (file(json!({"filename": "a.pdf", "file_data": "JVBE"})), "messages[0].content[1].file.file_data"),
        (part(json!({"type": "input_audio"})), "messages[0].content[1].type"),
        (
            json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "image_url"}]}]),
            "messages[1].content",
        ),
        (json!([{"role": "robot", "content": "x"}]), "messages[0].role"),
        (json!([{"role": "user"}]), "messages[0].content"),
    ] {
        assert_eq!(parse(&messages).unwrap_err().param.as_deref(), Some(param), "{messages}");
    }
}
