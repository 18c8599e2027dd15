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

use crate::ToolPath;
use crate::listing::Listing;

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
    /// How models are given tools whose id begins so, in lower case; the first that fits counts.
    pub(crate) tools: &'static [(&'static str, ToolPath)],
    /// Where the provider says which of its other models take tools.
    pub(crate) listing: Option<Listing>,
    /// How many tokens models take whose id begins so, in lower case; the first that fits counts.
    pub(crate) contexts: &'static [(&'static str, u64)],
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
    hosts: &[],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    listing: None,
    contexts: &[],
};

/// Any server that speaks Ollama's own protocol.
pub(crate) const OLLAMA: Provider = Provider { name: "ollama", listing: Some(Listing::Ollama), ..OTHER };

/// Any server that speaks Anthropic's.
pub(crate) const ANTHROPIC: Provider =
    Provider { name: "anthropic", tools: &[("", ToolPath::Native)], contexts: &[("claude-", 200_000)], ..OTHER };

/// Any server that speaks Gemini's.
pub(crate) const GEMINI: Provider = Provider {
    name: "gemini",
    tools: &[("", ToolPath::Native)],
    contexts: &[("gemini-2", 1_048_576), ("gemini-3", 1_048_576)],
    ..OTHER
};

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_list_and_the_folder_agree() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/providers");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let names = files.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned());
        let files: BTreeSet<_> = names.filter(|name| name != "mod").collect();
        let rows: BTreeSet<_> = PROVIDERS.iter().map(|row| row.name.to_owned()).collect();
        assert_eq!(rows, files);
        assert_eq!(PROVIDERS.len(), files.len());
    }

    #[test]
    fn a_host_and_its_subdomains_belong_to_one_provider() {
        for row in PROVIDERS {
            for host in row.hosts {
                assert_eq!(of_host(host), *row);
                assert_eq!(of_host(&format!("eu.{host}")), *row);
                assert_eq!(of_host(&format!("not{host}")), &OTHER);
            }
        }
        assert_eq!(of_host("ark.cn-beijing.volces.com").name, "ark");
        assert_eq!(of_host("localhost"), &OTHER);
    }

    #[test]
    fn a_models_path_is_known_by_the_beginning_of_its_id() {
        use ToolPath::{Native, Text};
        let path = |host: &str, model: &str| of_host(host).path_of(model);
        for (host, model, expected) in [
            ("api.openai.com", "gpt-4.1-mini", Some(Native)),
            ("api.openai.com", "GPT-5", Some(Native)),
            ("api.openai.com", "o1-mini-2024-09-12", Some(Text)),
            ("api.openai.com", "o1", Some(Native)),
            ("api.openai.com", "text-davinci-003", None),
            ("ark.cn-beijing.volces.com", "doubao-seed-1-6-250615", Some(Native)),
            ("ark.cn-beijing.volces.com", "deepseek-v3-1-250821", Some(Native)),
            ("ark.cn-beijing.volces.com", "deepseek-r1-250528", None),
            ("ark.cn-beijing.volces.com", "ep-20250101000000-abcde", None),
            ("api.deepseek.com", "deepseek-chat", Some(Native)),
            ("openrouter.ai", "openai/gpt-5", None),
            ("localhost", "gpt-4.1-mini", None),
        ] {
            assert_eq!(path(host, model), expected, "{host} {model}");
        }
        assert_eq!((ANTHROPIC.path_of("claude-x"), OLLAMA.path_of("qwen3")), (Some(Native), None));
    }

    #[test]
    fn every_row_of_models_can_be_reached() {
        for row in PROVIDERS {
            reachable(row.name, row.tools);
            reachable(row.name, row.contexts);
        }
    }

    fn reachable<T>(name: &str, table: &[(&str, T)]) {
        for (at, (beginning, _)) in table.iter().enumerate() {
            let hidden = table[..at].iter().any(|(earlier, _)| beginning.starts_with(earlier));
            assert!(!hidden && beginning.to_lowercase() == *beginning, "{name}: {beginning}");
        }
    }

    #[test]
    fn a_models_context_is_known_by_the_beginning_of_its_id() {
        for (host, model, expected) in [
            ("ark.cn-beijing.volces.com", "doubao-seed-1-6-250615", Some(256_000)),
            ("ark.cn-beijing.volces.com", "ep-20250101000000-abcde", None),
            ("api.openai.com", "gpt-5-chat-latest", Some(128_000)),
            ("api.openai.com", "GPT-5-mini", Some(400_000)),
            ("api.openai.com", "gpt-4", Some(8192)),
            ("api.openai.com", "gpt-6", None),
            ("api.deepseek.com", "deepseek-chat", Some(128_000)),
            ("dashscope.aliyuncs.com", "qwen3-coder-plus", Some(256_000)),
            ("api.moonshot.cn", "moonshot-v1-8k", Some(8192)),
            ("open.bigmodel.cn", "glm-4.5-air", Some(128_000)),
            ("api.groq.com", "llama-3.3-70b-versatile", Some(131_072)),
            ("localhost", "gpt-5", None),
        ] {
            assert_eq!(of_host(host).context_of(model), expected, "{host} {model}");
        }
        assert_eq!(ANTHROPIC.context_of("claude-sonnet-4-5"), Some(200_000));
        assert_eq!(GEMINI.context_of("gemini-2.5-pro"), Some(1_048_576));
    }

    #[test]
    fn those_that_want_their_reasoning_back_are_known() {
        let echoing: Vec<_> = PROVIDERS.iter().filter(|row| row.echo_reasoning).map(|row| row.name).collect();
        assert_eq!(echoing, ["deepseek", "moonshot"]);
    }
}
