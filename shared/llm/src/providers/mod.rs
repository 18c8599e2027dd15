//! Facts about providers, one row for each.
//!
//! Providers with OpenAI's protocol are recognised by their hosts, the others by their protocol. The operator names
//! the provider of a self-hosted server.

mod anthropic;
mod ark;
mod azure;
mod bedrock;
mod dashscope;
mod deepseek;
mod gemini;
mod groq;
mod lmstudio;
mod mistral;
mod moonshot;
mod ollama;
mod openai;
mod openrouter;
mod siliconflow;
mod vertex;
mod vllm;
mod zhipu;

use reqwest::Url;

use crate::params::{Dialect, LOW_TO_HIGH, PLAIN, ReasoningEcho};
use crate::{Cloud, ModelConfig, Price, Wire};

/// Facts about the endpoints of one provider.
///
/// In each table an entry applies to the models whose id starts with the given prefix, in lower case; the first match
/// wins.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a provider")]
pub(crate) struct Provider {
    /// The name in the user interface, in model lists and in the settings.
    pub(crate) name: &'static str,
    pub(crate) wire: Wire,
    /// The hosts; subdomains are included.
    pub(crate) hosts: &'static [&'static str],
    /// Whether `stream_options.include_usage` is supported.
    pub(crate) usage_option: bool,
    /// Which assistant messages include their reasoning once tools are used.
    pub(crate) echo_reasoning: ReasoningEcho,
    /// Whether ids of calls must have nine letters or digits.
    pub(crate) short_ids: bool,
    /// Whether every model takes native tools, whatever its name.
    pub(crate) native_tools: bool,
    /// The list that shows the tool support of its models.
    pub(crate) model_list: Option<ModelListApi>,
    /// Whether replies of `gpt-oss` over chat completions begin with their reasoning, as `<reasoning>…</reasoning>`.
    pub(crate) tagged_reasoning: bool,
    /// Whether the models are Bedrock's, whose windows and prices are known.
    pub(crate) models_of_bedrock: bool,
    pub(crate) context_tokens: &'static [(&'static str, u64)],
    pub(crate) dialects: &'static [(&'static str, Dialect)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelListApi {
    /// `GET {base}/models`; an entry has `features.tools.function_calling` and `token_limits.context_window`.
    Ark,
    /// `GET {base}/models`; an entry has `supported_parameters` and `context_length`.
    OpenRouter,
    /// `POST {base}/api/show` for one model, with `capabilities`, `model_info.{architecture}.context_length` and
    /// `parameters`, the lines of its Modelfile.
    Ollama,
}

impl Provider {
    /// Returns the context size in tokens (prompt and reply together), if the model's id is in the table.
    pub(crate) fn context_tokens_of(&self, model: &str) -> Option<u64> {
        let of_bedrock =
            || bedrock::models::context_tokens_of(&model.to_lowercase()).filter(|_| self.models_of_bedrock);
        of_bedrock().or_else(|| find_by_prefix(self.context_tokens, model))
    }

    pub(crate) fn price_of(&self, model: &str) -> Option<Price> {
        bedrock::models::price_of(&model.to_lowercase()).filter(|_| self.models_of_bedrock)
    }

    pub(crate) fn tags_reasoning(&self, model: &str) -> bool {
        self.tagged_reasoning && family(&model.to_lowercase()).starts_with("gpt-oss")
    }

    pub(crate) fn has_short_ids(&self, model: &str) -> bool {
        self.short_ids || mistral::is_of_mistral(model)
    }

    pub(crate) fn dialect_of(&self, model: &str) -> Dialect {
        find_by_prefix(self.dialects, model).unwrap_or(PLAIN)
    }
}

/// Finds the first entry whose prefix matches the model's id; ignores case.
fn find_by_prefix<T: Copy>(table: &[(&str, T)], model: &str) -> Option<T> {
    let model = model.to_lowercase();
    table.iter().find(|(prefix, _)| family(&model).starts_with(prefix)).map(|(_, value)| *value)
}

// Code of litellm 1.108.7 and its price map, 2026-11-26.
const GEOGRAPHIES: &[&str] = &["global", "us", "eu", "apac", "jp", "au", "us-gov", "in"];

