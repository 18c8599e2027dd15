use conversation::{ErrorCode, FinishReason, Source, Usage};
use serde::Serialize;
use serde_json::Value;

/// A chunk of the stream, as `uiMessageChunkSchema` of the package `ai` takes it from version 5 on.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Chunk<'a> {
    Start {
        message_id: &'a str,
        message_metadata: Begun<'a>,
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
        kind: Kind,
    },
    ToolOutputAvailable {
        tool_call_id: &'a str,
        output: Output<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
        #[serde(flatten)]
        kind: Kind,
    },
    ToolOutputError {
        tool_call_id: &'a str,
        error_text: &'a str,
        #[serde(flatten)]
        kind: Kind,
    },
    SourceUrl {
        source_id: &'a str,
        url: &'a str,
        title: &'a str,
    },
    MessageMetadata {
        message_metadata: Ended<'a>,
    },
    Finish {
        finish_reason: &'static str,
        message_metadata: Ended<'a>,
    },
    Abort,
    Error {
        error_text: &'a str,
    },
}

/// Fields common to all calls. Clients have no type for the tool and it runs on the server, so they neither run it nor
/// send a follow-up by themselves.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kind {
    dynamic: bool,
    provider_executed: bool,
}

/// The only kind of call in use.
pub(super) const OURS: Kind = Kind { dynamic: true, provider_executed: true };

/// A call's output, complete or in progress.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Output<'a> {
    Whole { summary: &'a str, cached: bool, duration_ms: u64, sources: &'a [Source] },
    SoFar { progress: &'a str },
}

/// Message metadata of the first chunk.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Begun<'a> {
    pub(super) conversation_id: &'a str,
    pub(super) model: &'a str,
}

/// Message metadata added at the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<&'a Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) models: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Why<'a>>,
}

/// The details of an error besides its message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Why<'a> {
    pub(super) code: ErrorCode,
    pub(super) retryable: bool,
    pub(super) request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_seconds: Option<u64>,
}

/// The SDK's name of a finish reason. The SDK knows fewer; the exact one is in the metadata.
pub(super) fn finish_reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content-filter",
        FinishReason::ToolCalls => "tool-calls",
        FinishReason::Stopped | FinishReason::Deadline | FinishReason::ToolLimit => "other",
    }
}
