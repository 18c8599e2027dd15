//! The variables `…_TOKEN` and `…_API_KEY` of a deployment that definitions may reference.

use platform::settings::Settings;
use serde::Deserialize;

pub(crate) const TOKEN_SUFFIX: &str = "_TOKEN";

pub(crate) const API_KEY_SUFFIX: &str = "_API_KEY";

const MAX_NAME_BYTES: usize = 100;

/// Prefixes of the variables of the product and the platform.
const OWN_PREFIXES: [&str; 10] =
    ["AWS_", "LAMBDA_", "ARK_", "OPENAI_", "OLLAMA_", "ANTHROPIC_", "GEMINI_", "TAVILY_", "EMBEDDINGS_", "AUTH_"];

/// Prefixes of the variables of other model providers, whose keys may be set without being in use.
const PROVIDER_PREFIXES: [&str; 15] = [
    // Not all of `AZURE_`: tools may use other services there.
    "AZURE_API_",
    "AZURE_OPENAI_",
    "BEDROCK_",
    "DASHSCOPE_",
    "DEEPSEEK_",
    "GOOGLE_",
    "GROQ_",
    "LMSTUDIO_",
    "MISTRAL_",
    "MOONSHOT_",
    "OPENROUTER_",
    "SILICONFLOW_",
    "VERTEX_",
    "VLLM_",
    "ZHIPU_",
];

/// Prefixes of the credentials of developers and pipelines, which the local server may inherit.
const DEVELOPER_PREFIXES: [&str; 7] = ["ACTIONS_", "CARGO_", "CI_", "GH_", "GITHUB_", "GITLAB_", "NPM_"];

/// Settings with rows of models, whose keys are in variables of any name.
const MODEL_SETTINGS: [&str; 2] = ["MODELS", "EXTRA_MODELS"];

#[derive(Deserialize)]
struct ModelRow {
    #[serde(rename = "apiKeyVar")]
    api_key_var: Option<String>,
}

/// Whether a variable may be one for tools: `X_TOKEN` or `X_API_KEY`, with no reserved prefix.
pub(crate) fn is_token_variable(name: &str) -> bool {
    let start = name.strip_suffix(TOKEN_SUFFIX).or_else(|| name.strip_suffix(API_KEY_SUFFIX)).unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    start.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(plain)
        && name.len() <= MAX_NAME_BYTES
        && !is_reserved(name)
}

fn is_reserved(name: &str) -> bool {
    let mut prefixes = OWN_PREFIXES.iter().chain(&PROVIDER_PREFIXES).chain(&DEVELOPER_PREFIXES);
    prefixes.any(|prefix| name.starts_with(prefix))
}

pub(crate) fn model_key_variables(settings: &Settings) -> Vec<String> {
    let rows = |setting: &str| serde_json::from_str::<Vec<ModelRow>>(settings.var(setting)?).ok();
    MODEL_SETTINGS.into_iter().filter_map(rows).flatten().filter_map(|row| row.api_key_var).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f131_only_token_variables_of_tools_may_be_named() {
        for name in ["WEATHER_TOKEN", "WEATHER_API_KEY", "A_B_2_TOKEN"] {
            assert!(is_token_variable(name), "{name}");
        }
        for name in [
            "ARK_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_ORG_TOKEN",
            "TAVILY_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SESSION_TOKEN",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN",
            "_TOKEN",
            "__TOKEN",
            "_X_TOKEN",
            "2_TOKEN",
            "TOKEN",
            "WEATHER",
            "WEATHER_SECRET",
            "WEATHER_TOKENS",
            "WEATHER_API_KEY_PARAMETER",
            "weather_TOKEN",
            "A-B_TOKEN",
            "A B_TOKEN",
            "",
        ] {
            assert!(!is_token_variable(name), "{name}");
        }
    }

    #[test]
    fn f131_no_documented_setting_is_a_tools_variable() {
        let documented = include_str!("../../../../docs/reference/settings.md");
        let names: Vec<&str> = documented.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        assert!(names.contains(&"ARK_API_KEY"));
        let open: Vec<&&str> = names.iter().filter(|name| is_token_variable(name)).collect();
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn f131_no_known_providers_key_is_a_tools_variable() {
        let providers = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../llm/src/providers")).unwrap();
        let names = providers.map(|file| file.unwrap().file_name().into_string().unwrap().replace(".rs", ""));
        let names: Vec<String> = names.filter(|name| !["mod", "tests"].contains(&name.as_str())).collect();
        assert!(names.len() > 10);
        let open: Vec<String> = names.into_iter().map(|name| format!("{}_API_KEY", name.to_uppercase())).collect();
        let open: Vec<&String> = open.iter().filter(|name| is_token_variable(name)).collect();
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn keys_of_all_model_rows_are_found() {
        let settings = Settings::from_pairs([
            ("MODELS", r#"[{"name":"a","apiKeyVar":"MY_API_KEY"},{"name":"b","baseUrl":"http://x"}]"#),
            ("EXTRA_MODELS", r#"[{"name":"c","apiKeyVar":"CHECK_TOKEN","tools":"native"}]"#),
        ]);
        assert_eq!(model_key_variables(&settings), ["MY_API_KEY", "CHECK_TOKEN"]);
        assert!(model_key_variables(&Settings::from_pairs([("MODELS", "nonsense")])).is_empty());
    }
}
