use std::borrow::Cow;

use domain::ReasoningDetail;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::TokenUsage;
use crate::lax::{ContentParts, Lax, arguments, nullable};
use crate::wire::tool_calls::CallFragment;

/// One event of a stream, or a complete response: the two differ only in `delta` and `message`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "nullable")]
    pub(super) choices: Vec<Choice<'a>>,
    /// The id of the completion.
    pub(super) id: ContentParts<'a>,
    usage: Lax<Usage>,
    error: Option<&'a RawValue>,
    /// The error at `MiniMax`, unless its code is 0.
    // Seen in a recorded answer in 0xPlaygrounds/rig, 2026-11-23.
    base_resp: Lax<BaseResp>,
    /// Contains the usage at Groq.
    // Seen in `fixtures/openai/groq_usage_of_its_own.sse`, 2026-11-22.
    x_groq: Lax<Groq>,
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
    usage: Lax<Usage>,
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
pub(super) struct CallDelta<'a> {
    index: Lax<u64>,
    #[serde(borrow)]
    id: ContentParts<'a>,
    function: Option<FunctionDelta<'a>>,
    /// Contains the signature at Google.
    // Quoted in public code, 2026-11-25.
    extra_content: Lax<ExtraContent>,
}

#[derive(Debug, Deserialize)]
struct ExtraContent {
    google: GoogleContent,
}

#[derive(Debug, Deserialize)]
struct GoogleContent {
    thought_signature: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionDelta<'a> {
    #[serde(borrow)]
    name: ContentParts<'a>,
    arguments: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    #[serde(deserialize_with = "nullable")]
    prompt_tokens: u64,
    #[serde(deserialize_with = "nullable")]
    completion_tokens: u64,
    #[serde(deserialize_with = "nullable")]
    total_tokens: u64,
    prompt_tokens_details: Lax<Details>,
    completion_tokens_details: Lax<Details>,
    /// The tokens read from the cache, at DeepSeek.
    // Seen in `fixtures/openai/deepseek_reasoning_then_call.sse`, 2026-11-22.
    prompt_cache_hit_tokens: Lax<u64>,
    /// The same at Moonshot.
    // Seen in `fixtures/openai/moonshot_usage_in_the_choice.sse`, 2026-11-22.
    cached_tokens: Lax<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
struct Details {
    // Seen in `fixtures/openai/xai_reasoning_outside_completion.sse`, 2026-11-22.
    cached_tokens: Lax<u64>,
    /// The tokens written to the cache, at OpenRouter.
    // https://openrouter.ai/docs/use-cases/usage-accounting, 2026-11-26.
    cache_write_tokens: Lax<u64>,
    reasoning_tokens: Lax<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct BaseResp {
    status_code: i64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Groq {
    usage: Usage,
}

impl<'a> Chunk<'a> {
    /// Returns the choice with index 0 or without an index: the answer.
    pub(super) fn first_choice(&self) -> Option<&Choice<'a>> {
        self.choices.iter().find(|choice| choice.index.or_default() == 0)
    }

    /// Returns the text if the chunk contains nothing else.
    pub(super) fn text_only(&self) -> Option<&Cow<'a, str>> {
        let [Choice { delta: Some(delta), message: None, finish_reason, usage: Lax(None), error: None, .. }] =
            self.choices.as_slice()
        else {
            return None;
        };
        let nothing_else = self.usage.0.is_none() && self.error.is_none() && self.x_groq.0.is_none();
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
        self.choices.is_empty() && self.base_resp.or_default().status_code != 0
    }

    /// Returns the token usage so far.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage = self.usage.0.or_else(|| self.first_choice()?.usage.0);
        let usage = usage.or_else(|| Some(self.x_groq.0?.usage))?;
        let input = usage.prompt_tokens;
        let cached = usage.cached().min(input);
        let cache_writes = usage.cache_writes().min(input - cached);
        Some(TokenUsage { input, cached, cache_writes, output: usage.output() })
    }
}

impl Choice<'_> {
    /// Whether the provider that OpenRouter calls names its output limit as the reason, and the choice itself another one.
    pub(super) fn is_cut_by_limit(&self) -> bool {
        const LIMITS: [&str; 4] = ["max_output_tokens", "max_tokens", "length", "MAX_TOKENS"];
        LIMITS.contains(&&*self.native_finish_reason.text)
    }
}

impl Usage {
    /// Returns the tokens written, reasoning included. The completion tokens of xAI exclude the reasoning; there, and only
    /// there, the total is the sum of all three.
    // Seen in `fixtures/openai/xai_reasoning_outside_completion.sse`, 2026-11-22.
    fn output(&self) -> u64 {
        let reasoning = self.completion_tokens_details.or_default().reasoning_tokens.or_default();
        let with_reasoning = self.completion_tokens.saturating_add(reasoning);
        let is_sum = self.total_tokens == self.prompt_tokens.saturating_add(with_reasoning);
        if is_sum { with_reasoning } else { self.completion_tokens }
    }

    fn cache_writes(&self) -> u64 {
        self.prompt_tokens_details.or_default().cache_write_tokens.or_default()
    }

    fn cached(&self) -> u64 {
        let details = self.prompt_tokens_details.or_default().cached_tokens;
        details.0.or(self.prompt_cache_hit_tokens.0).or(self.cached_tokens.0).unwrap_or_default()
    }
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

impl<'a> CallDelta<'a> {
    pub(super) fn arguments(&self) -> Cow<'a, str> {
        arguments(self.function.as_ref().and_then(|function| function.arguments))
    }

    /// Returns the signature; empty if there is none.
    fn signature(&self) -> &str {
        self.extra_content.0.as_ref().map_or("", |extra| &extra.google.thought_signature)
    }

    /// Converts the delta to a fragment with these `arguments`.
    pub(super) fn to_fragment<'b>(&'b self, arguments: &'b str) -> CallFragment<'b> {
        let name = self.function.as_ref().map_or("", |function| &function.name.text);
        CallFragment { index: self.index.0, id: &self.id.text, name, arguments, signature: self.signature() }
    }
}