/// Vendors at the start of Bedrock's ids.
// Price map in the wheel of litellm 1.108.7, 2026-11-26.
const VENDORS: &[&str] = &["anthropic", "amazon", "openai", "xai", "meta", "mistral", "deepseek", "qwen"];

/// Splits an id of Bedrock, or the one in an ARN, into its geography, which may be empty, and the rest.
fn geography(model: &str) -> (&str, &str) {
    let id = if model.starts_with("arn:") { model.rsplit('/').next().unwrap_or_default() } else { model };
    id.split_once('.').filter(|(start, _)| GEOGRAPHIES.contains(start)).unwrap_or(("", id))
}

/// Returns an id without the geography and the vendor that precede it at Bedrock.
fn family(model: &str) -> &str {
    let (_, id) = geography(model);
    id.split_once('.').filter(|(start, _)| VENDORS.contains(start)).map_or(id, |(_, rest)| rest)
}

/// An unknown endpoint: requests use common parameters first and omit those that the endpoint rejects.
pub(crate) const UNKNOWN: Provider = Provider {
    name: "openai-compatible",
    wire: Wire::Openai,
    hosts: &[],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Never,
    short_ids: false,
    native_tools: false,
    tagged_reasoning: false,
    models_of_bedrock: false,
    model_list: None,
    context_tokens: &[],
    dialects: &[("", Dialect { effort_names: LOW_TO_HIGH, ..PLAIN })],
};

pub(crate) const PROVIDERS: &[&Provider] = &[
    &anthropic::ROW,
    &ark::ROW,
    &azure::ROW,
    &bedrock::ROW,
    &dashscope::ROW,
    &deepseek::ROW,
    &gemini::ROW,
    &groq::ROW,
    &lmstudio::ROW,
    &mistral::ROW,
    &moonshot::ROW,
    &ollama::ROW,
    &openai::ROW,
    &openrouter::ROW,
    &siliconflow::ROW,
    &vertex::ROW,
    &vllm::ROW,
    &zhipu::ROW,
];

/// Returns the provider of a model: as configured, else by its cloud, host or protocol.
pub(crate) fn provider_of(config: &ModelConfig) -> &'static Provider {
    let named = config.options.provider.and_then(|name| PROVIDERS.iter().find(|row| row.name == name).copied());
    named.unwrap_or_else(|| match (config.cloud, config.wire.of_rows()) {
        (Some(Cloud::Bedrock), Wire::Openai) => &bedrock::OPENAI,
        (Some(Cloud::Bedrock), Wire::Anthropic) => &bedrock::CLAUDE,
        (_, Wire::Converse) if family(&config.model.to_lowercase()).starts_with("claude-") => &bedrock::CLAUDE,
        (Some(Cloud::Azure), Wire::Openai) => &azure::ROW,
        (Some(Cloud::Vertex), Wire::Openai) => &vertex::ROW,
        (_, Wire::Openai) => provider_of_url(&config.base_url),
        (_, wire) => PROVIDERS.iter().find(|row| row.wire == wire).copied().unwrap_or(&UNKNOWN),
    })
}

/// Returns the wire for a model whose settings name none: some of `OpenAI`'s models need the Responses API.
pub(crate) fn default_wire(base_url: &str, model: &str) -> Wire {
    let is_openai = provider_of_url(base_url) == &openai::ROW || is_azure(base_url);
    if is_openai && openai::needs_responses(model) { Wire::Responses } else { Wire::Openai }
}

pub(crate) fn is_azure(base_url: &str) -> bool {
    provider_of_url(base_url) == &azure::ROW
}

fn provider_of_url(base_url: &str) -> &'static Provider {
    let host = Url::parse(base_url).ok().and_then(|url| url.host_str().map(provider_of_host));
    host.unwrap_or(&UNKNOWN)
}

fn provider_of_host(host: &str) -> &'static Provider {
    let belongs = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    PROVIDERS.iter().find(|row| row.hosts.iter().any(|known| belongs(known))).copied().unwrap_or(&UNKNOWN)
}

#[cfg(test)]
mod tests;
