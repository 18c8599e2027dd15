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
    fn those_that_want_their_reasoning_back_are_known() {
        let echoing: Vec<_> = PROVIDERS.iter().filter(|row| row.echo_reasoning).map(|row| row.name).collect();
        assert_eq!(echoing, ["deepseek", "moonshot"]);
    }
}
