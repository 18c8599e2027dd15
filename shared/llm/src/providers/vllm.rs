use super::{Provider, UNKNOWN};
use crate::params::{Dialect, LOW_TO_HIGH, PLAIN, ThinkingControl};

/// vLLM, and `SGLang` with the same fields; thinking is controlled by an argument of the model's chat template.
///
/// Tool support depends on the server's options; a rejection of tools shows that they are missing.
// Source: https://docs.vllm.ai/en/v0.10.1.1/features/tool_calling.html, 2026-11-25.
pub(super) const ROW: Provider = Provider {
    name: "vllm",
    dialects: &[("", Dialect { thinking: ThinkingControl::Template, effort_names: LOW_TO_HIGH, ..PLAIN })],
    ..UNKNOWN
};
