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
}

impl Provider {
    /// How a model is given tools, if it is known by its id.
    pub(crate) fn path_of(&self, model: &str) -> Option<ToolPath> {
        let model = model.to_lowercase();
        self.tools.iter().find(|(beginning, _)| model.starts_with(beginning)).map(|(_, path)| *path)
    }
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
};

/// Any server that speaks Ollama's own protocol.
pub(crate) const OLLAMA: Provider = Provider { name: "ollama", listing: Some(Listing::Ollama), ..OTHER };

/// Any server that speaks Anthropic's.
pub(crate) const ANTHROPIC: Provider = Provider { name: "anthropic", tools: &[("", ToolPath::Native)], ..OTHER };

/// Any server that speaks Gemini's.
pub(crate) const GEMINI: Provider = Provider { name: "gemini", tools: &[("", ToolPath::Native)], ..OTHER };

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
            for (at, (beginning, _)) in row.tools.iter().enumerate() {
                let hidden = row.tools[..at].iter().any(|(earlier, _)| beginning.starts_with(earlier));
                assert!(!hidden && beginning.to_lowercase() == *beginning, "{}: {beginning}", row.name);
            }
        }
    }

    #[test]
    fn those_that_want_their_reasoning_back_are_known() {
        let echoing: Vec<_> = PROVIDERS.iter().filter(|row| row.echo_reasoning).map(|row| row.name).collect();
        assert_eq!(echoing, ["deepseek", "moonshot"]);
    }
}
