use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{ToolCall, ToolFailure, ToolOutcome};
use llm::{AttemptEnd, ToolMode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::{ToolCallError, ToolError, ToolOutput, ToolRun};

/// A line of a recording after the head.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Milliseconds since the recording began.
    pub(crate) ms: u64,
    #[serde(flatten)]
    pub(crate) entry: Entry,
}

/// Something that happened in a turn. Model calls are numbered within the turn, attempts within their call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Entry {
    /// A model call began.
    #[serde(rename = "ask")]
    ModelCall {
        #[serde(rename = "ask")]
        model_call: usize,
        model: String,
        path: ToolMode,
    },
    /// A response began.
    Response {
        #[serde(flatten)]
        id: AttemptId,
        status: u16,
        content_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// A piece of the response body arrived.
    Body {
        #[serde(flatten)]
        id: AttemptId,
        #[serde(flatten)]
        bytes: EncodedBytes,
    },
    /// An attempt ended.
    End {
        #[serde(flatten)]
        id: AttemptId,
        how: AttemptEnd,
    },
    /// A tool call ended; without a result when that ended the turn.
    Tool { call: ToolCall, result: Option<Box<RecordedResult>> },
    /// Clients received an event.
    Event { event: Value },
}

/// An attempt at a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AttemptId {
    #[serde(rename = "ask")]
    pub(crate) model_call: usize,
    pub(crate) attempt: usize,
}

/// Bytes, as text if they are UTF-8.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EncodedBytes {
    Text(String),
    Base64(String),
}

/// Result of a tool call, for the model and for clients.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedResult {
    pub(super) content: String,
    /// Length of the content in characters, if only its beginning is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) whole_chars: Option<usize>,
    /// The part that clients received as the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    report: Report,
    credits: u64,
}

/// Report of a tool call, without the fields of the call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    cached: bool,
    duration_ms: u64,
    summary: String,
    sources: Vec<domain::Source>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ToolFailure>,
}

impl From<Vec<u8>> for EncodedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Base64(STANDARD.encode(error.as_bytes())), Self::Text)
    }
}

impl EncodedBytes {
    /// Decodes the bytes; `None` if the base 64 is invalid.
    pub(crate) fn decode(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).ok(),
        }
    }
}

impl From<&ToolRun> for RecordedResult {
    fn from(ran: &ToolRun) -> Self {
        let ToolOutcome { cached, duration_ms, summary, sources, error, .. } = ran.report.clone();
        let report = Report { cached, duration_ms, summary, sources, error };
        let (content, answer) = (ran.result.content.clone(), ran.answer.clone());
        Self { content, whole_chars: None, answer, report, credits: ran.credits }
    }
}

impl RecordedResult {
    /// Converts the recording into the result of a replayed call.
    pub(crate) fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
        let Self { content, answer, report: Report { cached, summary, sources, error, .. }, credits, .. } = self;
        match error {
            None => Ok(ToolOutput {
                content,
                user_text: answer,
                summary,
                sources,
                cached,
                credits,
                ..ToolOutput::default()
            }),
            Some(failure) => Err(ToolCallError { failure, content }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_utf8_survives_encoding() {
        let half = "天".as_bytes()[..2].to_vec();
        for bytes in [b"data: {}\n\n".to_vec(), half] {
            assert_eq!(EncodedBytes::from(bytes.clone()).decode(), Some(bytes));
        }
        assert_eq!(EncodedBytes::Base64("?".into()).decode(), None);
    }
}
