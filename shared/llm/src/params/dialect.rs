//! Which generation parameters endpoints accept, and under which names: facts without logic, for the providers' rows.

use crate::Effort;

/// The generation parameters that the models of one family accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a family")]
pub(crate) struct Dialect {
    pub(crate) thinking: ThinkingControl,
    /// The names of efforts in increasing order; empty if none is known.
    pub(crate) effort_names: &'static [(Effort, &'static str)],
    /// The name of the reply's token limit on OpenAI's wire.
    pub(crate) limit_name: &'static str,
    pub(crate) sampling: SamplingSupport,
    pub(crate) max_temperature: u8,
    pub(crate) stop_sequences: bool,
    pub(crate) penalties: bool,
    /// Whether past calls need a signature, or the placeholder for calls of other models.
    pub(crate) signatures: bool,
    /// Whether the prompt cache is used only up to marked positions: Anthropic's `cache_control`.
    pub(crate) cache_control: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThinkingControl {
    /// Not supported, as far as is known.
    Unknown,
    /// Only by the effort: `reasoning_effort`.
    Effort {
        /// The value that enables thinking, if it is off by default.
        on: Option<&'static str>,
        /// The value that disables thinking, if that is possible.
        off: Option<&'static str>,
    },
    /// `thinking: {"type": "enabled"}` or `disabled`.
    Type { auto: bool },
    /// `enable_thinking`.
    Enable,
    /// `chat_template_kwargs: {"enable_thinking"}`.
    Template,
    /// `reasoning: {"enabled"}` or `{"effort"}`, including the effort `none`.
    Reasoning,
    /// Ollama's `think`.
    Think,
    /// A token budget for thinking, on Anthropic's and Gemini's wires.
    Budget { min_tokens: u32 },
    /// Anthropic's `thinking: {"type": "adaptive"}`, with the effort in `output_config`.
    Adaptive,
    /// Gemini's `thinkingLevel`.
    Level {
        /// The lowest level, used for "off".
        off: &'static str,
    },
}

/// Which assistant messages carry their reasoning in `reasoning_content` once tools are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningEcho {
    Never,
    /// Those of the running turn that the same model made, to continue after calls.
    Turn,
    /// All; the endpoint rejects others.
    Always,
}

/// The older name of the reply's token limit on OpenAI's wire, and the newer one.
pub(crate) const MAX_TOKENS: &str = "max_tokens";
pub(crate) const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SamplingSupport {
    Supported,
    /// Only while thinking is switched off.
    WithoutThinking,
    Unsupported,
}

/// The efforts that almost all endpoints support.
pub(crate) const LOW_TO_HIGH: &[(Effort, &str)] =
    &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

/// The same efforts and `minimal`.
pub(crate) const MINIMAL_TO_HIGH: &[(Effort, &str)] =
    &[(Effort::Minimal, "minimal"), (Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

/// What nearly every endpoint supports; without thinking.
pub(crate) const PLAIN: Dialect = Dialect {
    thinking: ThinkingControl::Unknown,
    effort_names: &[],
    limit_name: MAX_TOKENS,
    sampling: SamplingSupport::Supported,
    max_temperature: 2,
    stop_sequences: true,
    penalties: true,
    signatures: false,
    cache_control: false,
};
