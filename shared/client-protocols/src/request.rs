use domain::{ErrorCode, Failure, SearchMode, ToolChoice};

use domain::StrictObject;

/// Maximum length of a message, in Unicode scalar values.
pub const MAX_MESSAGE_CHARS: usize = 32_000;

/// Maximum size of a request body, in bytes.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Maximum number of files in a message.
pub(crate) const MAX_ATTACHMENTS: usize = 10;

/// Maximum size of a body whose messages may carry files, in bytes. A request to Lambda has no more
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>, 2026-11).
pub const MAX_INLINE_BODY_BYTES: usize = 6 * 1024 * 1024;

/// The body of a turn request, checked as far as the request alone allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRequest {
    /// The user message: not blank and at most [`MAX_MESSAGE_CHARS`] long.
    pub message: String,
    /// The ids of its files: at most ten different ones.
    pub attachments: Vec<String>,
    /// Absent for a new conversation.
    pub conversation_id: Option<String>,
    /// The message after which this one goes.
    pub parent: ParentMessage,
    /// Whether the conversation is temporary.
    pub temporary: bool,
    /// The other fields.
    pub options: TurnOptions,
}

/// The message of a conversation after which a new one goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ParentMessage {
    /// The last one of the shown branch.
    #[default]
    Last,
    /// None: the message begins the conversation again.
    None,
    /// The one with this id.
    Id(String),
}

/// The body of a request for another answer, or for more of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRequest {
    /// The message to which it refers; absent for the last one of the shown branch.
    pub message_id: Option<String>,
    /// The other fields.
    pub options: TurnOptions,
}

/// The optional fields of a turn request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnOptions {
    /// The name of a model; absent for the default one.
    pub model: Option<String>,
    /// The agent that answers; absent for the default one.
    pub agent_id: Option<String>,
    /// Whether tools may or must be used; absent for what the agent does.
    pub tool_choice: Option<ToolChoice>,
    /// How much the turn searches.
    pub search: SearchMode,
    /// The claimed user id; used only if authentication is off.
    pub user_id: Option<String>,
    /// The IANA name of the user's time zone; absent for the deployment's.
    pub time_zone: Option<String>,
    /// Whether the answer comes as an event stream.
    pub stream: bool,
}

impl Default for TurnOptions {
    fn default() -> Self {
        Self {
            model: None,
            agent_id: None,
            tool_choice: None,
            search: SearchMode::Auto,
            user_id: None,
            time_zone: None,
            stream: true,
        }
    }
}

impl TurnRequest {
    /// Parses the body of `POST /api/chat`.
    ///
    /// # Errors
    /// `invalid_request` or `too_large`, with a message that names the field and what is accepted.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        let message =
            fields.take_string("message")?.ok_or_else(|| invalid_request("`message` is required: a string"))?;
        let message = validate_message("`message`", message)?;
        let conversation_id = fields.take_string("conversationId")?;
        let is_first = fields.is_null("parentId");
        let parent = match fields.take_string("parentId")? {
            Some(_) if conversation_id.is_none() => {
                return Err(invalid_request(
                    "`parentId` names a message of a conversation: `conversationId` is required",
                ));
            }
            Some(id) => ParentMessage::Id(id),
            None if is_first => ParentMessage::None,
            None => ParentMessage::Last,
        };
        let attachments = take_attachments(&mut fields)?;
        let temporary = fields.take_bool("temporary")?.unwrap_or_default();
        let options = TurnOptions::take(&mut fields)?;
        Ok(Self { message, attachments, conversation_id, parent, temporary, options })
    }
}

fn take_attachments(fields: &mut StrictObject) -> Result<Vec<String>, Failure> {
    let ids = fields.take_strings("attachments", MAX_ATTACHMENTS)?.unwrap_or_default();
    let is_new = |(at, id): (usize, &String)| !id.is_empty() && !ids[..at].contains(id);
    if ids.iter().enumerate().all(is_new) {
        return Ok(ids);
    }
    Err(fields.field_error("attachments", "an array of ids of files, each once"))
}

impl AnswerRequest {
    /// Parses the body of `POST /api/conversations/{id}/regenerate` and `…/continue`: all fields are optional, and so is the
    /// body.
    ///
    /// # Errors
    /// `invalid_request`, with a message that names the field and what is accepted.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(if body.is_empty() { b"{}" } else { body })?;
        Ok(Self { message_id: fields.take_string("messageId")?, options: TurnOptions::take(&mut fields)? })
    }
}

impl TurnOptions {
    pub(crate) fn take(fields: &mut StrictObject) -> Result<Self, Failure> {
        Ok(Self {
            model: fields.take_string("modelType")?,
            agent_id: fields.take_string("agentId")?,
            tool_choice: fields.take_tool_choice("toolChoice")?,
            search: fields.take_search_mode("search")?.unwrap_or_default(),
            user_id: fields.take_string("userId")?,
            time_zone: fields.take_string("timeZone")?,
            stream: fields.take_bool("stream")?.unwrap_or(true),
        })
    }
}

/// Validates a user message; `name` starts the error message.
pub(crate) fn validate_message(name: &str, text: String) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Err(invalid_request(format!("{name} must not be blank")));
    }
    // Counting stops at the limit: a body can hold megabytes, but typical messages are far shorter.
    if text.chars().nth(MAX_MESSAGE_CHARS).is_some() {
        let sentence = format!("{name} is too long: at most {MAX_MESSAGE_CHARS} characters are accepted");
        return Err(Failure::new(ErrorCode::TooLarge, sentence));
    }
    Ok(text)
}

