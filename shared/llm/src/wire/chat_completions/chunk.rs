use std::borrow::Cow;

use domain::ReasoningDetail;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::TokenUsage;
use crate::lax::{ContentParts, Lax, nullable};
use crate::wire::counts;

/// One event of a stream, or a complete response: the two differ only in `delta` and `message`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "nullable")]
    pub(super) choices: Vec<Choice<'a>>,
    pub(super) id: ContentParts<'a>,
    usage: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// The error at `MiniMax`, unless its code is 0.
    // Seen in a recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    base_resp: Option<&'a RawValue>,
    /// Contains the usage at Groq.
    // Seen in `fixtures/openai/groq_usage_of_its_own.sse`, 2026-11-22.
    x_groq: Lax<Groq<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    index: Lax<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Message<'a>>,
    pub(super) message: Option<Message<'a>>,
    pub(super) finish_reason: ContentParts<'a>,
    /// The finish reason of the provider that OpenRouter calls.
    // Seen in `fixtures/openai/openrouter_call_cut_by_native_limit.sse`, 2026-11-22.
    native_finish_reason: ContentParts<'a>,
    /// The usage at Moonshot.
    usage: Option<&'a RawValue>,
    /// An error at OpenRouter.
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: ContentParts<'a>,
    pub(super) refusal: ContentParts<'a>,
    reasoning_content: ContentParts<'a>,
    reasoning: ContentParts<'a>,
    #[serde(deserialize_with = "nullable")]
    pub(super) tool_calls: Vec<Option<CallDelta<'a>>>,
    /// The reasoning with its signatures at OpenRouter and gateways like it.
    // Seen in `fixtures/openai/openrouter_two_finishes.sse`, 2026-11-22.
    reasoning_details: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct CallDelta<'a> {
    pub(super) index: Lax<u64>,
    #[serde(borrow)]
    pub(in crate::wire) id: ContentParts<'a>,
    #[serde(deserialize_with = "nullable")]
    pub(in crate::wire) function: FunctionDelta<'a>,
    /// Contains the signature at Google.
    // Quoted in public code, 2026-11-25.
    extra_content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::wire) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub(in crate::wire) name: ContentParts<'a>,
    pub(in crate::wire) arguments: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Groq<'a> {
    #[serde(borrow)]
    usage: &'a RawValue,
}

impl<'a> Chunk<'a> {
    /// Returns the choice with index 0 or without an index: the answer.
    pub(super) fn first_choice(&self) -> Option<&Choice<'a>> {
        self.choices.iter().find(|choice| choice.index.or_default() == 0)
    }

    /// Returns the text if the chunk contains nothing else.
    pub(super) fn text_only(&self) -> Option<&Cow<'a, str>> {
        let [Choice { delta: Some(delta), message: None, finish_reason, usage: None, error: None, .. }] =
            self.choices.as_slice()
        else {
            return None;
        };
        let nothing_else = self.usage.is_none() && self.error.is_none() && self.x_groq.0.is_none();
        self.first_choice().filter(|_| nothing_else && finish_reason.text.is_empty())?;
        delta.is_text_only().then_some(&delta.content.text)
    }

    /// Returns the error, which some endpoints send in a response of status 200.
    pub(super) fn error(&self) -> Option<&'a RawValue> {
        let is_error = |error: &&RawValue| !matches!(error.get(), "\"\"" | "{}" | "[]" | "false");
        self.error.or_else(|| self.first_choice()?.error).filter(is_error)
    }

    /// Whether `MiniMax` reports an error in place of choices.
    pub(super) fn has_failed_base_resp(&self) -> bool {
        let code = || to_value(self.base_resp?).get("status_code")?.as_i64();
        self.choices.is_empty() && code().is_some_and(|code| code != 0)
    }

    /// Returns the JSON of the usage.
    pub(super) fn usage(&self) -> Option<&'a str> {
        let usages =
            [self.usage, self.first_choice().and_then(|choice| choice.usage), self.x_groq.0.map(|groq| groq.usage)];
        usages.into_iter().flatten().map(RawValue::get).find(|usage| usage.starts_with('{'))
    }
}

impl Choice<'_> {
    /// Whether the provider that OpenRouter calls names its output limit as the reason, and the choice itself another one.
    pub(super) fn is_cut_by_limit(&self) -> bool {
        const LIMITS: [&str; 4] = ["max_output_tokens", "max_tokens", "length", "MAX_TOKENS"];
        LIMITS.contains(&&*self.native_finish_reason.text)
    }
}

/// Where endpoints report the tokens read from the cache: most, DeepSeek, and Moonshot.
// Seen in `fixtures/openai`: `xai_reasoning_outside_completion.sse`, `deepseek_reasoning_then_call.sse` and
// `moonshot_usage_in_the_choice.sse`, 2026-11-22.
const CACHED: [&str; 3] = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"];

/// The tokens written to the cache, at OpenRouter.
// https://openrouter.ai/docs/use-cases/usage-accounting, 2026-11-26.
const CACHE_WRITES: &str = "/prompt_tokens_details/cache_write_tokens";

/// Returns the token usage. The completion tokens of xAI exclude the reasoning; there, and only there, the total is the sum
/// of all three.
// Seen in `fixtures/openai/xai_reasoning_outside_completion.sse`, 2026-11-22.
pub(super) fn to_usage(json: &str) -> Option<TokenUsage> {
    let usage: Value = serde_json::from_str(json).ok()?;
    let [input, completion, total] = counts(&usage, ["/prompt_tokens", "/completion_tokens", "/total_tokens"]);
    let [reasoning, cache_writes] = counts(&usage, ["/completion_tokens_details/reasoning_tokens", CACHE_WRITES]);
    let cached = CACHED.iter().find_map(|path| usage.pointer(path)?.as_u64()).unwrap_or_default();
    let with_reasoning = completion.saturating_add(reasoning);
    let is_sum = total == input.saturating_add(with_reasoning);
    let output = if is_sum { with_reasoning } else { completion };
    Some(TokenUsage::with_cache(input, cached, cache_writes, output))
}

fn to_value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

impl Message<'_> {
    fn is_text_only(&self) -> bool {
        let thinking = self.reasoning().is_empty() && self.content.thinking.is_empty();
        thinking && self.reasoning_details().is_empty() && self.refusal.text.is_empty() && self.tool_calls.is_empty()
    }

    /// Returns the elements of `reasoning_details`; those of another type are left out.
    pub(super) fn reasoning_details(&self) -> Vec<ReasoningDetail> {
        let Some(details) = self.reasoning_details else { return Vec::new() };
        let details: Vec<Lax<ReasoningDetail>> = serde_json::from_str(details.get()).unwrap_or_default();
        details.into_iter().filter_map(|detail| detail.0).collect()
    }

    /// Returns the reasoning; some endpoints send it twice, under two names.
    pub(super) fn reasoning(&self) -> &str {
        [&self.reasoning_content, &self.reasoning]
            .map(|parts| &*parts.text)
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }
}

impl CallDelta<'_> {
    /// Returns the signature; empty if there is none.
    pub(super) fn signature(&self) -> String {
        let signature =
            || Some(to_value(self.extra_content?).pointer("/google/thought_signature")?.as_str()?.to_owned());
        signature().unwrap_or_default()
    }
}
