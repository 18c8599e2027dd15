use super::{Provider, UNKNOWN, openai};

/// Azure OpenAI and Foundry. A deployment is most often named like its model.
// Source: https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle, 2026-11-26.
pub(super) const ROW: Provider = Provider {
    name: "azure",
    hosts: &["openai.azure.com", "services.ai.azure.com"],
    context_tokens: openai::ROW.context_tokens,
    dialects: openai::ROW.dialects,
    // The name of a deployment may be any.
    native_tools: true,
    ..UNKNOWN
};