fn invalid_request(sentence: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_error(body: &str) -> (ErrorCode, String) {
        let failure = TurnRequest::parse(body.as_bytes()).unwrap_err();
        (failure.code, failure.message)
    }

    fn nothing() -> TurnOptions {
        let (model, agent_id, tool_choice) = (None, None, None);
        TurnOptions { model, agent_id, tool_choice, ..TurnOptions::default() }
    }

    #[test]
    fn only_message_is_required_unknown_fields_are_ignored() {
        let request = TurnRequest::parse(r#"{"message":"你好","cost":0,"owner":"root"}"#.as_bytes()).unwrap();
        let (message, conversation_id, parent) = ("你好".into(), None, ParentMessage::Last);
        let attachments = Vec::new();
        let expected =
            TurnRequest { message, attachments, conversation_id, parent, temporary: false, options: nothing() };
        assert_eq!(request, expected);
    }

    #[test]
    fn every_field_is_parsed() {
        let body = r#"{"message":"a","conversationId":"c","modelType":"m","agentId":"x","userId":"u",
            "toolChoice":{"name":"search_web"},"stream":false,"temporary":true}"#;
        let request = TurnRequest::parse(body.as_bytes()).unwrap();
        assert_eq!(request.conversation_id.as_deref(), Some("c"));
        assert_eq!(request.options.model.as_deref(), Some("m"));
        assert_eq!(request.options.agent_id.as_deref(), Some("x"));
        assert_eq!(request.options.user_id.as_deref(), Some("u"));
        assert_eq!(request.options.tool_choice, Some(ToolChoice::Tool("search_web".into())));
        assert!(!request.options.stream && request.temporary);
    }

    #[test]
    fn invalid_field_is_named_with_accepted_values() {
        assert_eq!(parse_error("{}").1, "`message` is required: a string");
        assert_eq!(parse_error(r#"{"message":" \n\t"}"#).1, "`message` must not be blank");
        assert_eq!(parse_error(r#"{"message":7}"#).1, "`message` must be a string");
        assert_eq!(parse_error(r#"{"message":"a","stream":"no"}"#).1, "`stream` must be true or false");
        assert_eq!(parse_error(r#"{"message":"a","temporary":1}"#).1, "`temporary` must be true or false");
        assert!(parse_error(r#"{"message":"a","toolChoice":"always"}"#).1.contains("\"auto\""));
        assert!(parse_error(r#"{"message":"a","toolChoice":{"tool":"x"}}"#).1.contains("\"name\""));
    }

    #[test]
    fn parent_is_absent_null_or_a_message() {
        let parent =
            |rest: &str| TurnRequest::parse(format!(r#"{{"message":"a"{rest}}}"#).as_bytes()).map(|one| one.parent);
        assert_eq!(parent(""), Ok(ParentMessage::Last));
        assert_eq!(parent(r#","parentId":null"#), Ok(ParentMessage::None));
        assert_eq!(parent(r#","conversationId":"c","parentId":"m""#), Ok(ParentMessage::Id("m".into())));
        assert!(parent(r#","parentId":"m""#).unwrap_err().message.contains("`conversationId` is required"));
        assert_eq!(parent(r#","conversationId":"c","parentId":1"#).unwrap_err().message, "`parentId` must be a string");
    }

    #[test]
    fn attachments_are_different_ids() {
        let parse = |ids: &str| TurnRequest::parse(format!(r#"{{"message":"m","attachments":{ids}}}"#).as_bytes());
        assert_eq!(parse(r#"["a","b"]"#).unwrap().attachments, ["a", "b"]);
        for none in ["[]", "null"] {
            assert!(parse(none).unwrap().attachments.is_empty(), "{none}");
        }
        let many = format!("[{}]", (0..11).map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(","));
        for ids in [r#"["a","a"]"#, r#"[""]"#, "[7]", r#""a""#, &many] {
            let failure = parse(ids).unwrap_err();
            assert_eq!(
                (failure.code, failure.param.as_deref()),
                (ErrorCode::InvalidRequest, Some("attachments")),
                "{ids}"
            );
        }
    }

    #[test]
    fn regenerate_fields_are_optional_but_validated() {
        for body in ["", "{}", r#"{"message":7,"conversationId":"c"}"#] {
            let expected = AnswerRequest { message_id: None, options: nothing() };
            assert_eq!(AnswerRequest::parse(body.as_bytes()).unwrap(), expected, "{body}");
        }
        let body = r#"{"modelType":"m","agentId":"x","toolChoice":"none","search":"deep","userId":"u","timeZone":"Asia/Tokyo","stream":false,"messageId":"i"}"#;
        let all = TurnOptions {
            model: Some("m".into()),
            agent_id: Some("x".into()),
            tool_choice: Some(ToolChoice::None),
            search: SearchMode::Deep,
            user_id: Some("u".into()),
            time_zone: Some("Asia/Tokyo".into()),
            stream: false,
        };
        let expected = AnswerRequest { message_id: Some("i".into()), options: all };
        assert_eq!(AnswerRequest::parse(body.as_bytes()).unwrap(), expected);
        for body in
            ["[]", "null", " ", r#"{"stream":1}"#, r#"{"modelType":2}"#, r#"{"messageId":1}"#, r#"{"search":true}"#]
        {
            assert_eq!(AnswerRequest::parse(body.as_bytes()).unwrap_err().code, ErrorCode::InvalidRequest, "{body}");
        }
    }

    #[test]
    fn f103_message_length_counts_unicode_scalar_values() {
        let body = |n: usize| serde_json::json!({ "message": "界".repeat(n) }).to_string();
        assert!(TurnRequest::parse(body(32_000).as_bytes()).is_ok());
        assert_eq!(parse_error(&body(32_001)).0, ErrorCode::TooLarge);
    }
}
