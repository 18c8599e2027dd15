//! What is known of single providers, a row for each.
//!
//! Those that speak OpenAI's protocol are known by their hosts, the others by their protocol; a server that runs anywhere
//! is named by the operator.

mod anthropic;
mod ark;
mod dashscope;
mod deepseek;
mod gemini;
mod groq;
mod lmstudio;
mod moonshot;
mod ollama;
mod openai;
mod openrouter;
mod siliconflow;
mod vllm;
mod zhipu;

use reqwest::Url;

use crate::dialect::{Dialect, LOW_TO_HIGH, PLAIN};
use crate::listing::Listing;
use crate::{ModelConfig, ToolPath, Wire};

/// The particulars of the endpoints of one provider.
///
/// In each table an entry stands for the models whose id begins so, in lower case; the first that fits counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Provider {
    /// As it is shown to people and in lists of models, and as the settings name it.
    pub(crate) name: &'static str,
    /// The protocol that it speaks.
    pub(crate) wire: Wire,
    /// Its hosts; each stands for its subdomains too.
    pub(crate) hosts: &'static [&'static str],
    /// Whether it takes `stream_options.include_usage`.
    pub(crate) usage_option: bool,
    /// Whether assistant messages must carry the reasoning that came with them once tools are used.
    pub(crate) echo_reasoning: bool,
    /// How models are given tools.
    pub(crate) tools: &'static [(&'static str, ToolPath)],
    /// Where the provider says which of its other models take tools.
    pub(crate) listing: Option<Listing>,
    /// How many tokens models take.
    pub(crate) contexts: &'static [(&'static str, u64)],
    /// How models are told what the operator chose for them.
    pub(crate) dialects: &'static [(&'static str, Dialect)],
}

impl Provider {
    /// How a model is given tools, if it is known by its id.
    pub(crate) fn path_of(&self, model: &str) -> Option<ToolPath> {
        by_beginning(self.tools, model)
    }

    /// The tokens that a prompt and its reply may have together, if the model is known by its id.
    pub(crate) fn context_of(&self, model: &str) -> Option<u64> {
        by_beginning(self.contexts, model)
    }

    /// How a model is told what the operator chose for it.
    pub(crate) fn dialect_of(&self, model: &str) -> Dialect {
        by_beginning(self.dialects, model).unwrap_or(PLAIN)
    }
}

/// The first entry with which the model's id begins; case does not count.
fn by_beginning<T: Copy>(table: &[(&str, T)], model: &str) -> Option<T> {
    let model = model.to_lowercase();
    table.iter().find(|(beginning, _)| model.starts_with(beginning)).map(|(_, known)| *known)
}

/// An endpoint that nothing is known of: what most of them take is tried, and what it refuses is left out from then on.
///
/// It may drop tools without a word, so its models write their calls as text unless the settings say otherwise.
pub(crate) const OTHER: Provider = Provider {
    name: "openai-compatible",
    wire: Wire::Openai,
    hosts: &[],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    listing: None,
    contexts: &[],
    dialects: &[("", Dialect { efforts: LOW_TO_HIGH, ..PLAIN })],
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
    &moonshot::ROW,
    &ollama::ROW,
    &openai::ROW,
    &openrouter::ROW,
    &siliconflow::ROW,
    &vllm::ROW,
    &zhipu::ROW,
];

/// The provider of a model: the one that the operator named, else whose host or whose protocol it is.
pub(crate) fn of(config: &ModelConfig) -> &'static Provider {
    let named = config.options.provider.and_then(|name| PROVIDERS.iter().find(|row| row.name == name).copied());
    named.unwrap_or_else(|| match config.wire {
        Wire::Openai => {
            let host = Url::parse(&config.base_url).ok().and_then(|url| url.host_str().map(of_host));
            host.unwrap_or(&OTHER)
        }
        wire => PROVIDERS.iter().find(|row| row.wire == wire).copied().unwrap_or(&OTHER),
    })
}

/// The row of the provider that `host` belongs to.
fn of_host(host: &str) -> &'static Provider {
    let belongs = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    PROVIDERS.iter().find(|row| row.hosts.iter().any(|known| belongs(known))).copied().unwrap_or(&OTHER)
}

#[cfg(test)]
mod tests;
