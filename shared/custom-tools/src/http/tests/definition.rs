use serde_json::{Value, json};

use super::support::{definition, parse};

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
        ("/name", json!("Weather"), "`name`"),
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
