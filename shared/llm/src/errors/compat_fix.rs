use crate::Prompt;

/// A change to all further requests after an endpoint rejected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompatFix {
    /// `stream_options` is left out.
    NoUsageOption,
    /// `tool_choice` does not force a call.
    NoForcedChoice,
    /// Assistant messages carry their reasoning once tools are used.
    EchoReasoning,
    /// Past calls without a signature carry a placeholder for one.
    AddSignatures,
    /// Ids of calls have nine letters or digits.
    ShortIds,
    /// The token limit of a reply is sent under its other name.
    SwapLimitName,
    NoTemperature,
    NoTopP,
    /// Thinking and effort are left out.
    NoThinking,
    NoEffort,
    /// No position of the prompt is marked for the cache.
    NoCacheControl,
    /// The stop sequences are those of the request only.
    NoStopMarkers,
    /// The Responses API is used in place of chat completions.
    UseResponses,
    /// Chat completions are used after all, without thinking: the endpoint has no Responses API.
    NoResponses,
    NoStream,
    NoReasoningSummary,
    /// Encrypted reasoning is neither requested nor sent back.
    NoEncryptedReasoning,
    /// Encrypted reasoning of earlier replies is not sent back.
    NoReasoningEcho,
}

impl CompatFix {
    /// Whether the fix removes what came with the request itself: a parameter, a tool, or data of its conversation. Such a
    /// fix is not kept for the endpoint.
    pub(crate) fn is_of_request(self, prompt: &Prompt) -> bool {
        let params = &prompt.params;
        match self {
            Self::NoTemperature => prompt.from_caller || params.temperature.is_some(),
            Self::NoTopP => prompt.from_caller || params.top_p.is_some(),
            Self::NoThinking | Self::NoEffort => {
                prompt.from_caller || params.thinking.is_some() || params.effort.is_some()
            }
            // The rejected sequences may be the request's.
            Self::NoStopMarkers => prompt.from_caller || !params.stop.is_empty(),
            Self::NoUsageOption | Self::NoForcedChoice | Self::NoCacheControl => prompt.from_caller,
            Self::NoReasoningEcho => true,
            _ => false,
        }
    }
}
