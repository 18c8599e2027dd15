use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use commands::CommandError;
use domain::{ToolCall, ToolFailure, ToolOutcome};
use llm::{AttemptEnd, ToolMode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::{ToolCallError, ToolError, ToolOutput, ToolRun};

use super::head::{Head, VERSION};

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
    #[serde(rename = "ask")]
    ModelCall {
        #[serde(rename = "ask")]
        model_call: usize,
        model: String,
        path: ToolMode,
    },
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

#[derive(Debug)]
pub(crate) struct RecordedTurn {
    pub(crate) head: Head,
    pub(crate) lines: Vec<Line>,
}

/// The first field of every version.
#[derive(Deserialize)]
struct VersionHeader {
    recording: u32,
}

impl RecordedTurn {
    /// Reads a file. An incomplete last line is ignored.
    ///
    /// # Errors
    /// Why it is not a recording; the message never quotes its content.
    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let name = path.display();
        let bytes =
            fs::read(path).map_err(|error| CommandError::wrong_use(format!("{name} cannot be read: {error}")))?;
        let broken =
            |line| CommandError::wrong_use(format!("{name} is not a recording: line {line} is not of the format"));
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n').zip(1..);
        let (first, _) = lines.next().ok_or_else(|| broken(1))?;
        let VersionHeader { recording: version } = serde_json::from_slice(first).map_err(|_| broken(1))?;
        if version != VERSION {
            let readable = format!("this program reads version {VERSION}");
            return Err(CommandError::wrong_use(format!("{name} is of version {version} of the format; {readable}")));
        }
        let head = serde_json::from_slice(first).map_err(|_| broken(1))?;
        let lines = lines.map(|(line, number)| parse_line(line).ok_or_else(|| broken(number)));
        Ok(Self { head, lines: lines.collect::<Result<_, _>>()? })
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter_map(|line| match &line.entry {
            Entry::Event { event } => Some(event),
            _ => None,
        })
    }
}

fn parse_line(text: &[u8]) -> Option<Line> {
    let line: Line = serde_json::from_slice(text).ok()?;
    let readable = match &line.entry {
        Entry::Body { bytes, .. } => bytes.decode().is_some(),
        _ => true,
    };
    readable.then_some(line)
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
