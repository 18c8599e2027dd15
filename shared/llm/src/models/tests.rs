mod clouds;
mod keys;
mod one_caller;

use super::*;
use crate::ToolMode;

fn read(pairs: &[(&str, &str)]) -> Result<Models, SettingError> {
    Models::from_settings(&Settings::from_pairs(pairs.iter().copied()), platform::transport::build_client().unwrap())
}

/// Returns name, base URL, model and wire of each model, and the name of the default.
fn summary(pairs: &[(&str, &str)]) -> (Vec<String>, Option<String>) {
    let models = read(pairs).unwrap();
    let line = |client: &ModelClient| {
        let ModelConfig { name, base_url, model, wire, api_key, .. } = client.config();
        format!("{name} {base_url} {model} {wire:?}{}", if api_key.is_some() { " key" } else { "" })
    };
    (models.iter().map(line).collect(), models.default_model().map(|client| client.config().name.clone()))
}

fn entry(json: &str) -> Result<Models, SettingError> {
    read(&[("MODELS", json), ("ARK_MODEL", "m"), ("ARK_API_KEY", "k"), ("KEY", "k")])
}

#[test]
fn model_needs_id_and_key_or_base_url() {
    let (models, default) = summary(&[
        ("ARK_API_KEY", "k"),
        ("ARK_MODEL", "doubao"),
        ("OPENAI_BASE_URL", "http://localhost:8000/v1/"),
        ("OPENAI_MODEL", "qwen"),
        ("OLLAMA_API_URL", "http://localhost"),
        ("OLLAMA_MODEL", "llama"),
        ("MODELS", r#"[{"name":"claude","wire":"anthropic","model":"c","apiKeyVar":"KEY"}]"#),
        ("KEY", "k"),
    ]);
    let expected = [
        "volcano https://ark.cn-beijing.volces.com/api/v3 doubao Openai key",
        "openai http://localhost:8000/v1 qwen Openai",
        "local http://localhost:11434 llama Ollama",
        "claude https://api.anthropic.com c Anthropic key",
    ];
    assert_eq!(models, expected);
    assert_eq!(default.as_deref(), Some("volcano"));
}

#[test]
fn empty_settings_configure_no_model() {
    let models = read(&[]).unwrap();
    assert!(models.default_model().is_none() && models.iter().next().is_none() && models.notes().is_empty());
}

#[test]
fn partial_settings_give_notes_without_values() {
    let models = read(&[
        ("ARK_API_KEY", "secret"),
        ("OPENAI_MODEL", "secret"),
        ("OLLAMA_API_URL", "http://secret"),
        ("MODELS", r#"[{"name":"x","model":"secret","apiKeyVar":"SECRET"}]"#),
    ])
    .unwrap();
    assert!(models.default_model().is_none());
    let expected = [
        "ARK_API_KEY is set without ARK_MODEL: there is no model `volcano`",
        "OPENAI_MODEL is set without OPENAI_API_KEY or OPENAI_BASE_URL: there is no model `openai`",
        "OLLAMA_API_URL is set without OLLAMA_MODEL: there is no model `local`",
        "MODELS: the variable in \"apiKeyVar\" of `x` is not set",
    ];
    assert_eq!(models.notes(), expected);
}

#[test]
fn keys_may_come_from_external_stores() {
    let aws = [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let external = [("ARK_API_KEY_PARAMETER", "/chat/ark"), ("KEY_SECRET", "chat"), ("OPENAI_API_KEY_SECRET", "chat")];
    let named = [("ARK_MODEL", "m"), ("MODELS", r#"[{"name":"x","model":"m","apiKeyVar":"KEY"}]"#)];
    let models = read(&[&aws[..], &external, &named].concat()).unwrap();
    let keys: Vec<_> =
        models.iter().map(|client| (&*client.config().name, client.config().api_key.is_some())).collect();
    assert_eq!(keys, [("volcano", true), ("x", true)]);
    assert_eq!(models.notes(), ["OPENAI_API_KEY_SECRET is set without OPENAI_MODEL: there is no model `openai`"]);
}

#[test]
fn default_is_first_or_named_model() {
    let both = [("ARK_API_KEY", "k"), ("ARK_MODEL", "m"), ("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m")];
    assert_eq!(summary(&both).1.as_deref(), Some("volcano"));
    let named = [&both[..], &[("DEFAULT_MODEL", "openai")]].concat();
    assert_eq!(summary(&named).1.as_deref(), Some("openai"));
    let unknown = [&both[..], &[("DEFAULT_MODEL", "gpt-secret")]].concat();
    let error = read(&unknown).err().unwrap();
    assert_eq!(
        error.to_string(),
        "DEFAULT_MODEL: expected the name of a configured model that is not for one caller alone"
    );
}

#[test]
fn models_entry_keeps_all_fields() {
    let json = r#"[{"name":" a ","baseUrl":"https://x.example/v1","apiKeyVar":"KEY","model":"m","wire":"gemini",
        "tools":"native","fallback":"b"},{"name":"b","baseUrl":"http://[::1]:8080","model":"n"}]"#;
    let models = entry(json).unwrap();
    let a = models.get("a").unwrap().config();
    assert_eq!((a.base_url.as_str(), a.wire, a.tools), ("https://x.example/v1", Wire::Gemini, Some(ToolMode::Native)));
    assert_eq!((a.fallback.as_deref(), a.api_key.is_some(), a.demo), (Some("b"), true, false));
    let b = models.get("b").unwrap().config();
    assert_eq!((b.base_url.as_str(), b.wire, b.tools), ("http://[::1]:8080", Wire::Openai, None));
    assert!(models.get("c").is_none());
}

#[test]
fn wire_is_chosen_by_model_unless_named() {
    let json = r#"[{"name":"a","apiKeyVar":"KEY","model":"gpt-5-pro"},
        {"name":"b","apiKeyVar":"KEY","model":"gpt-5-pro","wire":"openai"},
        {"name":"c","baseUrl":"https://api.x.ai/v1","model":"grok-4","wire":"responses"},
        {"name":"d","apiKeyVar":"KEY","model":"m","wire":"responses"}]"#;
    let models = entry(json).unwrap();
    let summary = |one: &crate::ModelClient| (one.config().wire, one.config().base_url.clone(), one.provider());
    let found: Vec<_> = models.iter().filter(|one| one.config().name.len() == 1).map(summary).collect();
    let openai = || "https://api.openai.com/v1".to_owned();
    let expected = [
        (Wire::Responses, openai(), "openai"),
        (Wire::Openai, openai(), "openai"),
        (Wire::Responses, "https://api.x.ai/v1".to_owned(), "openai-compatible"),
        (Wire::Responses, openai(), "openai"),
    ];
    assert_eq!(found, expected);
    let builtin = read(&[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "gpt-5.5")]).unwrap();
    assert_eq!(builtin.default_model().unwrap().config().wire, Wire::Responses);
}

#[test]
fn models_errors_name_variable_but_no_value() {
    for json in [
        "secret",
        "{}",
        "[1]",
        r#"[{"name":"secret","model":"m"}]"#,
        r#"[{"name":"secret","baseUrl":"http://x"}]"#,
        r#"[{"name":"secret","model":" ","baseUrl":"http://x"}]"#,
        r#"[{"name":" ","model":"secret","baseUrl":"http://x"}]"#,
        r#"[{"name":"volcano","model":"secret","baseUrl":"http://x"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x"},{"name":"secret","model":"n","baseUrl":"http://x"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","wire":"grpc"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","tools":"yes"}]"#,
        r#"[{"name":"secret","model":"m","baseURL":"http://x"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","fallback":"nobody"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","fallback":"secret"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"ftp://x"}]"#,
        r#"[{"name":"secret","model":"m","wire":"ollama","apiKeyVar":"KEY"}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","onlyFor":" "}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","onlyFor":[" secret"]}]"#,
        r#"[{"name":"secret","model":"m","baseUrl":"http://x","onlyFor":[]}]"#,
    ] {
        let error = entry(json).err().unwrap();
        assert_eq!(error.variable, "MODELS", "{json}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn models_errors_name_element_field_and_position() {
    let second = |fields: &str| {
        let json = format!(r#"[{{"name":"a","model":"m","baseUrl":"http://x"}},{{"name":"b"{fields}}}]"#);
        entry(&json).err().unwrap().to_string()
    };
    let wires = "one of openai, responses, ollama, anthropic, gemini or converse";
    let address = "an http or https URL without user, password, query and fragment";
    for (fields, expected) in [
        (r#","model":"m","baseUrl":"http://x","wire":"grpc""#, format!(".wire: expected {wires} (line 1, column 105)")),
        ("", ".model: expected the endpoint's own name of the model (line 1, column 59)".to_owned()),
        (r#","model":" ","baseUrl":"http://x""#, ".model: expected the endpoint's own name of the model".to_owned()),
        (r#","model":"m","baseUrl":"ftp://x""#, format!(".baseUrl: expected {address}")),
        (
            r#","model":"m","baseUrl":"http://x","tools":"yes""#,
            ".tools: expected auto, native, prompt or prompt:FORMAT (line 1, column 106)".to_owned(),
        ),
    ] {
        assert_eq!(second(fields), format!("MODELS[1]{expected}"));
    }
    let unknown = second(r#","model":"m","baseURL":"http://x""#);
    assert!(unknown.starts_with("MODELS[1]: expected an object with no other fields than name, model, baseUrl"));
    let twice = entry(r#"[{"name":"volcano","model":"m","baseUrl":"http://x"}]"#).err().unwrap().to_string();
    assert_eq!(twice, "MODELS[0].name: expected a text that is not blank and not used twice");
    let text = entry("nonsense").err().unwrap().to_string();
    assert!(text.contains("it is not JSON at line 1, column "), "{text}");
}

#[test]
fn base_url_is_http_without_user_or_query() {
    for text in [
        "secret",
        "localhost:11434",
        "ftp://secret.example",
        "https://",
        "https://user@secret.example/v1",
        "https://user:secret@x.example/v1",
        "https://:secret@x.example",
        "https://@secret.example",
        "https://x.example/v1?key=secret",
        "https://x.example/v1#secret",
    ] {
        for variable in ["ARK_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_API_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL"] {
            let error = read(&[(variable, text)]).err().unwrap();
            assert_eq!(error.variable, variable, "{text}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}

#[test]
fn ollama_port_is_added_only_if_missing() {
    for (text, base) in [
        ("http://localhost", "http://localhost:11434"),
        ("http://localhost/", "http://localhost:11434"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://localhost:80", "http://localhost"),
        ("https://gpu.example/ollama/", "https://gpu.example:11434/ollama"),
        ("http://[::1]", "http://[::1]:11434"),
        ("http://[::1]:9", "http://[::1]:9"),
    ] {
        let models = read(&[("OLLAMA_API_URL", text), ("OLLAMA_MODEL", "m")]).unwrap();
        assert_eq!(models.get("local").unwrap().config().base_url, base, "{text}");
    }
}

#[test]
fn anthropic_version_is_removed_from_base_url() {
    let json = r#"[{"name":"a","wire":"anthropic","baseUrl":"https://x.example/v1/","model":"m"}]"#;
    assert_eq!(entry(json).unwrap().get("a").unwrap().config().base_url, "https://x.example");
}

#[test]
fn key_invalid_in_header_is_rejected() {
    let error = read(&[("ARK_API_KEY", "two\nlines")]).err().unwrap();
    assert_eq!(error.to_string(), "ARK_API_KEY: expected a key of visible ASCII characters");
    assert!(read(&[("OPENAI_API_KEY", "schlüssel")]).is_err());
}

#[test]
fn timeouts_have_a_range() {
    for variable in ["MODEL_FIRST_BYTE_SECONDS", "MODEL_IDLE_SECONDS", "MODEL_PROGRESS_SECONDS"] {
        for value in ["0", "901", "-1", "1.5", "soon"] {
            assert_eq!(read(&[(variable, value)]).err().unwrap().variable, variable);
        }
        assert!(read(&[(variable, "900")]).is_ok());
    }
}

#[test]
fn demo_is_a_regular_model_and_default() {
    let models = read(&[]).unwrap().with_demo("http://127.0.0.1:1/v1/");
    let demo = models.default_model().unwrap();
    let ModelConfig { name, base_url, model, wire, api_key, demo: is_demo, .. } = demo.config();
    assert_eq!((name.as_str(), base_url.as_str(), model.as_str()), ("demo", "http://127.0.0.1:1/v1", "demo"));
    assert_eq!((*wire, api_key.is_some(), *is_demo), (Wire::Openai, false, true));
    assert_eq!((&models).into_iter().count(), 1);
}

#[test]
fn client_reports_provider_of_endpoint() {
    let json = r#"[{"name":"a","baseUrl":"https://api.deepseek.com","model":"m"},
        {"name":"b","baseUrl":"https://ark.ap-southeast.bytepluses.com/api/v3","model":"m"},
        {"name":"c","baseUrl":"http://localhost:1","model":"m"},
        {"name":"d","wire":"ollama","baseUrl":"http://localhost","model":"m"}]"#;
    let models = entry(json).unwrap();
    let providers: Vec<_> = ["a", "b", "c", "d"].map(|name| models.get(name).unwrap().provider()).to_vec();
    assert_eq!(providers, ["deepseek", "ark", "openai-compatible", "ollama"]);
}

#[test]
fn client_reports_context_size_of_model() {
    let context = |base: &str, model: &str| {
        let models = read(&[("OPENAI_BASE_URL", base), ("OPENAI_MODEL", model)]).unwrap();
        models.default_model().unwrap().context_tokens()
    };
    assert_eq!(context("https://api.openai.com/v1", "gpt-4o-mini"), 128_000);
    assert_eq!(context("https://api.openai.com/v1", "unheard-of"), 32_768);
    assert_eq!(context("http://localhost:8000", "gpt-4o-mini"), 32_768);
}

#[test]
fn ollama_context_setting_is_checked() {
    let context = |setting: &str| {
        let ollama = [("OLLAMA_API_URL", "http://localhost"), ("OLLAMA_MODEL", "m")];
        let models = read(&[&ollama[..], &[("OLLAMA_MAX_CONTEXT_TOKENS", setting)]].concat());
        models.map(|models| models.default_model().unwrap().context_tokens()).map_err(|error| error.to_string())
    };
    assert_eq!(context("4096"), Ok(4_096));
    let accepted = "OLLAMA_MAX_CONTEXT_TOKENS: expected a whole number from 1024 to 1048576";
    assert_eq!(["all", "1023", "1048577"].map(context), [(); 3].map(|()| Err(accepted.to_owned())));
}

#[test]
fn known_prices_apply_unless_the_operator_gives_any() {
    let models = |options: &str| {
        let rows = r#"[{"name":"a","wire":"converse","model":"us.anthropic.claude-haiku-4-5-20251001-v1:0","baseUrl":"http://localhost","apiKeyVar":"KEY"},
            {"name":"b","model":"claude-haiku-4-5","baseUrl":"http://localhost"}]"#;
        read(&[("MODELS", rows), ("MODEL_OPTIONS", options), ("KEY", "k")]).unwrap()
    };
    let inputs = |models: Models| {
        ["a", "b"].map(|name| models.get(name).unwrap().config().options.price.map(|price| price.input))
    };
    assert_eq!(inputs(models("{}")), [Some(1_100_000), None]);
    let own = r#"{"b":{"price":{"input":7,"output":9}}}"#;
    assert_eq!(inputs(models(own)), [None, Some(7_000_000)], "all prices have one currency");
}
