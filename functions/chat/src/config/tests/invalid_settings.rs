//! Every setting with a value that it does not accept: a mistake must show at the first start, on a developer's machine.

use platform::settings::{SettingError, Settings};
use web::Platform;

use crate::Config;

/// A setting with its value.
type Pair = (&'static str, &'static str);

/// A value for each setting that it does not accept, with what makes it matter.
const INVALID: &[(&str, &str, &[Pair])] = &[
    ("ARK_BASE_URL", "nonsense", &[("ARK_MODEL", "m"), ("ARK_API_KEY", "k")]),
    ("OPENAI_BASE_URL", "nonsense", &[("OPENAI_MODEL", "m")]),
    ("OLLAMA_API_URL", "ftp://nonsense", &[("OLLAMA_MODEL", "m")]),
    ("ARK_API_KEY", "non\u{7}sense", &[("ARK_MODEL", "m")]),
    ("OPENAI_API_KEY", "non\u{7}sense", &[("OPENAI_MODEL", "m")]),
    ("ANTHROPIC_API_KEY", "non\u{7}sense", &[]),
    ("ANTHROPIC_BASE_URL", "nonsense", &[("ANTHROPIC_MODEL", "m")]),
    ("GEMINI_API_KEY", "non\u{7}sense", &[]),
    ("GEMINI_BASE_URL", "nonsense", &[("GEMINI_MODEL", "m")]),
    ("MODEL_KEYS_UNDER", "non sense", &[]),
    ("TAVILY_API_KEY", "non\u{7}sense", &[]),
    ("AWS_BEARER_TOKEN_BEDROCK", "non\u{7}sense", &[("BEDROCK_MODEL", "m"), ("AWS_REGION", "eu-west-1")]),
    ("AZURE_TENANT_ID", "non sense", &AZURE),
    ("AZURE_CLIENT_SECRET", "non\u{7}sense", &AZURE),
    ("AZURE_AUTHORITY_HOST", "nonsense", &AZURE),
    (
        "GOOGLE_APPLICATION_CREDENTIALS",
        "nonsense",
        &[(
            "MODELS",
            r#"[{"name":"a","model":"m","provider":"vertex","baseUrl":"https://a.example/publishers/google"}]"#,
        )],
    ),
    ("MODELS", "nonsense", &[]),
    ("MODELS", r#"[{"name":"a","model":"m","baseUrl":"https://a.example","tools":"prompt:nonsense"}]"#, &[]),
    ("MODELS", r#"[{"name":"a","model":"m","baseUrl":"https://a.example","images":"yes"}]"#, &[]),
    ("EXTRA_MODELS", "nonsense", &[]),
    ("MODEL_OPTIONS", "nonsense", &[]),
    ("MODEL_OPTIONS", r#"{"local":{"thinkingOpen":"yes"}}"#, &[]),
    ("MODEL_OPTIONS", r#"{"local":{"images":1}}"#, &[]),
    ("DEFAULT_MODEL", "nonsense", &[]),
    ("TITLE_MODEL", "nonsense", &[]),
    ("OLLAMA_MAX_CONTEXT_TOKENS", "nonsense", &[("OLLAMA_MODEL", "m")]),
    ("PROMPT_LANGUAGE", "nonsense", &[]),
    ("TIME_ZONE", "nonsense", &[]),
    ("MAX_TOOL_ROUNDS", "nonsense", &[]),
    ("MODEL_FIRST_BYTE_SECONDS", "nonsense", &[]),
    ("MODEL_IDLE_SECONDS", "nonsense", &[]),
    ("MODEL_PROGRESS_SECONDS", "nonsense", &[]),
    ("HISTORY_TOKENS", "nonsense", &[]),
    ("SUMMARISE_HISTORY", "nonsense", &[]),
    ("TURN_SECONDS", "nonsense", &[]),
    ("TAVILY_BASE_URL", "nonsense", &[]),
    ("ARTICLES", "nonsense", &[]),
    ("ARTICLES_VECTORS", "nonsense", &[("EMBEDDINGS_MODEL", "m")]),
    (
        "AWS_ENDPOINT_URL_S3VECTORS",
        "nonsense",
        &[("ARTICLES_VECTORS", "s3vectors://bucket/index"), ("EMBEDDINGS_MODEL", "m")],
    ),
    ("EMBEDDINGS_BASE_URL", "nonsense", &[]),
    ("EMBEDDINGS_API_KEY", "non\u{7}sense", &[]),
    ("SEARCH_PROVIDER", "nonsense", &[]),
    ("SEARCH_PROVIDER", "aws,nonsense", &[]),
    ("SEARCH_REGION", "non sense", &[]),
    ("AWS_SEARCH_BASE_URL", "nonsense", &[("SEARCH_PROVIDER", "aws")]),
    ("SEARCH_CACHE_TTL_SECONDS", "nonsense", &[]),
    ("TAVILY_MONTHLY_CREDITS", "nonsense", &[]),
    ("TAVILY_DAILY_CREDITS", "nonsense", &[]),
    ("DOCUMENTS_DIR", "nonsense", &[]),
    ("DOCUMENTS_DIR", "s3://Non_sense/", &[]),
    ("DOCUMENTS_HIDDEN", "nonsense", &[]),
    ("DOCUMENT_GROUPS", "nonsense", &[]),
    ("ATTACHMENTS_BUCKET", "Non_sense", &[]),
    ("SEARCH_RATE_LIMIT", "nonsense", &[]),
    ("CHAT_RATE_LIMIT", "nonsense", &[]),
    ("USER_DAILY_TOKENS", "nonsense", &[]),
    ("USER_DAILY_SEARCHES", "nonsense", &[]),
    ("USER_DAILY_COST", "nonsense", &[]),
    ("TOTAL_DAILY_TOKENS", "nonsense", &[]),
    ("TOTAL_DAILY_SEARCHES", "nonsense", &[]),
    ("TOTAL_DAILY_COST", "nonsense", &[]),
    ("GROUP_BUDGETS", "nonsense", &[]),
    ("AUTH", "nonsense", &[]),
    ("AUTH_JWT_ISSUER", "nonsense", &[("AUTH", "jwt"), ("AUTH_JWT_AUDIENCE", "chat")]),
    ("AUTH_JWT_JWKS_URL", "nonsense", &JWT),
    ("AUTH_JWT_SCOPE", "nonsense", &JWT),
    ("AUTH_JWT_TOKEN_URL", "nonsense", &JWT),
    ("AUTH_JWT_ADMIN_CLAIM", "non sense", &JWT),
    ("AUTH_JWT_NAME_CLAIM", "non sense", &JWT),
    ("AUTH_JWT_GROUPS_CLAIM", "non sense", &JWT),
    ("AUTH_NONE_ON_LAMBDA", "nonsense", &[]),
    ("ALLOWED_ORIGINS", "nonsense", &[]),
    ("SOURCE_IP_HEADER", "non sense", &[]),
    ("ORIGIN_KEY", "non\u{7}sense", &[]),
    ("PREVIOUS_ORIGIN_KEY", "non\u{7}sense", &[("ORIGIN_KEY", "k")]),
    ("ALLOW_PRIVATE_UPSTREAMS", "nonsense", &[]),
    ("SYSTEM_PROMPT_PARAMETER", "non sense", &[]),
    ("SYSTEM_PROMPT_SECRET", "non sense", &[]),
    ("TOOL_SECRETS_UNDER", "non sense", &[]),
    ("ALLOW_PRIVATE_TOOLS", "nonsense", &[]),
    ("MASK", "nonsense", &[]),
    ("MASK_PATTERNS", "nonsense", &[]),
    ("MASK_RESULTS", "nonsense", &[]),
    ("MASK_ANSWERS", "nonsense", &[]),
    ("DATA_TABLE", "non sense", &[]),
    ("EPHEMERAL_TABLE", "non sense", &[]),
    ("RESPONSE_MODE", "nonsense", &[]),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense", &[]),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nonsense", &[]),
    ("OTEL_EXPORTER_OTLP_HEADERS", "nonsense", &[]),
    ("OTEL_EXPORTER_OTLP_HEADERS_PARAMETER", "non sense", &[]),
    ("OTEL_EXPORTER_OTLP_HEADERS_SECRET", "non sense", &[]),
    ("OTEL_CAPTURE_CONTENT", "nonsense", &[]),
];

const AZURE: [Pair; 2] = [
    ("MODELS", r#"[{"name":"a","model":"m","baseUrl":"https://a.openai.azure.com/openai/v1"}]"#),
    ("AZURE_CLIENT_ID", "c"),
];

const JWT: [Pair; 3] = [("AUTH", "jwt"), ("AUTH_JWT_ISSUER", "https://id.example"), ("AUTH_JWT_AUDIENCE", "chat")];

/// Documented settings that accept any text, or are read by another part of the program.
const OTHERS: &[&str] = &[
    "ARK_MODEL",
    "OPENAI_MODEL",
    "OLLAMA_MODEL",
    "ANTHROPIC_MODEL",
    "GEMINI_MODEL",
    "BEDROCK_MODEL",
    "AZURE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
    "EMBEDDINGS_MODEL",
    "SYSTEM_PROMPT",
    "AUTH_JWT_AUDIENCE",
    "AUTH_JWT_CLIENT_ID",
    "AUTH_JWT_ADMIN_VALUE",
    "AWS_ENDPOINT_URL_DYNAMODB",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_SSM",
    "AWS_ENDPOINT_URL_SECRETS_MANAGER",
    "AWS_REGION",
    "RUST_LOG",
    "RECORD_TURNS",
    "RECORD_RESULTS",
];

fn error_on(platform: Platform, pairs: &[(&str, &str)]) -> Option<SettingError> {
    let settings = Settings::from_pairs(pairs.iter().copied());
    Config::from_settings(&settings, platform, platform::transport::build_client().unwrap()).err()
}

#[test]
fn invalid_setting_is_rejected_alike_on_both_platforms() {
    for (name, value, others) in INVALID.iter().copied() {
        let pairs = [&[(name, value)], others].concat();
        let [local, lambda] = [Platform::Local, Platform::Lambda].map(|platform| error_on(platform, &pairs));
        let local = local.unwrap_or_else(|| panic!("{name} is accepted locally"));
        assert_eq!(local.variable, name);
        assert_eq!(lambda.map(|error| error.variable).as_deref(), Some(name), "on Lambda");
        assert!(!local.to_string().contains(value), "{local}");
    }
}

#[test]
fn every_documented_setting_has_an_invalid_value() {
    let page = include_str!("../../../../../docs/reference/settings.md");
    let is_setting = |text: &&str| text.len() > 3 && !text.contains(|c: char| !c.is_ascii_uppercase() && c != '_');
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let names = rows.flat_map(|row| row.split('`')).filter(is_setting);
    let missing: Vec<_> =
        names.filter(|name| !OTHERS.contains(name) && INVALID.iter().all(|(known, ..)| known != name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
