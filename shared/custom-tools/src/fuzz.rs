//! Fuzzing of the input from hosts and administrators.

use fuzz::{ensure, run, run_text, split_bytes};
use serde_json::{Value, json};

use crate::event_stream::EventStream;
use crate::http::{parameters, template};

#[test]
fn fuzz_event_streams_of_tools_in_any_cutting() {
    fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut stream = EventStream::default();
        let mut events: Vec<String> = pieces.into_iter().flat_map(|piece| stream.push(piece)).collect();
        events.extend(stream.finish());
        events
    }
    let samples: [&[u8]; 3] = [
        b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
        b"event: message\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\n: ping\n\n",
        "\u{feff}data\rdata:汉\r\r".as_bytes(),
    ];
    run("event stream of tools", &samples, &["data: ", "data:", "\n\n", "\r\n", "event: x\n", ": "], |bytes| {
        let (whole, cut) = (events([bytes]), events(split_bytes(bytes)));
        ensure(whole == cut, || format!("whole {whole:?}\ncut {cut:?}"))?;
        let size: usize = whole.iter().map(String::len).sum();
        ensure(size <= 3 * bytes.len(), || format!("{size} bytes of {}", bytes.len()))
    });
}

#[test]
fn fuzz_url_templates_keep_their_host() {
    let samples = ["https://a.example/v1/{city}/now?q={q}", "https://a.example/{x}", "{scheme}://a.example/"];
    let fragments = ["{", "}", "{city}", "{q}", "https://", "@", "/", "..", "?", "#", ":", "\\", "%", "a.example"];
    run_text("URL templates", &samples, &fragments, |text| {
        let Ok(template) = template::UrlTemplate::parse(text, egress::Policy::public()) else { return Ok(()) };
        let values = ["..", ".", "@evil.example", "//evil.example/", "a\r\nb", "?x=1#y", "汉", "%2e%2e"];
        for value in values {
            let arguments = template.names().map(|name| (name.to_owned(), Value::from(value))).collect();
            let Some(url) = template.fill(&arguments, &[]) else { continue };
            let fixed = text.trim().split_once("://").map(|(_, rest)| rest.to_lowercase()).unwrap_or_default();
            let host = url.host_str().unwrap_or_default();
            ensure(!host.contains("evil") || fixed.contains("evil"), || format!("{value:?} makes {url}"))?;
        }
        Ok(())
    });
}

#[test]
fn fuzz_schemas_are_bounded_and_stable() {
    let samples = [
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}})
            .to_string(),
        json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}]}}, "$ref": "#/$defs/a"}).to_string(),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"enum": [1, "x"], "pattern": "^a+$"}}})
            .to_string(),
    ];
    let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
    let fragments = [
        "\"$ref\":\"#/$defs/a\"",
        "\"$ref\":\"#\"",
        "\"allOf\":[",
        "\"items\":{",
        "\"pattern\":\"(a*)*\"",
        "\"properties\":{",
        "{",
        "}",
    ];
    run_text("schemas", &samples, &fragments, |text| {
        let Ok(schema) = serde_json::from_str::<Value>(text) else { return Ok(()) };
        let Ok(checked) = parameters::validate(&schema) else { return Ok(()) };
        let size = checked.to_string().len();
        ensure(size <= 64 * 1024, || format!("{size} bytes"))?;
        ensure(parameters::validate(&checked).as_ref() == Ok(&checked), || format!("{checked} changes once more"))
    });
}

#[test]
fn fuzz_transforms_stay_in_bounds() {
    use crate::http::Transform;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer =
        json!({"a": [{"b": "text", "c": [1, 2, 3]}, {"b": "more", "c": []}], "g": "-".repeat(200), "l": ["x", "y"]});
    let max_bytes = 64 * answer.to_string().len();
    let samples =
        ["a[?b == 'x'].{t: b, c: c}", "join(', ', l)", "a[*].c[]", "to_string(a)", "sort_by(a, &b)[0]", "map(&b, a)"];
    let fragments = [
        "join(g, l)",
        "to_string([",
        "[@,@]",
        "{x:@,y:@}",
        "[*]",
        "[]",
        " | ",
        "&",
        "@",
        "`1`",
        "'",
        "not_null(",
        "merge(",
        ")",
        "]",
    ];
    run_text("JMESPath", &samples, &fragments, |text| {
        let transform = Transform::Jmespath(text.to_owned());
        if transform.check().is_err() {
            return Ok(());
        }
        let size = runtime
            .block_on(transform.apply(&domain::Owner::new("ada"), answer.clone()))
            .map_or(0, |value| value.to_string().len());
        ensure(size <= max_bytes, || format!("{size} bytes of {}", answer.to_string().len()))
    });
}
