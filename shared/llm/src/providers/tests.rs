use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::params::ReasoningEcho;
use crate::params::ThinkingControl;

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
fn every_row_names_source_and_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/providers");
    for row in PROVIDERS {
        let text = fs::read_to_string(folder.join(format!("{}.rs", row.name))).unwrap();
        let above = text.lines().take_while(|line| !line.starts_with("pub(super) const ROW")).last().unwrap();
        let source = above.strip_prefix("// Source: ").and_then(|source| source.strip_suffix('.'));
        let date = source.and_then(|source| source.rsplit_once(", ")).map(|(_, date)| date).unwrap_or_default();
        assert!(date.len() == 10 && date.starts_with("20"), "{}: {above}", row.name);
    }
}

#[test]
fn host_and_subdomains_belong_to_one_provider() {
    for row in PROVIDERS {
        for host in row.hosts {
            assert_eq!(provider_of_host(host), *row);
            assert_eq!(provider_of_host(&format!("eu.{host}")), *row);
            assert_eq!(provider_of_host(&format!("not{host}")), &UNKNOWN);
        }
    }
    assert_eq!(provider_of_host("ark.cn-beijing.volces.com").name, "ark");
    assert_eq!(provider_of_host("localhost"), &UNKNOWN);
}

#[test]
fn models_without_chat_completions_use_responses() {
    let openai = "https://api.openai.com/v1";
    for (url, model, expected) in [
        (openai, "o1-pro-2025-03-19", Wire::Responses),
        (openai, "GPT-5-pro", Wire::Responses),
        (openai, "gpt-5.1-codex-max", Wire::Responses),
        (openai, "codex-mini-latest", Wire::Responses),
        (openai, "o4-mini-deep-research", Wire::Responses),
        (openai, "gpt-5.4", Wire::Responses),
        (openai, "gpt-5.10-mini", Wire::Responses),
        (openai, "gpt-6-sol", Wire::Responses),
        ("https://eu.api.openai.com/v1", "gpt-5.5", Wire::Responses),
        (openai, "gpt-5.2", Wire::Openai),
        (openai, "gpt-5-mini", Wire::Openai),
        (openai, "gpt-4o", Wire::Openai),
        (openai, "gpt-oss-120b", Wire::Openai),
        (openai, "ft:gpt-4.1:acme:pro-codex:1", Wire::Openai),
        (openai, "o3", Wire::Openai),
        ("https://openrouter.ai/api/v1", "gpt-5-codex", Wire::Openai),
        ("http://localhost/v1", "gpt-5-pro", Wire::Openai),
        ("https://acme.openai.azure.com/openai/v1", "gpt-5-pro", Wire::Responses),
        ("https://acme.openai.azure.com/openai/v1", "my-deployment", Wire::Openai),
    ] {
        assert_eq!(default_wire(url, model), expected, "{url} {model}");
    }
}

#[test]
fn every_table_entry_is_reachable() {
    for row in PROVIDERS {
        reachable(row.name, row.context_tokens);
        reachable(row.name, row.dialects);
    }
}

fn reachable<T>(name: &str, table: &[(&str, T)]) {
    for (at, (prefix, _)) in table.iter().enumerate() {
        let hidden = table[..at].iter().any(|(earlier, _)| prefix.starts_with(earlier));
        assert!(!hidden && prefix.to_lowercase() == *prefix, "{name}: {prefix}");
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
        ("acme.openai.azure.com", "gpt-5-mini", Some(400_000)),
        ("acme.openai.azure.com", "my-deployment", None),
    ] {
        assert_eq!(provider_of_host(host).context_tokens_of(model), expected, "{host} {model}");
    }
    assert_eq!(anthropic::ROW.context_tokens_of("claude-sonnet-4-5"), Some(200_000));
    assert_eq!(gemini::ROW.context_tokens_of("gemini-2.5-pro"), Some(1_048_576));
    for (model, expected) in [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Some(200_000)),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-sonnet-5", Some(1_000_000)),
        ("arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-micro-v1:0", Some(128_000)),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/abcdef", None),
        ("openai.gpt-oss-120b", Some(128_000)),
    ] {
        assert_eq!(bedrock::ROW.context_tokens_of(model), expected, "{model}");
        assert_eq!(bedrock::OPENAI.context_tokens_of(model), expected, "{model}");
    }
}

