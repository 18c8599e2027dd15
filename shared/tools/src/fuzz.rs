//! Fuzzing of the input from hosts, pages and administrators.

use domain::{Message, ToolMessage};
use fuzz::{ensure, run, run_text, split_bytes};
use serde_json::{Value, json};

use crate::event_stream::EventStream;
use crate::http::{parameters, template};
use crate::{UrlAllowlist, markdown, url_allowlist};

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
fn fuzz_known_pages_are_public_and_known_again() {
    let samples =
        ["看看https://a.example/x，好吗", "[it](https://a.example/x?q=1#f)", "来源：https://b.example/1\n", "a://b"];
    let fragments = [
        "https://",
        "http://",
        "://",
        "a.example",
        "/",
        "?",
        "#",
        "@",
        "来源：",
        "，",
        ")",
        "localhost",
        "127.0.0.1",
        "%2f",
    ];
    run_text("known pages", &samples, &fragments, |text| {
        let pages = UrlAllowlist::default();
        pages.add_message(&Message::User { text: text.to_owned() });
        let result =
            ToolMessage { call_id: String::new(), name: "search_web".to_owned(), ok: true, content: text.to_owned() };
        pages.add_message(&Message::Tool(result));
        let Some(page) = url_allowlist::parse_page(text) else { return Ok(()) };
        let named_by = ToolMessage {
            call_id: String::new(),
            name: "search_web".to_owned(),
            ok: true,
            content: format!("来源：{page}\n"),
        };
        pages.add_message(&Message::Tool(named_by));
        ensure(pages.first_spelling(&page).is_some(), || format!("{page} was named and is not known"))?;
        let named = page.domain().is_some_and(|name| name.contains('.')) && page.username().is_empty();
        ensure(named, || format!("{page} is a page"))?;
        ensure(url_allowlist::parse_page(page.as_str()).as_ref() == Some(&page), || {
            format!("{page} is not read as it is written")
        })
    });
}

#[test]
fn fuzz_markdown_of_tools_stays_on_its_line() {
    let samples = ["a [b](c) *d* `e`", "<b>&amp;</b>", "| x |\n|---|", "# t\n- a\n1. b"];
    let fragments = [
        "[",
        "](",
        ")",
        "![",
        "<",
        "```",
        "\n",
        "\r",
        "|",
        "\\",
        "https://a.example/",
        "javascript:",
        "\u{202e}",
        "&#10;",
    ];
    run_text("markdown of tools", &samples, &fragments, |text| {
        let (single, link) = (markdown::single_line(text), markdown::link(text, "https://a.example/?q=)"));
        ensure(!single.contains(['\n', '\r']) && !link.contains(['\n', '\r']), || format!("{single:?} {link:?}"))?;
        let max_bytes = 8 * text.len() + 128;
        ensure(single.len() <= max_bytes && markdown::format_result(text).len() <= max_bytes, || {
            format!("more than {max_bytes} bytes")
        })
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
            let Ok(url) = template.fill(&arguments, &[]) else { continue };
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
