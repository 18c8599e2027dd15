use super::*;
use crate::Models;

const MODELS: &str = r#"[{"name":"main","baseUrl":"http://localhost/v1","model":"m"},
    {"name":"claude","wire":"anthropic","baseUrl":"http://localhost","model":"claude-3","fallback":"main"},
    {"name":"lost","model":"m","apiKeyVar":"NOWHERE"}]"#;

fn models(options: &str) -> Result<Models, SettingError> {
    let pairs = [
        ("ARK_API_KEY", "k"),
        ("ARK_MODEL", "doubao-seed-1-6-250615"),
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_MODEL", "gpt-5"),
        ("MODELS", MODELS),
        ("MODEL_OPTIONS", options),
    ];
    Models::from_settings(&Settings::from_pairs(pairs), platform::transport::build_client().unwrap())
}

/// Returns the message of a settings error, which must not contain `secret`.
fn mistake_in(options: &str) -> String {
    let error = models(options).err().unwrap_or_else(|| panic!("{options}"));
    assert_eq!(error.variable, "MODEL_OPTIONS", "{options}");
    assert!(!error.to_string().contains("secret"), "{error}");
    format!("{}: {}", error.path, error.accepted)
}

#[test]
fn every_option_is_parsed() {
    let models = models(
        r#"{"volcano":{"thinking":"off","thinkingOpen":true,"effort":"low","temperature":0.7,"topP":0.9,"maxTokens":4096,
            "contextTokens":128000,"firstByteSeconds":60,"images":false,"provider":"vllm","fallback":"openai",
            "price":{"input":0.8,"cachedInput":0.16,"output":2.0}},"openai":{},"main":{"price":{"input":1,"cacheWrite":1.25,"output":3}}}"#,
    )
    .unwrap();
    let volcano = models.get("volcano").unwrap();
    let expected = Options {
        provider: Some("vllm"),
        temperature: Some(0.7),
        top_p: Some(0.9),
        max_tokens: Some(4096),
        thinking: Some(Thinking::Off),
        thinking_open: Some(true),
        effort: Some(Effort::Low),
        context_tokens: Some(128_000),
        images: Some(false),
        price: Some(Price { input: 800_000, cached_input: 160_000, cache_write: 800_000, output: 2_000_000 }),
        first_byte_timeout: Some(Duration::from_mins(1)),
    };
    assert_eq!(volcano.config().options, expected);
    assert_eq!((volcano.provider(), volcano.context_tokens()), ("vllm", 128_000));
    assert_eq!(models.get("openai").unwrap().config().options, Options::default());
    let price = Price { input: 1_000_000, cached_input: 1_000_000, cache_write: 1_250_000, output: 3_000_000 };
    assert_eq!(models.get("main").unwrap().config().options.price, Some(price));
    let chain: Vec<_> = models.chain("volcano").iter().map(|client| client.config().name.clone()).collect();
    assert_eq!(chain, ["volcano", "openai"]);
    assert!(models.notes().iter().all(|note| !note.starts_with("MODEL_OPTIONS")), "{:?}", models.notes());
}

