use domain::{Attachment, ErrorCode, Failure, StrictObject};

use crate::attachments::UserContent;
use crate::request::validate_message;
use crate::{ParentMessage, TurnOptions, TurnRequest};

const MAX_CHAT_ID_CHARS: usize = 255;

/// Maximum number of messages in a client's copy, and of parts in a message.
const MAX_MESSAGES: usize = 10_000;
const MAX_PARTS: usize = 100;

/// A request of `useChat`: the next message of a chat, an edited one, or a regeneration of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiSdkRequest {
    /// The client's name for the conversation.
    pub chat_id: String,
    /// Whether an answer is to be regenerated.
    pub regenerate: bool,
    /// The answer to be regenerated, or the edited message, as the client knows it; absent for the last one.
    pub message_id: Option<String>,
    /// The files of the message, by their addresses.
    pub attachments: Vec<Attachment>,
    /// The remaining fields. The message is empty for a regeneration whose body holds no message, and may be with files.
    pub turn: TurnRequest,
}

impl AiSdkRequest {
    /// Parses the body of `POST /api/ui/chat` as the SDK's transport sends it. `message` replaces `messages` if
    /// `prepareSendMessagesRequest` sends only the newest. The additional fields of `POST /api/chat` are accepted too.
    ///
    /// The last message must be the user's. Of those before it only the id of the last answer is read, as the parent of an
    /// edited message: the server stores the conversation itself.
    ///
    /// # Errors
    /// `invalid_request` or `too_large`, with a message that names the field and what is accepted.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        let chat_id = fields.take_non_blank("id", MAX_CHAT_ID_CHARS)?;
        let chat_id = chat_id.ok_or_else(|| invalid_request("`id` is required: the id of the chat, a string"))?;
        let regenerate = parse_trigger(&mut fields)?;
        let message_id = fields.take_string("messageId")?;
        let (message, parent) = take_messages(&mut fields)?;
        let (message, attachments) = match message {
            Some(message) => message_content(message)?,
            None if regenerate => Default::default(),
            None => return Err(invalid_request("`messages` is required: an array that ends with the user's message")),
        };
        let options = TurnOptions { stream: true, ..TurnOptions::take(&mut fields)? };
        // The chat id alone identifies the conversation.
        let ids = Vec::new();
        let turn = TurnRequest { message, attachments: ids, conversation_id: None, parent, temporary: false, options };
        Ok(Self { chat_id, regenerate, message_id, attachments, turn })
    }
}

fn parse_trigger(fields: &mut StrictObject) -> Result<bool, Failure> {
    match fields.take_string("trigger")?.as_deref() {
        None | Some("submit-message") => Ok(false),
        Some("regenerate-message") => Ok(true),
        Some(_) => Err(fields.field_error("trigger", "\"submit-message\" or \"regenerate-message\"")),
    }
}

/// The last message, and the last answer before it; that is unknown if the client sends only the newest message.
fn take_messages(fields: &mut StrictObject) -> Result<(Option<StrictObject>, ParentMessage), Failure> {
    if let Some(message) = fields.take_nested("message")? {
        return Ok((Some(message), ParentMessage::Last));
    }
    let Some(mut messages) = fields.take_objects("messages", MAX_MESSAGES)? else {
        return Ok((None, ParentMessage::Last));
    };
    let last = messages.pop();
    let mut answers = messages.into_iter().rev();
    let is_answer = |message: &mut StrictObject| message.take_value("role").is_some_and(|role| role == "assistant");
    let parent = match answers.find_map(|mut message| is_answer(&mut message).then(|| message.take_value("id"))) {
        Some(id) => id.and_then(|id| id.as_str().map(str::to_owned)).map_or(ParentMessage::Last, ParentMessage::Id),
        None => ParentMessage::None,
    };
    Ok((last, parent))
}

/// The text and the files of a user message. Parts with client data are skipped.
fn message_content(mut message: StrictObject) -> Result<(String, Vec<Attachment>), Failure> {
    if message.take_string("role")?.as_deref() != Some("user") {
        return Err(message.field_error("role", "\"user\": the last message is the question"));
    }
    let parts = message.take_objects("parts", MAX_PARTS)?;
    let parts = parts.ok_or_else(|| message.field_error("parts", "an array that holds a part of type \"text\""))?;
    let mut content = UserContent::default();
    for mut part in parts {
        match part.take_string("type")?.as_deref() {
            Some("text") => content.add_text(&mut part, "text")?,
            Some("file") => content.add_file(&mut part, &["url"])?,
            Some(kind) if kind.starts_with("data-") => {}
            _ => return Err(part.field_error("type", "\"text\" or \"file\"")),
        }
    }
    let (text, attachments) = content.into_parts();
    if !attachments.is_empty() && text.trim().is_empty() {
        return Ok((String::new(), attachments));
    }
    Ok((validate_message("The text of the last message", text)?, attachments))
}

fn invalid_request(sentence: &str) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, sentence)
}

#[cfg(test)]
mod tests {
    use domain::ToolChoice;
    use serde_json::{Value, json};

    use super::*;

    fn parse(body: &Value) -> Result<AiSdkRequest, Failure> {
        AiSdkRequest::parse(body.to_string().as_bytes())
    }

