use domain::Language;
use egress::EgressError;
use prompts::{CustomToolTexts, ToolTexts, fill};
use tools::{ToolCallError, ToolError, strip_invisible};

/// Why a call of a custom tool failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallError {
    /// An argument is not accepted, for this reason.
    InvalidArgument(String),
    /// An argument is not accepted in the path.
    InvalidPath,
    /// An argument is not accepted in a header.
    InvalidHeader,
    /// The secret is unavailable, or no header can carry it.
    NoSecret,
    /// The secret is too short to be masked in results.
    ShortSecret,
    RateLimited,
    /// The deployment's policy does not allow the definition's address.
    AddressNotAllowed,
    Egress(EgressError),
    /// The host replied with an error: the status and the beginning of the body.
    Status(u16, String),
    /// The response has no part that the transform selects.
    NoMatch,
    /// The service reported a failure in the envelope of its answer: the beginning of its error.
    Reported(String),
    Rpc(RpcError),
    /// The reply contains no response to the request, or one of an unknown form.
    Unreadable,
    /// The tool requests input from the user, which is not supported.
    WantsInput,
}

/// A JSON-RPC error; its text is masked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) status: u16,
    pub(crate) code: i64,
    pub(crate) message: String,
    /// Protocol versions that the server supports, if the error lists them.
    pub(crate) supported: Vec<String>,
}

impl CallError {
    /// Converts it to the failure for the user and the text for the model. `has_side_effects`: the request may have
    /// taken effect.
    pub(crate) fn into_tool_error(self, has_side_effects: bool, language: Language) -> ToolError {
        let unsure =
            matches!(self, Self::Egress(EgressError::TimedOut | EgressError::Disconnected | EgressError::TooLarge));
        let reason = self.reason(language);
        let (code, message) = match self {
            Self::InvalidArgument(_) | Self::InvalidPath | Self::InvalidHeader => {
                return ToolCallError::invalid_arguments(&reason, language).into();
            }
            Self::RateLimited => ("rate_limited", "The tool was called too often."),
            Self::Egress(EgressError::TimedOut) => ("timeout", "The tool took too long and was stopped."),
            _ => ("failed", "The tool failed."),
        };
        let text = if has_side_effects && unsure {
            CustomToolTexts::of(language).may_have_run
        } else {
            ToolTexts::of(language).failed
        };
        ToolCallError::new(code, message, fill(text, &[("reason", &reason)])).into()
    }

    fn reason(&self, language: Language) -> String {
        let texts = CustomToolTexts::of(language);
        let escaped = |text: &str| tool_calls::escape(&strip_invisible(text));
        let text = match self {
            Self::InvalidArgument(reason) => reason,
            Self::InvalidPath => texts.invalid_path,
            Self::InvalidHeader => texts.invalid_header,
            Self::NoSecret => texts.no_secret,
            Self::ShortSecret => texts.short_secret,
            Self::RateLimited => texts.rate_limited,
            Self::AddressNotAllowed | Self::Egress(EgressError::Refused(_)) => texts.address_not_allowed,
            Self::Egress(EgressError::TimedOut) => ToolTexts::of(language).timed_out,
            Self::Egress(EgressError::TooLarge) => texts.too_large,
            Self::Egress(_) => texts.unreachable,
            Self::Status(status, text) => {
                return fill(texts.status, &[("status", &status.to_string()), ("text", &escaped(text))]);
            }
            Self::NoMatch => texts.no_match,
            Self::Reported(text) if text.trim().is_empty() => ToolTexts::of(language).broken,
            Self::Reported(text) => return escaped(text),
            Self::Rpc(RpcError { code, message, .. }) => {
                return fill(texts.server_error, &[("code", &code.to_string()), ("message", &escaped(message))]);
            }
            Self::Unreadable => texts.unreadable,
            Self::WantsInput => texts.input_required,
        };
        text.to_owned()
    }
}

impl From<EgressError> for CallError {
    fn from(error: EgressError) -> Self {
        Self::Egress(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(failure: CallError, language: Language) -> String {
        match failure.into_tool_error(true, language) {
            ToolError::Model(error) => error.content,
            ToolError::Fatal(error) => panic!("{error}"),
        }
    }

    #[test]
    fn failure_is_in_the_language_of_the_turn() {
        let status = || CallError::Status(503, "<busy>".to_owned());
        assert_eq!(text(status(), Language::Zh), "工具调用失败：服务返回状态 503\n&lt;busy>");
        assert_eq!(text(status(), Language::En), "The tool call failed: the service returned status 503\n&lt;busy>");
        let unsure = || CallError::Egress(EgressError::Disconnected);
        let chinese = "工具调用失败：无法连接到服务。请求可能已经生效，不要重复调用，请先告诉用户";
        let english = "The tool call failed: the service cannot be reached. The request may have taken effect all the \
            same, so do not repeat it, and tell the user first";
        assert_eq!([text(unsure(), Language::Zh), text(unsure(), Language::En)], [chinese, english]);
    }
}