#[test]
fn cloud_and_wire_determine_the_row() {
    let row = |cloud, wire, model| {
        let config = ModelConfig::new("x", "http://localhost", model, wire);
        provider_of(&ModelConfig { cloud: Some(cloud), ..config })
    };
    assert_eq!(row(Cloud::Bedrock, Wire::Converse, "m"), &bedrock::ROW);
    assert_eq!(row(Cloud::Bedrock, Wire::Converse, "us.anthropic.claude-sonnet-4-5-20250929-v1:0"), &bedrock::CLAUDE);
    assert_eq!(row(Cloud::Bedrock, Wire::Responses, "m"), &bedrock::OPENAI);
    assert_eq!(row(Cloud::Bedrock, Wire::Anthropic, "m"), &bedrock::CLAUDE);
    assert_eq!(row(Cloud::Azure, Wire::Openai, "m"), &azure::ROW);
    assert_eq!(row(Cloud::Azure, Wire::Anthropic, "m"), &anthropic::ROW);
    assert_eq!(row(Cloud::Vertex, Wire::Openai, "m"), &vertex::ROW);
    assert_eq!(row(Cloud::Vertex, Wire::Gemini, "m"), &gemini::ROW);
}

#[test]
fn only_gpt_oss_at_bedrock_tags_its_reasoning() {
    let tags =
        |row: &Provider| ["openai.gpt-oss-120b", "us.openai.gpt-5.4", "xai.grok-4.6"].map(|id| row.tags_reasoning(id));
    assert_eq!(tags(&bedrock::OPENAI), [true, false, false]);
    for row in [&bedrock::ROW, &UNKNOWN, &groq::ROW] {
        assert_eq!(tags(row), [false; 3], "{}", row.name);
    }
}

#[test]
fn mistral_at_bedrock_has_short_ids() {
    for (model, expected) in [
        ("mistral.mistral-large-2407-v1:0", true),
        ("us.mistral.pixtral-large-2502-v1:0", true),
        ("arn:aws:bedrock:eu-west-1::foundation-model/mistral.ministral-3-8b-instruct", true),
        ("us.anthropic.claude-sonnet-5", false),
    ] {
        assert_eq!(bedrock::ROW.has_short_ids(model), expected, "{model}");
    }
}

#[test]
fn providers_requiring_reasoning_echo_are_listed() {
    let echoing: Vec<_> =
        PROVIDERS.iter().filter(|row| row.echo_reasoning == ReasoningEcho::Always).map(|row| row.name).collect();
    assert_eq!(echoing, ["deepseek", "moonshot"]);
}

#[test]
fn thinking_control_fits_wire_and_efforts_increase() {
    let more = [&UNKNOWN, &bedrock::OPENAI, &bedrock::CLAUDE];
    for row in PROVIDERS.iter().copied().chain(more) {
        for (prefix, dialect) in row.dialects {
            let wires: &[Wire] = match dialect.thinking {
                ThinkingControl::Unknown => &[row.wire],
                ThinkingControl::Think => &[Wire::Ollama],
                ThinkingControl::Adaptive => &[Wire::Anthropic],
                ThinkingControl::Budget { .. } => &[Wire::Anthropic, Wire::Gemini],
                ThinkingControl::Level { .. } => &[Wire::Gemini],
                ThinkingControl::Effort { .. } | ThinkingControl::Type { .. } => &[Wire::Openai, Wire::Converse],
                _ => &[Wire::Openai],
            };
            assert!(wires.contains(&row.wire), "{}: {prefix}", row.name);
            assert!(dialect.effort_names.is_sorted_by_key(|(effort, _)| *effort as u8), "{}: {prefix}", row.name);
        }
    }
}

#[test]
fn self_hosted_server_is_named_by_operator() {
    let config = |provider| ModelConfig {
        options: crate::Options { provider, ..crate::Options::default() },
        ..ModelConfig::new("x", "http://localhost:8000/v1", "m", Wire::Openai)
    };
    let named = [None, Some("vllm"), Some("lmstudio"), Some("ark")].map(|name| provider_of(&config(name)).name);
    assert_eq!(named, ["openai-compatible", "vllm", "lmstudio", "ark"]);
}