    fn ui_message(role: &str, parts: &Value) -> Value {
        json!({ "id": "m1", "role": role, "parts": parts })
    }

    fn user_message(text: &str) -> Value {
        ui_message("user", &json!([{ "type": "text", "text": text }]))
    }

    fn parse_error(body: &Value) -> String {
        parse(body).unwrap_err().message
    }

    #[test]
    fn transport_body_yields_the_last_message() {
        let answer =
            ui_message("assistant", &json!([{ "type": "step-start" }, { "type": "dynamic-tool", "input": {} }]));
        let body = json!({
            "id": "x7", "messages": [user_message("旧"), answer, user_message("问")], "trigger": "submit-message", "messageId": "m0",
            "modelType": "volcano", "agentId": "a", "toolChoice": "none", "conversationId": "c", "stream": false,
        });
        let turn = TurnRequest {
            message: "问".into(),
            attachments: Vec::new(),
            conversation_id: None,
            parent: ParentMessage::Id("m1".into()),
            temporary: false,
            options: TurnOptions {
                model: Some("volcano".into()),
                agent_id: Some("a".into()),
                tool_choice: Some(ToolChoice::None),
                ..TurnOptions::default()
            },
        };
        assert_eq!(
            parse(&body),
            Ok(AiSdkRequest {
                chat_id: "x7".into(),
                regenerate: false,
                message_id: Some("m0".into()),
                attachments: Vec::new(),
                turn
            })
        );
    }

    #[test]
    fn single_message_with_text_parts_is_accepted() {
        let parts = json!([{ "type": "text", "text": "一" }, { "type": "data-draft", "data": {} }, { "type": "text", "text": "二" }]);
        let request = parse(&json!({ "id": "x", "message": ui_message("user", &parts) })).unwrap();
        assert_eq!((request.turn.message.as_str(), request.regenerate), ("一\n二", false));
    }

    #[test]
    fn file_parts_are_attachments_with_or_without_text() {
        let file = json!({ "type": "file", "mediaType": "image/png", "filename": "a\n.png", "url": "data:image/png;base64,AA" });
        let expected = Attachment::at("a .png".into(), "image/png".into(), "data:image/png;base64,AA");
        for (text, parts) in [("", json!([file])), ("看", json!([file, { "type": "text", "text": "看" }]))] {
            let request = parse(&json!({ "id": "x", "messages": [ui_message("user", &parts)] })).unwrap();
            assert_eq!((request.turn.message.as_str(), request.attachments), (text, vec![expected.clone()]));
        }
        let many = Value::from(vec![file; 11]);
        assert_eq!(
            parse_error(&json!({ "id": "x", "message": ui_message("user", &many) })),
            "`message.parts[10].url` must be left out: a message has at most 10 files"
        );
    }

    #[test]
    fn regenerate_needs_no_message() {
        let request = parse(&json!({ "id": "x", "trigger": "regenerate-message", "messageId": "m2" })).unwrap();
        assert_eq!((request.turn.message.as_str(), request.regenerate), ("", true));
        let request =
            parse(&json!({ "id": "x", "trigger": "regenerate-message", "messages": [user_message("问")] })).unwrap();
        assert_eq!((request.turn.message.as_str(), request.regenerate), ("问", true));
        assert_eq!(request.turn.parent, ParentMessage::None);
    }

    #[test]
    fn invalid_field_is_named_with_accepted_values() {
        assert_eq!(
            parse_error(&json!({ "messages": [user_message("a")] })),
            "`id` is required: the id of the chat, a string"
        );
        assert!(
            parse_error(&json!({ "id": "x".repeat(256), "messages": [user_message("a")] })).starts_with("`id` must be")
        );
        for nothing in [json!({ "id": "x" }), json!({ "id": "x", "messages": [] })] {
            assert_eq!(parse_error(&nothing), "`messages` is required: an array that ends with the user's message");
        }
        assert_eq!(
            parse_error(&json!({ "id": "x", "messages": [user_message("a"), ui_message("assistant", &json!([]))] })),
            "`messages[1].role` must be \"user\": the last message is the question"
        );
        for (part, expected) in [
            (json!({ "type": "image" }), "`message.parts[1].type` must be \"text\" or \"file\""),
            (
                json!({ "type": "file", "url": "blob:x" }),
                "`message.parts[1].url` must be a URL that begins with data:, https: or http:",
            ),
        ] {
            let parts = json!([{ "type": "text", "text": "看" }, part]);
            assert_eq!(parse_error(&json!({ "id": "x", "message": ui_message("user", &parts) })), expected);
        }
        assert_eq!(
            parse_error(&json!({ "id": "x", "messages": [user_message(" ")] })),
            "The text of the last message must not be blank"
        );
        assert!(parse_error(&json!({ "id": "x", "trigger": "resume", "messages": [] })).contains("submit-message"));
        assert!(
            parse_error(&json!({ "id": "x", "message": { "role": "user", "content": "a" } })).contains("message.parts")
        );
    }

    #[test]
    fn f103_message_length_counts_unicode_scalar_values() {
        let body = |n: usize| json!({ "id": "x", "messages": [user_message(&"界".repeat(n))] });
        assert!(parse(&body(32_000)).is_ok());
        assert_eq!(parse(&body(32_001)).unwrap_err().code, ErrorCode::TooLarge);
    }
}
