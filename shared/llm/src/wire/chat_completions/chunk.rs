use std::borrow::Cow;

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
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
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
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(borrow, default)]
    index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: ContentParts<'a>,
    #[serde(borrow, default)]
    function: Option<FunctionDelta<'a>>,
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
    #[serde(borrow, default)]
    prompt_tokens_details: Option<&'a RawValue>,
    /// The tokens read from the cache, at DeepSeek.
    #[serde(borrow, default)]
    prompt_cache_hit_tokens: Option<&'a RawValue>,
    /// The same at Moonshot.
    #[serde(borrow, default)]
    cached_tokens: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Details<'a> {
    #[serde(borrow, default)]
    cached_tokens: Option<&'a RawValue>,
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

    /// Returns the token usage so far.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage = ok_or_none::<Usage<'_>>(self.usage)
            .or_else(|| ok_or_none(self.first_choice()?.usage))
            .or_else(|| Some(ok_or_none::<Groq<'_>>(self.x_groq)?.usage))?;
        let (input, output) = (usage.prompt_tokens, usage.completion_tokens);
        Some(TokenUsage { input, cached: usage.cached().min(input), output })
    }
}

impl Usage<'_> {
    fn cached(&self) -> u64 {
        let details = ok_or_none::<Details<'_>>(self.prompt_tokens_details).and_then(|details| details.cached_tokens);
        [details, self.prompt_cache_hit_tokens, self.cached_tokens].into_iter().find_map(ok_or_none).unwrap_or_default()
    }
}

impl Message<'_> {
    fn is_text_only(&self) -> bool {
        let thinking = self.reasoning().is_empty() && self.content.thinking.is_empty();
        thinking && self.refusal.text.is_empty() && self.tool_calls.is_empty()
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

    /// Converts the delta to a fragment with these `arguments`.
    pub(super) fn to_fragment<'b>(&'b self, arguments: &'b str) -> CallFragment<'b> {
        let name = self.function.as_ref().map_or("", |function| &function.name.text);
        CallFragment { index: ok_or_none(self.index), id: &self.id.text, name, arguments }
    }
}
