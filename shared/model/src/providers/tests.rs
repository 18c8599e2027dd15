use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::dialect::Switch;

#[test]
fn provider_list_matches_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/providers");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let names = files.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned());
    let files: BTreeSet<_> = names.filter(|name| !matches!(&**name, "mod" | "tests")).collect();
    let rows: BTreeSet<_> = PROVIDERS.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(rows, files);
    assert_eq!(PROVIDERS.len(), files.len());
}

#[test]
fn host_and_subdomains_belong_to_one_provider() {
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
fn tool_mode_is_found_by_id_prefix() {
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
    assert_eq!((anthropic::ROW.path_of("claude-x"), ollama::ROW.path_of("qwen3")), (Some(Native), None));
}

#[test]
fn every_table_entry_is_reachable() {
    for row in PROVIDERS {
        reachable(row.name, row.tools);
        reachable(row.name, row.contexts);
        reachable(row.name, row.dialects);
    }
}

fn reachable<T>(name: &str, table: &[(&str, T)]) {
    for (at, (beginning, _)) in table.iter().enumerate() {
        let hidden = table[..at].iter().any(|(earlier, _)| beginning.starts_with(earlier));
        assert!(!hidden && beginning.to_lowercase() == *beginning, "{name}: {beginning}");
    }
}

#[test]
fn context_size_is_found_by_id_prefix() {
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
    assert_eq!(anthropic::ROW.context_of("claude-sonnet-4-5"), Some(200_000));
    assert_eq!(gemini::ROW.context_of("gemini-2.5-pro"), Some(1_048_576));
}

#[test]
fn providers_requiring_reasoning_echo_are_listed() {
    let echoing: Vec<_> = PROVIDERS.iter().filter(|row| row.echo_reasoning).map(|row| row.name).collect();
    assert_eq!(echoing, ["deepseek", "moonshot"]);
}

#[test]
fn thinking_control_fits_wire_and_efforts_increase() {
    for row in PROVIDERS.iter().copied().chain([&OTHER]) {
        for (beginning, dialect) in row.dialects {
            let wires: &[Wire] = match dialect.thinking {
                Switch::Unknown => &[row.wire],
                Switch::Think => &[Wire::Ollama],
                Switch::Adaptive => &[Wire::Anthropic],
                Switch::Budget { .. } => &[Wire::Anthropic, Wire::Gemini],
                Switch::Level { .. } => &[Wire::Gemini],
                _ => &[Wire::Openai],
            };
            assert!(wires.contains(&row.wire), "{}: {beginning}", row.name);
            assert!(dialect.efforts.is_sorted_by_key(|(effort, _)| *effort as u8), "{}: {beginning}", row.name);
        }
    }
}

#[test]
fn self_hosted_server_is_named_by_operator() {
    let config = |provider| ModelConfig {
        name: "x".to_owned(),
        base_url: "http://localhost:8000/v1".to_owned(),
        api_key: None,
        model: "m".to_owned(),
        wire: Wire::Openai,
        tools: crate::ToolsMode::Auto,
        fallback: None,
        only_for: None,
        options: crate::Options { provider, ..crate::Options::default() },
        demo: false,
    };
    let named = [None, Some("vllm"), Some("lmstudio"), Some("ark")].map(|name| of(&config(name)).name);
    assert_eq!(named, ["openai-compatible", "vllm", "lmstudio", "ark"]);
}
