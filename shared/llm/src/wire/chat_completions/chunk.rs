use std::borrow::Cow;

use domain::ReasoningDetail;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::TokenUsage;
use crate::lax::{ContentParts, arguments, nullable, ok_or_none};
use crate::wire::tool_calls::CallFragment;

/// One event of a stream, or a complete response: the two differ only in `delta` and `message`.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "nullable")]
    pub(super) choices: Vec<Choice<'a>>,
    /// The id of the completion.
    #[serde(borrow, default)]
    pub(super) id: ContentParts<'a>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    /// The error at `MiniMax`, unless its code is 0.
    #[serde(borrow, default)]
    base_resp: Option<&'a RawValue>,
    /// Contains the usage at Groq.
    #[serde(borrow, default)]
    x_groq: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub(super) message: Option<Message<'a>>,
    #[serde(default)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    /// The finish reason of the provider that OpenRouter calls.
    #[serde(borrow, default)]
    native_finish_reason: ContentParts<'a>,
    /// The usage at Moonshot.
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    /// An error at OpenRouter.
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) content: ContentParts<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: ContentParts<'a>,
    #[serde(borrow, default)]
    reasoning_content: ContentParts<'a>,
    #[serde(borrow, default)]
    reasoning: ContentParts<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    pub(super) tool_calls: Vec<Option<CallDelta<'a>>>,
    /// The reasoning with its signatures at OpenRouter and gateways like it.
    #[serde(borrow, default)]
    reasoning_details: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(borrow, default)]
    index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: ContentParts<'a>,
    #[serde(borrow, default)]
    function: Option<FunctionDelta<'a>>,
    /// Contains the signature at Google.
    #[serde(borrow, default)]
    extra_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ExtraContent {
    google: GoogleContent,
}

#[derive(Deserialize)]
struct GoogleContent {
    thought_signature: String,
}

#[derive(Debug, Deserialize)]
struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    name: ContentParts<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(default, deserialize_with = "nullable")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "nullable")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "nullable")]
    total_tokens: u64,
    #[serde(borrow, default)]
    prompt_tokens_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    completion_tokens_details: Option<&'a RawValue>,
    /// The tokens read from the cache, at DeepSeek.
    #[serde(borrow, default)]
    prompt_cache_hit_tokens: Option<&'a RawValue>,
    /// The same at Moonshot.
    #[serde(borrow, default)]
    cached_tokens: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
struct Details<'a> {
    #[serde(borrow, default)]
    cached_tokens: Option<&'a RawValue>,
    /// The tokens written to the cache, at OpenRouter.
    #[serde(borrow, default)]
    cache_write_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning_tokens: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct BaseResp {
    #[serde(default)]
    status_code: i64,
}

#[derive(Deserialize)]
struct Groq<'a> {
    #[serde(borrow)]
    usage: Usage<'a>,
}

impl<'a> Chunk<'a> {
    /// Returns the choice with index 0 or without an index: the answer.
    pub(super) fn first_choice(&self) -> Option<&Choice<'a>> {
        self.choices.iter().find(|choice| ok_or_none(choice.index).unwrap_or(0) == 0)
    }

    /// Returns the text if the chunk contains nothing else.
    pub(super) fn text_only(&self) -> Option<&Cow<'a, str>> {
        let [Choice { delta: Some(delta), message: None, finish_reason: None, usage: None, error: None, .. }] =
            self.choices.as_slice()
        else {
            return None;
        };
        let nothing_else = self.usage.is_none() && self.error.is_none() && self.x_groq.is_none();
        self.first_choice().filter(|_| nothing_else)?;
        delta.is_text_only().then_some(&delta.content.text)
    }

    /// Returns the error, which some endpoints send in a response of status 200.
    pub(super) fn error(&self) -> Option<&'a RawValue> {
        let is_error = |error: &&RawValue| !matches!(error.get(), "\"\"" | "{}" | "[]" | "false");
        self.error.or_else(|| self.first_choice()?.error).filter(is_error)
    }

    /// Whether `MiniMax` reports an error in place of choices.
    pub(super) fn has_failed_base_resp(&self) -> bool {
        let code = ok_or_none::<BaseResp>(self.base_resp).map_or(0, |base| base.status_code);
        self.choices.is_empty() && code != 0
    }

    /// Returns the token usage so far.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage = ok_or_none::<Usage<'_>>(self.usage)
            .or_else(|| ok_or_none(self.first_choice()?.usage))
            .or_else(|| Some(ok_or_none::<Groq<'_>>(self.x_groq)?.usage))?;
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

impl Usage<'_> {
    /// Returns the tokens written, reasoning included. The completion tokens of xAI exclude the reasoning; there, and only
    /// there, the total is the sum of all three.
    fn output(&self) -> u64 {
        let details = ok_or_none::<Details<'_>>(self.completion_tokens_details);
        let reasoning: u64 = details.and_then(|details| ok_or_none(details.reasoning_tokens)).unwrap_or_default();
        let with_reasoning = self.completion_tokens.saturating_add(reasoning);
        let is_sum = self.total_tokens == self.prompt_tokens.saturating_add(with_reasoning);
        if is_sum { with_reasoning } else { self.completion_tokens }
    }

    fn cache_writes(&self) -> u64 {
        let details = ok_or_none::<Details<'_>>(self.prompt_tokens_details);
        details.and_then(|details| ok_or_none(details.cache_write_tokens)).unwrap_or_default()
    }

    fn cached(&self) -> u64 {
        let details = ok_or_none::<Details<'_>>(self.prompt_tokens_details).and_then(|details| details.cached_tokens);
        [details, self.prompt_cache_hit_tokens, self.cached_tokens].into_iter().find_map(ok_or_none).unwrap_or_default()
    }
}

impl Message<'_> {
    fn is_text_only(&self) -> bool {
        let thinking = self.reasoning().is_empty() && self.content.thinking.is_empty();
        thinking && self.reasoning_details().is_empty() && self.refusal.text.is_empty() && self.tool_calls.is_empty()
    }

    /// Returns the elements of `reasoning_details`; those of another type are left out.
    pub(super) fn reasoning_details(&self) -> Vec<ReasoningDetail> {
        let details: Vec<&RawValue> = ok_or_none(self.reasoning_details).unwrap_or_default();
        details.into_iter().filter_map(|detail| ok_or_none(Some(detail))).collect()
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
    /// Returns the arguments as text.
    pub(super) fn arguments(&self) -> Cow<'a, str> {
        arguments(self.function.as_ref().and_then(|function| function.arguments))
    }

    /// Returns the signature; empty if there is none.
    pub(super) fn signature(&self) -> String {
        ok_or_none::<ExtraContent>(self.extra_content).map(|extra| extra.google.thought_signature).unwrap_or_default()
    }

    /// Converts the delta to a fragment with these `arguments` and this `signature`.
    pub(super) fn to_fragment<'b>(&'b self, arguments: &'b str, signature: &'b str) -> CallFragment<'b> {
        let name = self.function.as_ref().map_or("", |function| &function.name.text);
        CallFragment { index: ok_or_none(self.index), id: &self.id.text, name, arguments, signature }
    }
}
