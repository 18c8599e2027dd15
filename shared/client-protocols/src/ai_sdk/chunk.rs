use domain::{ErrorCode, FinishReason, Source, Usage};
use serde::Serialize;
use serde_json::Value;

use crate::frame::write_json_frame;

/// A chunk of the stream, as `uiMessageChunkSchema` of the package `ai` takes it from version 5 on.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum UiChunk<'a> {
    Start {
        message_id: &'a str,
        message_metadata: StartMetadata<'a>,
    },
    StartStep,
    FinishStep,
    TextStart {
        id: &'a str,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    ReasoningStart {
        id: &'a str,
    },
    ReasoningDelta {
        id: &'a str,
        delta: &'a str,
    },
    ReasoningEnd {
        id: &'a str,
    },
    ToolInputAvailable {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a Value,
        #[serde(flatten)]
        kind: ToolKind,
    },
    ToolOutputAvailable {
        tool_call_id: &'a str,
        output: ToolOutput<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
        #[serde(flatten)]
        kind: ToolKind,
    },
    ToolOutputError {
        tool_call_id: &'a str,
        error_text: &'a str,
        #[serde(flatten)]
        kind: ToolKind,
    },
    SourceUrl {
        source_id: &'a str,
        url: &'a str,
        title: &'a str,
    },
    MessageMetadata {
        message_metadata: EndMetadata<'a>,
    },
    Finish {
        finish_reason: &'static str,
        message_metadata: EndMetadata<'a>,
    },
    Abort,
    Error {
        error_text: &'a str,
    },
}

impl UiChunk<'_> {
    /// Appends the chunk as a frame.
    pub(super) fn write(&self, out: &mut String) {
        write_json_frame(self, out);
    }
}

/// Fields common to all calls. Clients have no type for the tool and it runs on the server, so they neither run it nor
/// send a follow-up by themselves.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolKind {
    dynamic: bool,
    provider_executed: bool,
}

/// The only kind of call in use.
pub(super) const SERVER_TOOL: ToolKind = ToolKind { dynamic: true, provider_executed: true };

/// A call's output, complete or in progress.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ToolOutput<'a> {
    Complete { summary: &'a str, cached: bool, duration_ms: u64, sources: &'a [Source] },
    InProgress { progress: &'a str },
}

/// Message metadata of the first chunk.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartMetadata<'a> {
    pub(super) conversation_id: &'a str,
    pub(super) model: &'a str,
}

/// Message metadata added at the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<&'a Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) models: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorMetadata<'a>>,
}

/// The details of an error besides its message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorMetadata<'a> {
    pub(super) code: ErrorCode,
    pub(super) retryable: bool,
    pub(super) request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_seconds: Option<u64>,
}

/// The SDK's name of a finish reason. The SDK knows fewer; the exact one is in the metadata.
pub(super) fn sdk_finish_reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content-filter",
        FinishReason::ToolCalls => "tool-calls",
        FinishReason::Stopped | FinishReason::Deadline | FinishReason::ToolLimit => "other",
    }
}
