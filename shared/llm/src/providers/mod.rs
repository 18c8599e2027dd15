//! Facts about providers, one row for each.
//!
//! Providers with OpenAI's protocol are recognised by their hosts, the others by their protocol. The operator names
//! the provider of a self-hosted server.

mod anthropic;
mod ark;
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
mod vllm;
mod zhipu;

use reqwest::Url;

use crate::params::{Dialect, LOW_TO_HIGH, PLAIN, ReasoningEcho};
use crate::{ModelConfig, Wire};

/// Facts about the endpoints of one provider.
///
/// In each table an entry applies to the models whose id starts with the given prefix, in lower case; the first match
/// wins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Provider {
    /// The name in the user interface, in model lists and in the settings.
    pub(crate) name: &'static str,
    /// The protocol of the endpoints.
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
    /// Context sizes in tokens.
    pub(crate) context_tokens: &'static [(&'static str, u64)],
    /// The supported generation parameters.
    pub(crate) dialects: &'static [(&'static str, Dialect)],
}

/// The API of a model list.
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
        find_by_prefix(self.context_tokens, model)
    }

    /// Whether ids of calls must have nine letters or digits for a model.
    pub(crate) fn has_short_ids(&self, model: &str) -> bool {
        self.short_ids || mistral::is_of_mistral(model)
    }

    /// Returns the supported generation parameters of a model.
    pub(crate) fn dialect_of(&self, model: &str) -> Dialect {
        find_by_prefix(self.dialects, model).unwrap_or(PLAIN)
    }
}

/// Finds the first entry whose prefix matches the model's id; ignores case.
fn find_by_prefix<T: Copy>(table: &[(&str, T)], model: &str) -> Option<T> {
    let model = model.to_lowercase();
    table.iter().find(|(prefix, _)| model.starts_with(prefix)).map(|(_, value)| *value)
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
    model_list: None,
    context_tokens: &[],
    dialects: &[("", Dialect { effort_names: LOW_TO_HIGH, ..PLAIN })],
};

/// All rows.
pub(crate) const PROVIDERS: &[&Provider] = &[
    &anthropic::ROW,
    &ark::ROW,
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
    &vllm::ROW,
    &zhipu::ROW,
];

/// Returns the provider of a model: as configured, else by host or protocol.
pub(crate) fn provider_of(config: &ModelConfig) -> &'static Provider {
    let named = config.options.provider.and_then(|name| PROVIDERS.iter().find(|row| row.name == name).copied());
    named.unwrap_or_else(|| match config.wire.of_rows() {
        Wire::Openai => provider_of_url(&config.base_url),
        wire => PROVIDERS.iter().find(|row| row.wire == wire).copied().unwrap_or(&UNKNOWN),
    })
}

/// Returns the wire for a model whose settings name none: some of `OpenAI`'s models need the Responses API.
pub(crate) fn default_wire(base_url: &str, model: &str) -> Wire {
    let is_openai = provider_of_url(base_url) == &openai::ROW;
    if is_openai && openai::needs_responses(model) { Wire::Responses } else { Wire::Openai }
}

fn provider_of_url(base_url: &str) -> &'static Provider {
    let host = Url::parse(base_url).ok().and_then(|url| url.host_str().map(provider_of_host));
    host.unwrap_or(&UNKNOWN)
}

/// Returns the provider of `host`.
fn provider_of_host(host: &str) -> &'static Provider {
    let belongs = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    PROVIDERS.iter().find(|row| row.hosts.iter().any(|known| belongs(known))).copied().unwrap_or(&UNKNOWN)
}

#[cfg(test)]
mod tests;
