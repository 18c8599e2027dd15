//! User messages with pictures, at every wire.

use domain::{Attachment, AttachmentContent, AttachmentKind};
use serde_json::Value;

use super::*;

const WIRES: [Wire; 6] = [Wire::Openai, Wire::Responses, Wire::Ollama, Wire::Anthropic, Wire::Gemini, Wire::Converse];

fn file(media_type: &str, kind: AttachmentKind, content: AttachmentContent) -> Attachment {
    Attachment { kind, content, ..Attachment::at("f".to_owned(), media_type.to_owned(), "") }
}

fn picture(media_type: &str, base64: &str) -> Attachment {
    file(media_type, AttachmentKind::Image, AttachmentContent::Base64(base64.into()))
}

fn user(text: &str, attachments: Vec<Attachment>) -> Message {
    Message::User { text: text.to_owned(), attachments }
}

/// A picture in an earlier message, two in the last one.
fn prompt() -> Prompt {
    let answer = "A cat.".to_owned();
    let answer = Message::Assistant { text: answer, thinking: String::new(), calls: vec![], provider_data: None };
    let messages = vec![
        user("What is it?", vec![picture("image/png", "AAAA")]),
        answer,
        user("And these?", vec![picture("image/jpeg", "BBBB"), picture("image/webp", "CCCC")]),
    ];
    Prompt { system: "Be brief.".to_owned(), messages, ..Prompt::default() }
}

/// The messages of the request, with positions marked for the cache.
fn messages(wire: Wire, prompt: &Prompt) -> Value {
    let quirks = Quirks { cache_control: true, ..quirks_with("m", wire, "http://localhost", Options::default()) };
    let (_, mut body) = body(protocol_of(wire).encode, prompt, quirks);
    let name = ["messages", "input", "contents"].into_iter().find(|name| body.get(name).is_some()).unwrap();
    body[name].take()
}

fn expected(wire: Wire) -> Value {
    let mark = json!({"type": "ephemeral"});
    match wire {
        Wire::Openai => json!([
            {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": mark}]},
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "What is it?"},
            ]},
            {"role": "assistant", "content": "A cat."},
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BBBB"}},
                {"type": "image_url", "image_url": {"url": "data:image/webp;base64,CCCC"}},
                {"type": "text", "text": "And these?", "cache_control": mark},
            ]},
        ]),
        Wire::Responses => json!([
            {"type": "message", "role": "user", "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
                {"type": "input_text", "text": "What is it?"},
            ]},
            {"type": "message", "role": "assistant", "content": "A cat."},
            {"type": "message", "role": "user", "content": [
                {"type": "input_image", "image_url": "data:image/jpeg;base64,BBBB", "detail": "auto"},
                {"type": "input_image", "image_url": "data:image/webp;base64,CCCC", "detail": "auto"},
                {"type": "input_text", "text": "And these?"},
            ]},
        ]),
        Wire::Ollama => json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is it?", "images": ["AAAA"]},
            {"role": "assistant", "content": "A cat."},
            {"role": "user", "content": "And these?", "images": ["BBBB", "CCCC"]},
        ]),
        Wire::Anthropic => json!([
            {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "text", "text": "What is it?"},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]},
            {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "BBBB"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "CCCC"}},
                {"type": "text", "text": "And these?", "cache_control": mark},
            ]},
        ]),
        Wire::Gemini => json!([
            {"role": "user", "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "What is it?"},
            ]},
            {"role": "model", "parts": [{"text": "A cat."}]},
            {"role": "user", "parts": [
                {"inlineData": {"mimeType": "image/jpeg", "data": "BBBB"}},
                {"inlineData": {"mimeType": "image/webp", "data": "CCCC"}},
                {"text": "And these?"},
            ]},
        ]),
        Wire::Converse => json!([
            {"role": "user", "content": [
                {"image": {"format": "png", "source": {"bytes": "AAAA"}}}, {"text": "What is it?"},
            ]},
            {"role": "assistant", "content": [{"text": "A cat."}]},
            {"role": "user", "content": [
                {"image": {"format": "jpeg", "source": {"bytes": "BBBB"}}},
                {"image": {"format": "webp", "source": {"bytes": "CCCC"}}},
                {"text": "And these?"},
                {"cachePoint": {"type": "default"}},
            ]},
        ]),
    }
}

#[test]
fn pictures_precede_text_at_every_wire() {
    for wire in WIRES {
        assert_eq!(messages(wire, &prompt()), expected(wire), "{wire:?}");
    }
}

#[test]
fn files_that_are_no_pictures_change_nothing() {
    let others = || {
        vec![
            file("text/plain", AttachmentKind::Text, AttachmentContent::Text("t".into())),
            file("image/png", AttachmentKind::Image, AttachmentContent::Absent),
            file("image/png", AttachmentKind::Image, AttachmentContent::Address("data:image/png;base64,AAAA".into())),
        ]
    };
    for wire in WIRES {
        let encoded = |attachments| {
            let prompt = Prompt { messages: vec![user("hi", attachments)], ..prompt() };
            let quirks = quirks_with("m", wire, "http://localhost", Options::default());
            encode(WireRequest { model: "m", origin: "o", prompt: &prompt, quirks }).unwrap().body
        };
        assert_eq!(encoded(others()), encoded(vec![]), "{wire:?}");
    }
}

#[test]
fn picture_without_text_has_no_empty_part() {
    let prompt = Prompt { messages: vec![user("", vec![picture("image/gif", "R0lG")])], ..Prompt::default() };
    for wire in WIRES {
        let sent = messages(wire, &prompt).to_string();
        assert!(sent.contains("R0lG"), "{wire:?} {sent}");
        assert!(!sent.contains(r#""text":"""#), "{wire:?} {sent}");
    }
}
