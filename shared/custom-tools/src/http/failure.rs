use domain::ToolFailure;
use egress::EgressError;
use tools::{ToolError, strip_invisible};

/// Why a call of a custom tool failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HttpFailure {
    /// The secret is unavailable, or no header can carry it.
    NoSecret,
    /// The tool's rate limit is exceeded.
    RateLimited,
    /// The deployment's policy does not allow the definition's address.
    AddressNotAllowed,
    /// The request failed.
    Egress(EgressError),
    /// The host replied with an error: the status and the beginning of the body.
    Status(u16, String),
    /// The response has no part that the transform selects.
    NoMatch,
    /// The service reported a failure in the envelope of its answer: the beginning of its error.
    Reported(String),
}

impl HttpFailure {
    /// Converts it to the failure for the user and the text for the model. `has_side_effects`: the request may have
    /// taken effect.
    pub(crate) fn into_tool_error(self, has_side_effects: bool) -> ToolError {
        let reason = match &self {
            Self::NoSecret => "工具没有配置好密钥".to_owned(),
            Self::RateLimited => "调用太频繁，请稍后再试".to_owned(),
            Self::AddressNotAllowed | Self::Egress(EgressError::Refused(_)) => "工具的地址不允许访问".to_owned(),
            Self::Egress(EgressError::TimedOut) => "超时，没有得到结果".to_owned(),
            Self::Egress(EgressError::TooLarge) => "返回的内容过长".to_owned(),
            Self::Egress(_) => "无法连接到服务".to_owned(),
            Self::Status(status, text) => {
                format!("服务返回状态 {status}\n{}", tool_calls::escape(&strip_invisible(text)))
            }
            Self::NoMatch => "返回的内容里没有需要的数据".to_owned(),
            Self::Reported(text) if text.trim().is_empty() => "工具执行失败".to_owned(),
            Self::Reported(text) => tool_calls::escape(&strip_invisible(text)),
        };
        let unsure =
            matches!(self, Self::Egress(EgressError::TimedOut | EgressError::Disconnected | EgressError::TooLarge));
        let note = if has_side_effects && unsure {
            "。请求可能已经生效，不要重复调用，请先告诉用户"
        } else {
            ""
        };
        let (code, message) = self.user_failure();
        let failure = ToolFailure { code: code.to_owned(), message: message.to_owned() };
        ToolError::Model { failure, content: format!("工具调用失败：{reason}{note}") }
    }

    fn user_failure(&self) -> (&'static str, &'static str) {
        match self {
            Self::RateLimited => ("rate_limited", "The tool was called too often."),
            Self::Egress(EgressError::TimedOut) => ("timeout", "The tool took too long and was stopped."),
            _ => ("failed", "The tool failed."),
        }
    }
}
