//! The families of models that are known to call tools natively, or not to, at any address.

use crate::ToolMode::{self, Native, Prompted};

/// Prefixes of ids without their vendor's part, in lower case; the first match wins.
///
/// "Recorded" is a native call in a recorded answer of that model, through at least one endpoint of the named ones.
const FAMILIES: &[(&str, ToolMode)] = &[
    // The first reasoning models have no tools: https://community.openai.com/t/1110750, post 7, 2026-11-26.
    ("o1-mini", Prompted),
    ("o1-preview", Prompted),
    // Recorded refusal, "tools is not supported in this model", OpenAI, 2026-11-23.
    ("gpt-5-chat", Prompted),
    // https://github.com/BoltAI/BoltAI/issues/145, 2026-11-26.
    ("chatgpt-", Prompted),
    // Base models, which only share the prefix: https://huggingface.co/EleutherAI/gpt-j-6b, 2026-11-28.
    ("gpt-j", Prompted),
    // Base models, which only share the prefix: https://huggingface.co/EleutherAI/gpt-neo-2.7B, 2026-11-28.
    ("gpt-neo", Prompted),
    // Recorded: OpenAI, Azure, Copilot, OpenRouter, Groq, Ollama, 2026-11-23.
    ("gpt-", Native),
    ("codex-", Native),
    ("o1", Native),
    ("o3", Native),
    ("o4", Native),
    // Recorded: Anthropic, Azure, Vertex, OpenRouter, Vercel's gateway, 2026-11-23.
    ("claude-", Native),
    // Recorded: Google, OpenRouter, Vercel's gateway, 2026-11-23.
    ("gemini-", Native),
    // https://help.aliyun.com/en/model-studio/qwen-function-calling, 2026-11-25. Recorded: OpenRouter, Groq, llama.cpp.
    ("qwen-max", Native),
    ("qwen-plus", Native),
    ("qwen-turbo", Native),
    ("qwen-flash", Native),
    ("qwen-3", Native),
    ("qwen3", Native),
    // https://platform.moonshot.cn/docs/api/tool_use, 2026-11-25. Recorded: OpenRouter, Groq, Avian.
    ("kimi-", Native),
    ("moonshot-v1-", Native),
    // Recorded: Z.ai, OpenRouter, Cerebras (`zai-glm-4.7`), Crusoe, 2026-11-23.
    ("glm-4.5", Native),
    ("glm-4.6", Native),
    ("glm-4.7", Native),
    ("glm-5", Native),
    ("zai-glm-", Native),
    // https://api-docs.deepseek.com/, 2026-11-25. Recorded: DeepSeek, OpenRouter.
    ("deepseek-chat", Native),
    ("deepseek-reasoner", Native),
    ("deepseek-v3", Native),
    ("deepseek-v4", Native),
    // https://www.volcengine.com/docs/82379/1958524, 2026-11-25.
    ("doubao-seed", Native),
    // Recorded: Mistral, OpenRouter, Venice, 2026-11-23.
    ("mistral-", Native),
    ("ministral-", Native),
    ("magistral-", Native),
    ("codestral-", Native),
    ("devstral-", Native),
    ("pixtral-", Native),
    ("open-mi", Native),
    // https://docs.together.ai/docs/fine-tuning/function-calling, 2026-11-25. Recorded: Groq, Together, Hugging Face.
    ("llama-3.1", Native),
    ("llama-3.2", Native),
    ("llama-3.3", Native),
    ("llama-4", Native),
    // Recorded: xAI, Azure, OpenRouter, 2026-11-23.
    ("grok-", Native),
];

pub(super) fn tool_mode_of(model: &str) -> Option<ToolMode> {
    find_family(FAMILIES, model)
}

/// Finds the family of a model in a table whose first match wins.
pub(super) fn find_family<T: Copy>(families: &[(&str, T)], model: &str) -> Option<T> {
    let id = model.to_lowercase();
    // Vendors precede the name as a path (`openai/`, `accounts/fireworks/models/`) and at Bedrock as `us.anthropic.`;
    // `ft:` is OpenAI's mark of a fine-tuned model, and Meta's ids begin with `meta-`.
    let name = id.rsplit('/').next().unwrap_or_default();
    let starts = std::iter::once(0).chain(name.match_indices('.').map(|(at, _)| at + 1));
    let names = starts.map(|at| name[at..].trim_start_matches("ft:").trim_start_matches("meta-"));
    names.filter_map(|name| families.iter().find(|(prefix, _)| name.starts_with(prefix))).map(|(_, fact)| *fact).next()
}

#[cfg(test)]
pub(super) use tests::assert_reachable_and_sourced;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_after_any_vendor_prefix() {
        for model in [
            "gpt-4o",
            "GPT-5-mini",
            "ft:gpt-4.1:acme:pro-codex:1",
            "openai/gpt-oss-120b",
            "azure/o4-mini",
            "claude-sonnet-4-5",
            "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
            "bedrock/anthropic.claude-sonnet-4",
            "google/gemini-2.5-pro",
            "qwen3-max",
            "Pro/Qwen/Qwen3-8B",
            "qwen-3-coder-480b",
            "kimi-k2",
            "accounts/fireworks/models/kimi-k2-instruct",
            "glm-4.6",
            "zai-org/GLM-4.5-Air",
            "deepseek-chat",
            "deepseek-ai/DeepSeek-V3.1",
            "doubao-seed-1-6-250615",
            "mistral-large-latest",
            "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo",
            "meta-llama/Llama-3.3-70B-Instruct",
            "x-ai/grok-4",
        ] {
            assert_eq!(tool_mode_of(model), Some(Native), "{model}");
        }
        for model in ["o1-mini-2024-09-12", "gpt-5-chat-latest", "EleutherAI/gpt-neox-20b", "chatgpt-4o-latest"] {
            assert_eq!(tool_mode_of(model), Some(Prompted), "{model}");
        }
        for model in ["scripted-1", "qwen2.5-72b", "llama-3-8b", "deepseek-r1-250528", "ep-2025-abcde", "my.model", ""]
        {
            assert_eq!(tool_mode_of(model), None, "{model}");
        }
    }

    #[test]
    fn every_family_is_reachable_and_sourced() {
        assert_reachable_and_sourced(FAMILIES, include_str!("native_families.rs"));
    }

    /// Checks that no row hides a later one, and that each row of this source has a dated comment above.
    pub(in crate::capabilities) fn assert_reachable_and_sourced<T>(families: &[(&str, T)], text: &str) {
        for (at, (prefix, _)) in families.iter().enumerate() {
            let hidden = families[..at].iter().any(|(earlier, _)| prefix.starts_with(earlier));
            assert!(!hidden && prefix.to_lowercase() == *prefix, "{prefix}");
        }
        let mut source = "";
        for line in text.lines().map(str::trim) {
            source = if line.starts_with("//") { line } else { source };
            let is_row = line.starts_with("(\"") && line.ends_with("),");
            assert!(!is_row || (source.contains("2026-") && source.contains([':', ','])), "{line}: {source}");
        }
    }
}
