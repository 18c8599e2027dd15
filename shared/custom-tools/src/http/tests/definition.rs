use domain::Language;
use serde_json::{Value, json};

use super::support::{OPEN, definition, parse};
use crate::http::parameters::check_texts;
use crate::http::{Rules, ToolDefinition};

fn full() -> Value {
    json!({
        "name": "weather", "displayName": "Weather", "description": "Tells the weather.", "category": "data",
        "type": "streamable",
        "endpoint": {
            "urlTemplate": "https://api.example.com/{city}?units={units}", "method": "POST",
            "headers": {"X-Lang": "{lang}"},
            "auth": {"type": "api_key", "header": "X-Key", "secret": {"parameter": "/chat/tools/weather"}},
            "timeoutSeconds": 90,
        },
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "units": {"type": "string"}, "lang": {"type": "string"}},
            "required": ["city"],
        },
        "responseTransform": {"jmespath": "now.{t: temperature}"},
        "rateLimit": "10/60s", "version": "2.0.0", "tags": ["a", "b"], "enabled": false, "idempotent": true,
    })
}

#[test]
fn definition_round_trips_through_its_document() {
    let definition = parse(&full()).unwrap();
    assert_eq!(definition.document(), full());
    let least = json!({"name": "a", "description": "b", "endpoint": {"urlTemplate": "https://api.example.com/"}});
    let least = parse(&least).unwrap();
    assert_eq!(
        least.document(),
        json!({
            "name": "a", "description": "b", "category": "custom", "type": "invokable",
            "endpoint": {
                "urlTemplate": "https://api.example.com/", "method": "GET", "headers": {}, "auth": {"type": "none"},
                "timeoutSeconds": 10,
            },
            "parameters": {"type": "object", "properties": {}},
            "version": "1.0.0", "tags": [], "enabled": true, "idempotent": true,
        })
    );
    assert_eq!(parse(&least.document()), Ok(least));
    let time =
        parse(&json!({"name": "a", "description": "b", "endpoint": {"urlTemplate": "internal://time"}})).unwrap();
    assert_eq!(parse(&time.document()), Ok(time));
}

#[test]
fn error_names_field_and_accepted_values() {
    for (path, value, named) in [
        ("/name", json!("get weather"), "`name` must be 1 to 64 letters, digits, `_` and `-`, a letter or `_` first"),
        ("/name", json!("天气"), "`name`"),
        ("/name", json!("-weather"), "`name`"),
        ("/name", json!("9lives"), "`name`"),
        ("/name", json!("a".repeat(65)), "`name`"),
        ("/name", json!("search_web"), "`name` must be another one"),
        ("/name", json!(5), "`name` must be a string"),
        ("/description", json!(" "), "`description`"),
        ("/type", json!("batch"), "`type`"),
        ("/endpoint", json!("x"), "`endpoint` must be an object"),
        ("/endpoint/method", json!("TRACE"), "`endpoint.method`"),
        ("/endpoint/timeoutSeconds", json!(121), "`endpoint.timeoutSeconds`"),
        ("/endpoint/auth/type", json!("digest"), "`endpoint.auth.type`"),
        ("/endpoint/auth/secret", json!("sk-canary"), "`endpoint.auth.secret`"),
        ("/endpoint/auth/secret", json!({"env": "A", "parameter": "b"}), "`endpoint.auth.secret`"),
        ("/endpoint/auth/secret", json!({"value": "sk-canary"}), "`endpoint.auth.secret.value` is not known"),
        ("/endpoint/auth/header", json!("Cookie"), "`endpoint.auth.header`"),
        ("/parameters", json!({"type": "array"}), "`parameters`"),
        ("/parameters/required", json!([]), "`parameters`"),
        ("/parameters/properties", json!({"city": {}}), "`parameters`"),
        ("/responseTransform", json!({"pointer": "a"}), "`responseTransform.pointer`"),
        ("/responseTransform", json!({"jmespath": "a["}), "`responseTransform.jmespath`"),
        ("/rateLimit", json!("lots"), "`rateLimit`"),
        ("/tags", json!([1]), "`tags`"),
        ("/enabled", json!("yes"), "`enabled`"),
    ] {
        let mut written = full();
        *written.pointer_mut(path).unwrap() = value;
        let message = parse(&written).unwrap_err();
        assert!(message.starts_with(named) && !message.contains("canary"), "{path}: {message}");
    }
    let mut unknown = full();
    unknown["owner"] = json!("ada");
    assert!(parse(&unknown).unwrap_err().starts_with("`owner` is not known here"));
}

#[test]
fn name_may_have_capitals_and_hyphens() {
    for name in ["getWeather", "get-weather", "_get", "A", &"a".repeat(64)] {
        let mut written = full();
        written["name"] = json!(name);
        assert_eq!(parse(&written).unwrap().name, name);
    }
}

/// The definition in the spelling of `snake_case` APIs.
fn in_snake_case() -> Value {
    let full = full();
    json!({
        "name": full["name"], "display_name": full["displayName"], "description": full["description"],
        "category": full["category"], "type": full["type"],
        "endpoint": {
            "url_template": full["endpoint"]["urlTemplate"], "method": "POST", "headers": full["endpoint"]["headers"],
            "auth": full["endpoint"]["auth"], "timeout_seconds": 90,
        },
        "parameters": full["parameters"], "response_transform": full["responseTransform"],
        "rate_limit": "10/60s", "version": "2.0.0", "tags": ["a", "b"], "enabled": false, "idempotent": true,
    })
}

