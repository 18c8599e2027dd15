//! The families of models that are known to take pictures, or not to, at any address.

use super::native_families::find_family;

/// Prefixes of ids without their vendor's part, in lower case; the first match wins.
///
/// A family that takes none is listed only if its ids never come to mean another model: nobody would try it again.
const FAMILIES: &[(&str, bool)] = &[
    // Price map in the wheel of litellm 1.108.7, 2026-11-27.
    ("gpt-3.5", false),
    ("gpt-4-32k", false),
    ("gpt-4-0", false),
    ("gpt-oss", false),
    ("o1-mini", false),
    ("o1-preview", false),
    ("o3-mini", false),
    ("gpt-4-turbo", true),
    ("gpt-4o", true),
    ("gpt-4.", true),
    ("gpt-5", true),
    ("o1", true),
    ("o3", true),
    ("o4", true),
    ("claude-instant", false),
    ("claude-v", false),
    // Price map in the wheel of litellm 1.108.7, 2026-11-27. Haiku 3.5 takes pictures at some endpoints only.
    ("claude-3-haiku", true),
    ("claude-3-sonnet", true),
    ("claude-3-opus", true),
    ("claude-3-5-sonnet", true),
    ("claude-3-7", true),
    ("claude-sonnet", true),
    ("claude-opus", true),
    ("claude-haiku", true),
    ("gemini-", true),
    ("gemma-4", true),
    ("qwen2-vl", true),
    ("qwen2.5-vl", true),
    ("qwen3-vl", true),
    ("qwen3-coder", false),
    ("qwen3-max", false),
    ("deepseek-v3", false),
    ("deepseek-v4.1", true),
    ("kimi-k2.5", true),
    ("kimi-k2.6", true),
    ("kimi-k2-", false),
    ("glm-4.5v", true),
    ("glm-4.6v", true),
    // https://github.com/TriDefender/zcode-api/pull/26, 2026-11-27.
    ("glm-4.5", false),
    ("glm-4.6", false),
    ("glm-4.7", false),
    // Price map in the wheel of litellm 1.108.7, 2026-11-27.
    ("grok-3", false),
    ("grok-4", true),
    ("pixtral-", true),
    ("codestral-", false),
    ("llama-3.2-11b", true),
    ("llama-3.2-90b", true),
    ("llama-3.3", false),
    ("llama-4", true),
    ("doubao-seed-2", true),
    ("nova-micro", false),
    ("nova-lite", true),
    ("nova-pro", true),
    ("nova-premier", true),
];

pub(super) fn takes_images(model: &str) -> Option<bool> {
    find_family(FAMILIES, model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::native_families::assert_reachable_and_sourced;

    #[test]
    fn families_are_known_after_any_vendor_prefix() {
        for (model, expected) in [
            ("gpt-4o-mini", Some(true)),
            ("openai/GPT-5-mini", Some(true)),
            ("gpt-4.1", Some(true)),
            ("gpt-oss-120b", Some(false)),
            ("o3-mini", Some(false)),
            ("o3", Some(true)),
            ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", Some(true)),
            ("claude-3-5-haiku-20241022", None),
            ("claude-haiku-5-5", Some(true)),
            ("google/gemini-3.8-flash", Some(true)),
            ("Qwen/Qwen2.5-VL-72B-Instruct", Some(true)),
            ("deepseek-v4-flash", None),
            ("deepseek-v4.1-flash", Some(true)),
            ("zai-org/GLM-4.5V", Some(true)),
            ("zai-org/GLM-4.5-Air", Some(false)),
            ("amazon.nova-micro-v1:0", Some(false)),
            ("apac.amazon.nova-pro-v1:0", Some(true)),
            ("meta-llama/Llama-3.3-70B-Instruct", Some(false)),
            ("deepseek-chat", None),
            ("scripted-1", None),
            ("", None),
        ] {
            assert_eq!(takes_images(model), expected, "{model}");
        }
    }

    #[test]
    fn every_family_is_reachable_and_sourced() {
        assert_reachable_and_sourced(FAMILIES, include_str!("image_families.rs"));
    }
}
