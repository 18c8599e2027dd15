use super::*;

const AWS: [(&str, &str); 3] =
    [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
const UNDER: (&str, &str) = ("MODEL_KEYS_UNDER", "/chat/models/");

#[test]
fn key_alone_makes_a_model_with_a_default() {
    let haiku = "anthropic https://api.anthropic.com claude-haiku-5-5 Anthropic key";
    let flash = "gemini https://generativelanguage.googleapis.com/v1beta gemini-3.8-flash Gemini key";
    let (anthropic, gemini) = (("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k"));
    assert_eq!(summary(&[anthropic]), (vec![haiku.to_owned()], Some("anthropic".to_owned())));
    assert_eq!(summary(&[gemini]), (vec![flash.to_owned()], Some("gemini".to_owned())));
    assert_eq!(summary(&[gemini, anthropic]).0, [haiku, flash]);
    let stored = [&AWS[..], &[("ANTHROPIC_API_KEY_PARAMETER", "/chat/claude")]].concat();
    assert_eq!(summary(&stored).0, [haiku]);
    let named = [anthropic, ("ANTHROPIC_MODEL", "claude-opus-5-5"), ("ANTHROPIC_BASE_URL", "http://localhost:1/v1")];
    assert_eq!(summary(&named).0, ["anthropic http://localhost:1 claude-opus-5-5 Anthropic key"]);
}

#[test]
fn key_alone_adds_no_model_to_others() {
    let row = r#"[{"name":"anthropic","wire":"anthropic","model":"m","apiKeyVar":"ANTHROPIC_API_KEY"}]"#;
    let keys = [("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k")];
    let models = read(&[&keys[..], &[("MODELS", row)]].concat()).unwrap();
    assert_eq!(models.iter().map(|client| &*client.config().model).collect::<Vec<_>>(), ["m"]);
    assert_eq!(models.notes(), [""; 0], "another program may use the variables");
    let (names, _) = summary(&[&keys[..], &[("OLLAMA_API_URL", "http://x"), ("OLLAMA_MODEL", "m")]].concat());
    assert_eq!(names, ["local http://x:11434 m Ollama"]);
    assert!(
        read(&[("MODEL_OPTIONS", r#"{"anthropic":{},"gemini":{}}"#)]).is_ok(),
        "a note, as for other built-in models"
    );
    let base = read(&[("ANTHROPIC_BASE_URL", "http://x")]).unwrap();
    assert_eq!(base.notes(), ["ANTHROPIC_BASE_URL is set without ANTHROPIC_MODEL: there is no model `anthropic`"]);
}

#[test]
fn keys_of_rows_may_be_stored_parameters() {
    let json = r#"[{"name":"claude","wire":"anthropic","model":"c","apiKeyParameter":" /chat/models/claude "},
        {"name":"gemini","wire":"gemini","model":"g","apiKeyParameter":"/chat/models/team/gemini"},
        {"name":"azure","model":"d","baseUrl":"https://n.openai.azure.com/openai/v1","apiKeyParameter":"/chat/models/a"}]"#;
    let models = read(&[&AWS[..], &[UNDER, ("MODELS", json)]].concat()).unwrap();
    assert!(models.iter().all(|client| client.config().api_key.is_some()) && models.notes().is_empty());
    assert_eq!(models.iter().count(), 3);
}

#[test]
fn key_has_one_source_under_the_prefix() {
    let error = |fields: &str, more: &[(&str, &str)]| {
        let json = format!(r#"[{{"name":"a","wire":"anthropic","model":"m",{fields}}}]"#);
        read(&[&AWS[..], more, &[("MODELS", &*json), ("KEY", "k")]].concat()).err().map(|error| error.to_string())
    };
    let both = error(r#""apiKeyVar":"KEY","apiKeyParameter":"/chat/models/a""#, &[UNDER]);
    assert_eq!(both.as_deref(), Some("MODELS[0].apiKeyParameter: expected no \"apiKeyVar\" in the same row"));
    let accepted = "MODELS[0].apiKeyParameter: expected the name of an SSM parameter that begins with the value of \
                    MODEL_KEYS_UNDER";
    for name in ["/chat/ark", "/chat/models/", "/chat/models/../ark", "claude", "", "sk-ant-1"] {
        let fields = format!(r#""apiKeyParameter":"{name}""#);
        assert_eq!(error(&fields, &[UNDER]).as_deref(), Some(accepted), "{name}");
    }
    assert_eq!(error(r#""apiKeyParameter":"/chat/models/a""#, &[]).as_deref(), Some(accepted));
    let invalid = error(r#""apiKeyParameter":"/chat/models/a""#, &[("MODEL_KEYS_UNDER", "/")]).unwrap();
    assert!(invalid.starts_with("MODEL_KEYS_UNDER: expected the beginning of names"), "{invalid}");
    let json = r#"[{"name":"a","model":"m","apiKeyParameter":"/chat/models/a"}]"#;
    assert_eq!(read(&[UNDER, ("MODELS", json)]).err().unwrap().variable, "AWS_REGION");
}