#[test]
fn snake_case_fields_are_stored_in_camel_case() {
    assert_eq!(parse(&in_snake_case()).unwrap().document(), full());
    let mut flat = in_snake_case();
    let mut endpoint = flat.as_object_mut().unwrap().remove("endpoint").unwrap();
    endpoint["timeout"] = endpoint.as_object_mut().unwrap().remove("timeout_seconds").unwrap();
    flat.as_object_mut().unwrap().extend(endpoint.as_object().unwrap().clone());
    assert_eq!(parse(&flat).unwrap().document(), full());
}

#[test]
fn field_in_both_spellings_is_rejected() {
    for (object, alias, name) in [
        ("", "display_name", "displayName"),
        ("", "rate_limit", "rateLimit"),
        ("", "response_transform", "responseTransform"),
        ("/endpoint", "url_template", "urlTemplate"),
        ("/endpoint", "timeout_seconds", "timeoutSeconds"),
        ("/endpoint", "timeout", "timeoutSeconds"),
    ] {
        let mut written = full();
        let fields = written.pointer_mut(object).unwrap();
        fields[alias] = fields[name].clone();
        let path = object.replace("/endpoint", "endpoint.");
        let expected = format!("`{path}{name}` and `{path}{alias}` are one field: only one may be given");
        assert_eq!(parse(&written).unwrap_err(), expected);
    }
}

#[test]
fn f131_token_env_names_a_variable_for_tools() {
    let with = |auth: Value| {
        let mut written = full();
        written["endpoint"]["auth"] = auth;
        parse(&written).map(|definition| definition.document()["endpoint"]["auth"].clone())
    };
    assert_eq!(
        with(json!({"type": "bearer", "token_env": "WEATHER"})),
        Ok(json!({"type": "bearer", "secret": {"env": "WEATHER_TOKEN"}}))
    );
    assert_eq!(
        with(json!({"type": "api_key", "tokenEnv": "WEATHER"})),
        Ok(json!({"type": "api_key", "header": "X-API-Key", "secret": {"env": "WEATHER_API_KEY"}}))
    );
    for start in ["ARK", "OPENAI", "TAVILY", "AWS_SESSION", "AWS", "weather", "A B", "9", "_X"] {
        for kind in ["bearer", "api_key"] {
            let message = with(json!({"type": kind, "tokenEnv": start})).unwrap_err();
            assert!(message.starts_with("`endpoint.auth.tokenEnv` must be the beginning of a variable"), "{message}");
        }
    }
    let both = with(json!({"type": "bearer", "tokenEnv": "A", "secret": {"env": "A_TOKEN"}})).unwrap_err();
    assert_eq!(both, "`endpoint.auth.secret` must be left out if there is a `tokenEnv`");
    let basic = with(json!({"type": "basic", "username": "u", "tokenEnv": "A"})).unwrap_err();
    assert!(basic.starts_with("`endpoint.auth.secret` must be an object"), "{basic}");
}

#[test]
fn table_of_parameters_becomes_a_schema() {
    let mut written = full();
    written["parameters"] = json!({
        "city": {"type": "string"}, "units": {"type": "string", "required": false},
        "lang": {"type": "string", "required": false},
    });
    assert_eq!(parse(&written).unwrap().document(), full());
    written["parameters"]["city"]["required"] = json!(false);
    assert!(parse(&written).unwrap_err().starts_with("`parameters` must be a JSON Schema that requires every"));
}

#[test]
fn f130_template_without_fixed_public_host_is_rejected() {
    for url in
        ["https://{city}.example.com/", "https://127.0.0.1/{city}", "https://localhost/", "ftp://example.com/", ""]
    {
        let message = parse(&definition(&json!({"urlTemplate": url}), &["city"])).unwrap_err();
        assert!(message.starts_with("`endpoint.urlTemplate` must be "), "{message}");
    }
}

#[test]
fn f131_headers_of_a_definition_cannot_authenticate() {
    for name in
        ["Authorization", "Cookie", "Host", "Content-Length", "Transfer-Encoding", "Proxy-Authorization", "X-Key"]
    {
        let mut written = full();
        written["endpoint"]["headers"] = json!({ name: "canary" });
        assert!(parse(&written).unwrap_err().starts_with("`endpoint.headers` must be "), "{name}");
    }
    for value in [json!("a\r\nb"), json!("{unclosed"), json!(5), json!("{nobody}")] {
        let mut written = full();
        written["endpoint"]["headers"] = json!({ "X-A": value });
        assert!(parse(&written).is_err());
    }
}

#[test]
fn stored_tool_keeps_patterns_of_another_syntax() {
    let mut document = definition(&json!({"urlTemplate": "https://api.example/v1"}), &["code"]);
    document["parameters"]["properties"]["code"]["pattern"] = json!("^[a-z&&[^aeiou]]+$");
    assert!(parse(&document).unwrap_err().contains("regular expressions"));
    let rules = Rules { policy: OPEN, reserved_names: &[], is_stored: true };
    let stored = ToolDefinition::parse(document.to_string().as_bytes(), rules).unwrap();
    let check = |text: &str| check_texts(&stored.parameters, &json!({ "code": text }), Language::En);
    assert_eq!(check("aeiou"), Ok(()), "what cannot be compiled rejects nothing");
}
