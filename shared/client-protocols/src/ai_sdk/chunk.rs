use domain::FinishReason;
use serde::Serialize;
use serde_json::Value;

use crate::frame::write_json_frame;

/// A chunk of the stream, as `uiMessageChunkSchema` of the package `ai` takes it from version 5 on.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum UiChunk<'a> {
    Start {
        message_id: &'a str,
        message_metadata: Value,
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
        output: Value,
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
        message_metadata: Value,
    },
    Finish {
        finish_reason: &'static str,
        message_metadata: Value,
    },
    Abort,
    Error {
        error_text: &'a str,
    },
}

impl UiChunk<'_> {
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

pub(super) const SERVER_TOOL: ToolKind = ToolKind { dynamic: true, provider_executed: true };

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
