//! What is known of single providers, a row for each.

mod ark;
mod dashscope;
mod deepseek;
mod groq;
mod moonshot;
mod openai;
mod openrouter;
mod siliconflow;
mod zhipu;

/// The particulars of the endpoints of one provider.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Provider {
    /// As it is shown to people and in lists of models.
    pub(crate) name: &'static str,
    /// Its hosts; each stands for its subdomains too.
    pub(crate) hosts: &'static [&'static str],
    /// Whether it takes `stream_options.include_usage`.
    pub(crate) usage_option: bool,
    /// Whether assistant messages with calls must carry the reasoning that came with them.
    pub(crate) echo_reasoning: bool,
}

/// An endpoint that nothing is known of: what most of them take is tried, and what it refuses is left out from then on.
pub(crate) const OTHER: Provider =
    Provider { name: "openai-compatible", hosts: &[], usage_option: true, echo_reasoning: false };

/// Any server that speaks Ollama's own protocol.
pub(crate) const OLLAMA: Provider = Provider { name: "ollama", ..OTHER };

/// Any server that speaks Anthropic's.
pub(crate) const ANTHROPIC: Provider = Provider { name: "anthropic", ..OTHER };

/// Any server that speaks Gemini's.
pub(crate) const GEMINI: Provider = Provider { name: "gemini", ..OTHER };

/// All rows of providers that speak OpenAI's protocol and are known by their hosts.
pub(crate) const PROVIDERS: &[&Provider] = &[
    &ark::ROW,
    &dashscope::ROW,
    &deepseek::ROW,
    &groq::ROW,
    &moonshot::ROW,
    &openai::ROW,
    &openrouter::ROW,
    &siliconflow::ROW,
    &zhipu::ROW,
];

/// The row of the provider that `host` belongs to.
pub(crate) fn of_host(host: &str) -> &'static Provider {
    let belongs = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    PROVIDERS.iter().find(|row| row.hosts.iter().any(|known| belongs(known))).copied().unwrap_or(&OTHER)
}
