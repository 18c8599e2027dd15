use crate::errors::CompatFix;
use crate::params::{Dialect, ReasoningEcho, ResolvedParams, ThinkingControl};
use crate::providers::Provider;
use crate::{Cloud, GenerationParams, ModelConfig, Wire};

/// What an endpoint supports and requires.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about an endpoint")]
pub(crate) struct Quirks {
    pub(crate) wire: Wire,
    /// The cloud, whose requests may differ.
    pub(crate) cloud: Option<Cloud>,
    pub(crate) stream: bool,
    /// Whether `stream_options.include_usage` may be sent.
    pub(crate) usage_option: bool,
    /// Whether `tool_choice` may force a call.
    pub(crate) forced_choice: bool,
    /// Which assistant messages include `reasoning_content` once tools are used.
    pub(crate) echo_reasoning: ReasoningEcho,
    /// Whether past calls without a signature get a placeholder.
    pub(crate) signatures: bool,
    /// Whether ids of calls must have nine letters or digits.
    pub(crate) short_ids: bool,
    /// Whether the stable part of a prompt is marked for the provider's cache.
    pub(crate) cache_control: bool,
    /// Whether encrypted reasoning is requested, for the wire `responses`.
    pub(crate) encrypted_reasoning: bool,
    /// Whether encrypted reasoning of earlier replies is sent back.
    pub(crate) echo_encrypted: bool,
    /// Whether a summary of the reasoning is requested, for the wire `responses`.
    pub(crate) reasoning_summary: bool,
    /// Whether [`Prompt::stop_markers`] may be sent.
    pub(crate) stop_markers: bool,
    pub(crate) parameters: ResolvedParams,
}

impl Quirks {
    /// Creates the quirks for a request with these parameters, before any rejection by the endpoint.
    pub(crate) fn new(provider: &Provider, config: &ModelConfig, params: &GenerationParams) -> Self {
        let Provider { usage_option, echo_reasoning, .. } = *provider;
        let short_ids = provider.has_short_ids(&config.model);
        let dialect = provider.dialect_of(&config.model);
        let parameters = ResolvedParams::new(&params.merge_over(&config.options), dialect);
        let stop_markers = dialect.stop_sequences;
        let Dialect { signatures, cache_control, thinking, .. } = dialect;
        Self {
            wire: config.wire,
            cloud: config.cloud,
            stream: true,
            usage_option,
            forced_choice: true,
            echo_reasoning,
            signatures,
            short_ids,
            cache_control,
            encrypted_reasoning: match thinking {
                ThinkingControl::Effort { .. } => true,
                // An unknown endpoint.
                ThinkingControl::Unknown => !dialect.effort_names.is_empty(),
                _ => false,
            },
            echo_encrypted: true,
            reasoning_summary: matches!(thinking, ThinkingControl::Effort { .. } | ThinkingControl::Reasoning),
            stop_markers,
            parameters,
        }
    }

    pub(crate) fn apply(&mut self, fix: CompatFix) {
        let parameters = &mut self.parameters;
        match fix {
            CompatFix::NoUsageOption => self.usage_option = false,
            CompatFix::NoForcedChoice => self.forced_choice = false,
            CompatFix::EchoReasoning => self.echo_reasoning = ReasoningEcho::Always,
            CompatFix::AddSignatures => self.signatures = true,
            CompatFix::NoCacheControl => self.cache_control = false,
            CompatFix::ShortIds => self.short_ids = true,
            CompatFix::SwapLimitName => parameters.swap_limit_name(),
            CompatFix::NoTemperature => parameters.temperature = None,
            CompatFix::NoTopP => parameters.top_p = None,
            CompatFix::NoThinking => (parameters.thinking, parameters.effort) = (None, None),
            CompatFix::NoEffort => parameters.remove_effort(),
            CompatFix::NoStopMarkers => self.stop_markers = false,
            CompatFix::UseResponses if self.wire == Wire::Openai => self.wire = Wire::Responses,
            CompatFix::NoResponses if self.wire == Wire::Responses => {
                self.wire = Wire::Openai;
                parameters.set_effort_none();
            }
            CompatFix::UseResponses | CompatFix::NoResponses => {}
            CompatFix::NoStream => self.stream = false,
            CompatFix::NoReasoningSummary => self.reasoning_summary = false,
            CompatFix::NoEncryptedReasoning => (self.encrypted_reasoning, self.echo_encrypted) = (false, false),
            CompatFix::NoReasoningEcho => self.echo_encrypted = false,
        }
    }
}