#[test]
fn fallbacks_may_form_a_cycle() {
    let models = models(r#"{"volcano":{"fallback":"openai"},"openai":{"fallback":" volcano "}}"#).unwrap();
    let chain: Vec<_> = models.chain("openai").iter().map(|client| client.config().name.clone()).collect();
    assert_eq!(chain, ["openai", "volcano"]);
}

#[test]
fn invalid_options_report_the_accepted_ones() {
    for (options, expected) in [
        (
            "secret",
            ": a JSON object with objects of options by the names of models, each once; it is not JSON at line 1",
        ),
        ("[]", ": a JSON object with objects of options"),
        (r#"{"volcano":1}"#, ".volcano: an object with no other fields than thinking, thinkingOpen, effort"),
        (r#"{"volcano":{"secret":1}}"#, ".volcano: an object with no other fields than thinking"),
        (r#"{"volcano":{"thinking":"secret"}}"#, ".volcano.thinking: on, off or auto (line 1, column 31)"),
        (r#"{"volcano":{"effort":"xhigh"}}"#, ".volcano.effort: minimal, low, medium, high or max"),
        (r#"{"volcano":{"temperature":"secret"}}"#, ".volcano.temperature: a number (line 1, column 34)"),
        (r#"{"volcano":{"maxTokens":-1}}"#, ".volcano.maxTokens: a whole number"),
        (r#"{"volcano":{"maxTokens":1.5}}"#, ".volcano.maxTokens: a whole number"),
        (r#"{"volcano":{"thinking":"on","thinking":"off"}}"#, ".volcano"),
        (r#"{"volcano":{},"volcano":{"thinking":"off"}}"#, ": a JSON object with objects of options"),
        (r#"{"volcano":{"price":{"input":1}}}"#, ".volcano.price.output: decimal numbers from 0"),
        (r#"{"volcano":{"price":{"input":1,"output":1,"secret":1}}}"#, ".volcano.price: an object with \"input\""),
        (r#"{"volcano":{"temperature":NaN}}"#, ": a JSON object with objects of options"),
    ] {
        let mistake = mistake_in(options);
        assert!(mistake.starts_with(expected), "{options}: {mistake}");
    }
}

#[test]
fn out_of_range_value_reports_its_range() {
    for (options, accepted) in [
        (r#"{"secret":{}}"#, &*format!(": {NAMES}")),
        (r#"{"demo":{}}"#, &*format!(": {NAMES}")),
        (r#"{"volcano":{"temperature":1.1}}"#, ".volcano.temperature: a number from 0 to 1"),
        (r#"{"claude":{"temperature":1.1}}"#, ".claude.temperature: a number from 0 to 1"),
        (r#"{"main":{"temperature":2.1}}"#, ".main.temperature: a number from 0 to 2"),
        (r#"{"main":{"temperature":-0.1}}"#, ".main.temperature: a number from 0 to 2"),
        (r#"{"main":{"topP":1.01}}"#, ".main.topP: a number from 0 to 1"),
        (r#"{"main":{"maxTokens":0}}"#, ".main.maxTokens: a whole number from 1 to 100000000"),
        (r#"{"main":{"contextTokens":0}}"#, ".main.contextTokens: a whole number from 1 to 100000000"),
        (r#"{"main":{"firstByteSeconds":901}}"#, ".main.firstByteSeconds: a whole number from 1 to 900"),
        (
            r#"{"main":{"fallback":"main"}}"#,
            ".main.fallback: the name of another configured model that is not for another caller alone",
        ),
        (
            r#"{"main":{"fallback":"secret"}}"#,
            ".main.fallback: the name of another configured model that is not for another caller alone",
        ),
        (
            r#"{"main":{"fallback":"lost"}}"#,
            ".main.fallback: the name of another configured model that is not for another caller alone",
        ),
        (r#"{"claude":{"fallback":"main"}}"#, ".claude.fallback: nothing where the model's row gives one"),
        (r#"{"claude":{"provider":"vllm"}}"#, ".claude.provider: anthropic"),
        (
            r#"{"main":{"provider":"secret"}}"#,
            ".main.provider: one of ark, azure, dashscope, deepseek, groq, lmstudio, mistral, moonshot, openai, \
             openrouter, siliconflow, vertex, vllm, zhipu",
        ),
    ] {
        assert_eq!(mistake_in(options), accepted, "{options}");
    }
    assert!(models(r#"{"main":{"temperature":2,"topP":0,"maxTokens":1,"firstByteSeconds":900}}"#).is_ok());
}

#[test]
fn price_is_exact_to_the_millionth() {
    let price = |written: &str| {
        let options = format!(r#"{{"main":{{"price":{{"input":{written},"output":0}}}}}}"#);
        models(&options).ok().map(|models| models.get("main").unwrap().config().options.price.unwrap().input)
    };
    for (written, expected) in [
        ("0", 0),
        ("0.1", 100_000),
        ("0.07", 70_000),
        ("0.000001", 1),
        ("1.100000000", 1_100_000),
        ("15", 15_000_000),
        ("1000000", 1_000_000_000_000),
    ] {
        assert_eq!(price(written), Some(expected), "{written}");
    }
    for written in ["-1", "-0.5", "1e3", "1E-3", "0.0000001", "1000000.000001", "99999999999999999999", "\"1\"", "null"]
    {
        assert_eq!(price(written), None, "{written}");
        let options = format!(r#"{{"main":{{"price":{{"input":{written},"output":0}}}}}}"#);
        assert!(mistake_in(&options).starts_with(".main.price: decimal numbers"), "{written}");
    }
}

#[test]
fn unsupported_options_give_notes() {
    let models = models(
        r#"{"local":{"thinking":"on"},"lost":{},"openai":{"temperature":0.5,"topP":0.5},"main":{"thinking":"on"}}"#,
    )
    .unwrap();
    let notes: Vec<_> = models.notes().iter().filter(|note| note.starts_with("MODEL_OPTIONS")).collect();
    let expected = [
        "MODEL_OPTIONS: there is no model `local`",
        "MODEL_OPTIONS: there is no model `lost`",
        "MODEL_OPTIONS: the endpoint of `main` takes no thinking, as far as is known: not sent",
        "MODEL_OPTIONS: the endpoint of `openai` takes no temperature, topP, as far as is known: not sent",
    ];
    assert_eq!(notes, expected);
}
