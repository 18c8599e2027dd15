use conversation::{ErrorCode, Failure};

use crate::request::checked;
use crate::{Fields, TurnRequest};

/// Maximum body size of a UI chat, in bytes: clients send their whole copy of the conversation with every message.
pub const MAX_UI_BODY_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of a chat id, in characters.
const LONGEST_CHAT_ID: usize = 255;

/// Maximum number of messages in a client's copy, and of parts in a message.
const MOST_MESSAGES: usize = 10_000;
const MOST_PARTS: usize = 100;

/// A request of `useChat`: the next message of a chat, or a regeneration of its last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiChatRequest {
    /// The client's name for the conversation.
    pub chat_id: String,
    /// Whether the last answer is to be regenerated.
    pub regenerate: bool,
    /// The remaining fields. The message is empty for a regeneration whose body holds no message.
    pub turn: TurnRequest,
}

impl UiChatRequest {
    /// Parses the body of `POST /api/ui/chat` as the SDK's transport sends it. `message` replaces `messages` if
    /// `prepareSendMessagesRequest` sends only the newest. The additional fields of `POST /api/chat` are accepted too.
    ///
    /// Only the last message is used, and it must be the user's; the server stores the conversation itself.
    ///
    /// # Errors
    /// `invalid_request` or `too_large`, with a message that names the field and what is accepted.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = Fields::parse(body)?;
        let chat_id = fields.words("id", LONGEST_CHAT_ID)?;
        let chat_id = chat_id.ok_or_else(|| invalid("`id` is required: the id of the chat, a string"))?;
        let regenerate = regenerate(&mut fields)?;
        let message = match newest(&mut fields)? {
            Some(message) => words(message)?,
            None if regenerate => String::new(),
            None => return Err(invalid("`messages` is required: an array that ends with the user's message")),
        };
        // The chat id alone identifies the conversation.
        let turn = TurnRequest { conversation_id: None, stream: true, ..TurnRequest::of(message, &mut fields)? };
        Ok(Self { chat_id, regenerate, turn })
    }
}

fn regenerate(fields: &mut Fields) -> Result<bool, Failure> {
    match fields.text("trigger")?.as_deref() {
        None | Some("submit-message") => Ok(false),
        Some("regenerate-message") => Ok(true),
        Some(_) => Err(fields.wrong("trigger", "\"submit-message\" or \"regenerate-message\"")),
    }
}

fn newest(fields: &mut Fields) -> Result<Option<Fields>, Failure> {
    match fields.inner("message")? {
        Some(message) => Ok(Some(message)),
        None => Ok(fields.objects("messages", MOST_MESSAGES)?.and_then(|mut messages| messages.pop())),
    }
}

/// The text of a user message. Parts with client data are skipped.
fn words(mut message: Fields) -> Result<String, Failure> {
    if message.text("role")?.as_deref() != Some("user") {
        return Err(message.wrong("role", "\"user\": the last message is what is asked"));
    }
    let parts = message.objects("parts", MOST_PARTS)?;
    let parts = parts.ok_or_else(|| message.wrong("parts", "an array that holds a part of type \"text\""))?;
    let mut texts = Vec::new();
    for mut part in parts {
        match part.text("type")?.as_deref() {
            Some("text") => texts.push(part.text("text")?.unwrap_or_default()),
            Some(kind) if kind.starts_with("data-") => {}
            _ => return Err(part.wrong("type", "\"text\": files and images are not taken")),
        }
    }
    checked("The text of the last message", texts.join("\n"))
}

fn invalid(sentence: &str) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, sentence)
}

#[cfg(test)]
mod tests {
    use conversation::ToolChoice;
    use serde_json::{Value, json};

    use super::*;

    fn parse(body: &Value) -> Result<UiChatRequest, Failure> {
        UiChatRequest::parse(body.to_string().as_bytes())
    }

    fn said(role: &str, parts: &Value) -> Value {
        json!({ "id": "m1", "role": role, "parts": parts })
    }

    fn text(text: &str) -> Value {
        said("user", &json!([{ "type": "text", "text": text }]))
    }

    fn refused(body: &Value) -> String {
        parse(body).unwrap_err().message
    }

    #[test]
    fn transport_body_yields_the_last_message() {
        let answer = said("assistant", &json!([{ "type": "step-start" }, { "type": "dynamic-tool", "input": {} }]));
        let body = json!({
            "id": "x7", "messages": [text("旧"), answer, text("问")], "trigger": "submit-message", "messageId": "m0",
            "modelType": "volcano", "agentId": "a", "toolChoice": "none", "conversationId": "c", "stream": false,
        });
        let turn = TurnRequest {
            message: "问".into(),
            conversation_id: None,
            model: Some("volcano".into()),
            agent_id: Some("a".into()),
            tool_choice: Some(ToolChoice::None),
            user_id: None,
            stream: true,
        };
        assert_eq!(parse(&body), Ok(UiChatRequest { chat_id: "x7".into(), regenerate: false, turn }));
    }

    #[test]
    fn single_message_with_text_parts_is_accepted() {
        let parts = json!([{ "type": "text", "text": "一" }, { "type": "data-draft", "data": {} }, { "type": "text", "text": "二" }]);
        let request = parse(&json!({ "id": "x", "message": said("user", &parts) })).unwrap();
        assert_eq!((request.turn.message.as_str(), request.regenerate), ("一\n二", false));
    }

    #[test]
    fn regenerate_needs_no_message() {
        let again = parse(&json!({ "id": "x", "trigger": "regenerate-message", "messageId": "m2" })).unwrap();
        assert_eq!((again.turn.message.as_str(), again.regenerate), ("", true));
        let again = parse(&json!({ "id": "x", "trigger": "regenerate-message", "messages": [text("问")] })).unwrap();
        assert_eq!((again.turn.message.as_str(), again.regenerate), ("问", true));
    }

    #[test]
    fn invalid_field_is_named_with_accepted_values() {
        assert_eq!(refused(&json!({ "messages": [text("a")] })), "`id` is required: the id of the chat, a string");
        assert!(refused(&json!({ "id": "x".repeat(256), "messages": [text("a")] })).starts_with("`id` must be"));
        for nothing in [json!({ "id": "x" }), json!({ "id": "x", "messages": [] })] {
            assert_eq!(refused(&nothing), "`messages` is required: an array that ends with the user's message");
        }
        assert_eq!(
            refused(&json!({ "id": "x", "messages": [text("a"), said("assistant", &json!([]))] })),
            "`messages[1].role` must be \"user\": the last message is what is asked"
        );
        let file =
            json!([{ "type": "text", "text": "看" }, { "type": "file", "mediaType": "image/png", "url": "data:," }]);
        assert_eq!(
            refused(&json!({ "id": "x", "message": said("user", &file) })),
            "`message.parts[1].type` must be \"text\": files and images are not taken"
        );
        assert_eq!(
            refused(&json!({ "id": "x", "messages": [text(" ")] })),
            "The text of the last message must not be blank"
        );
        assert!(refused(&json!({ "id": "x", "trigger": "resume", "messages": [] })).contains("submit-message"));
        assert!(
            refused(&json!({ "id": "x", "message": { "role": "user", "content": "a" } })).contains("message.parts")
        );
    }

    #[test]
    fn f103_message_length_counts_unicode_scalar_values() {
        let body = |n: usize| json!({ "id": "x", "messages": [text(&"界".repeat(n))] });
        assert!(parse(&body(32_000)).is_ok());
        assert_eq!(parse(&body(32_001)).unwrap_err().code, ErrorCode::TooLarge);
    }
}
