//! All kinds of input with their patterns.

use serde_json::{Map, Value, json};

use crate::patterns::{repeat_to_json_size, repeat_to_size, units};
use crate::probe::{Kind, Make, Pattern, Probe, UpstreamResponses};
use crate::replies;
use crate::requests::{
    call, completion, definition, message, page_turn, part, row, search_turn, stream, tool, turn, ui_request, user,
};
use crate::upstream::mcp_call;

const MIB: usize = 1024 * 1024;
/// Bytes reserved in a body or an answer for the JSON around the text.
const FRAME_BYTES: usize = 4096;

/// All kinds, cheap ones first.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut kinds = vec![
        texts("message", 31_000, message),
        texts_in_json("/v1 message", MIB - FRAME_BYTES, |text| completion(&json!([user(text)]))),
        history(),
        client_tool_results(),
        offered_tools(),
        bodies(),
        texts_in_json("/api/ui/chat part", 4 * MIB - FRAME_BYTES, |text| {
            ui_request(
                &json!([{ "role": "user", "parts": [part("go"), { "type": "data-x", "data": text }] }, { "role": "user", "parts": [part("go")] }]),
            )
        }),
        ui_messages(),
        headers(),
        paths(),
        texts_in_json("tool result", 256 * 1024 - FRAME_BYTES, |text| tool(json!({ "text": text }).to_string())),
        texts("tool result, plain", 256 * 1024 - FRAME_BYTES, |text| tool(text.to_owned())),
        tool_documents(),
        texts("tool result, MCP", 256 * 1024 - FRAME_BYTES, |text| {
            turn(UpstreamResponses { model: mcp_call(), tool: text.to_owned().into(), ..UpstreamResponses::default() })
        }),
        texts_in_json("search result", 2 * MIB - FRAME_BYTES, |text| {
            search_turn(&[row("https://example.com/1", "t", text)])
        }),
        search_rows(),
        texts_in_json("page", 2 * MIB - FRAME_BYTES, page_turn),
        texts_in_json("answer, one delta", MIB - FRAME_BYTES, |text| turn(answer([json!({ "content": text })]))),
        texts_in_json("thinking, one delta", MIB - FRAME_BYTES, |text| {
            turn(answer([json!({ "reasoning_content": text })]))
        }),
        texts("answer, small deltas", 64 * 1024, |text| turn(answer(pieces(text)))),
        expressions(),
        schemas(),
        transforms(),
        imports(),
    ];
    kinds.extend(replies::kinds());
    kinds
}

pub(crate) fn answer(deltas: impl IntoIterator<Item = Value>) -> UpstreamResponses {
    UpstreamResponses { model: stream(deltas), ..UpstreamResponses::default() }
}

/// Splits a text into deltas of four characters.
pub(crate) fn pieces(text: &str) -> Vec<Value> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(4).map(|piece| json!({ "content": piece.iter().collect::<String>() })).collect()
}

fn texts(name: &'static str, largest: usize, make: fn(&str) -> Probe) -> Kind {
    let of =
        |unit: &'static str| pattern(unit.escape_debug().to_string(), move |size| make(&repeat_to_size(unit, size)));
    Kind { name, largest, patterns: units(largest).iter().map(|unit| of(unit)).collect() }
}

fn texts_in_json(name: &'static str, largest: usize, make: fn(&str) -> Probe) -> Kind {
    let of = |unit: &'static str| {
        pattern(unit.escape_debug().to_string(), move |size| make(&repeat_to_json_size(unit, size)))
    };
    Kind { name, largest, patterns: units(largest).iter().map(|unit| of(unit)).collect() }
}

pub(crate) fn pattern(name: impl Into<String>, make: impl Fn(usize) -> Probe + Send + Sync + 'static) -> Pattern {
    Pattern { name: name.into(), make: Box::new(make) as Make }
}

pub(crate) fn list(count: usize, entry: impl Fn(usize) -> Value) -> Value {
    (0..count).map(entry).collect()
}

fn object(count: usize, entry: impl Fn(usize) -> (String, Value)) -> Value {
    (0..count).map(entry).collect::<Map<String, Value>>().into()
}

fn history() -> Kind {
    let roles = |count: usize, text: &'static str| {
        let entry = move |at: usize| json!({ "role": if at.is_multiple_of(2) { "user" } else { "assistant" }, "content": text });
        completion(&list(count / 2 * 2 - 1, entry))
    };
    let patterns = vec![
        pattern("turns", move |count| roles(count, "hello")),
        pattern("turns with addresses", move |count| roles(count, "see https://a.example/b")),
        pattern("of the user", |count| completion(&list(count, |_| user("hello")))),
        pattern("system", |count| {
            completion(&list(count, |at| {
                if at + 1 < count { json!({ "role": "system", "content": "x" }) } else { user("hi") }
            }))
        }),
        pattern("parts", |count| {
            completion(&json!([{ "role": "user", "content": list(count, |_| json!({ "type": "text", "text": "x" })) }]))
        }),
        pattern("distinct", |count| completion(&list(count, |at| user(&format!("https://a.example/{at}"))))),
    ];
    Kind { name: "/v1 history", largest: 9_999, patterns }
}

/// Calls of an assistant with client-side results, in both orders.
fn client_tool_results() -> Kind {
    let request = |count: usize, order: fn(usize, usize) -> usize| {
        let function = json!({ "name": "f", "arguments": "{}" });
        let calls = list(count, |at| json!({ "id": format!("c{at}"), "type": "function", "function": function }));
        let mut messages = vec![user("go"), json!({ "role": "assistant", "content": null, "tool_calls": calls })];
        let result = |at| json!({ "role": "tool", "tool_call_id": format!("c{}", order(at, count)), "content": "x" });
        messages.extend((0..count).map(result));
        let tool = json!({ "type": "function", "function": { "name": "f", "parameters": { "type": "object" } } });
        let body = json!({ "model": "openai", "messages": messages, "tools": [tool] });
        Probe::post("/v1/chat/completions", body.to_string())
    };
    let patterns = vec![
        pattern("in order", move |count| request(count, |at, _| at)),
        pattern("reversed", move |count| request(count, |at, count| count - 1 - at)),
    ];
    Kind { name: "/v1 results", largest: 7_000, patterns }
}

fn with_tools(tools: &Value) -> Probe {
    let body = json!({ "model": "openai", "messages": [user("go")], "tools": tools });
    Probe::post("/v1/chat/completions", body.to_string())
}

fn function(name: &str, description: &str, parameters: &Value) -> Value {
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}

fn offered_tools() -> Kind {
    let mut patterns: Vec<Pattern> = SCHEMAS
        .into_iter()
        .map(|(name, schema)| pattern(name, move |size| with_tools(&json!([function("f", "x", &schema(size / 32))]))))
        .collect();
    patterns.push(pattern("description", |size| with_tools(&json!([function("f", &"x".repeat(size), &json!({}))]))));
    patterns.push(pattern("many", |size| {
        let each = json!({ "type": "object", "properties": object(size / 128 / 32, |at| (format!("p{at}"), json!({ "type": "string" }))) });
        with_tools(&list(128, |at| function(&format!("f{at}"), "x", &each)))
    }));
    Kind { name: "/v1 tools", largest: MIB / 2, patterns }
}

/// Builds a schema with about this many small entries.
type Schema = fn(usize) -> Value;

/// Schemas, each expensive in another way.
const SCHEMAS: [(&str, Schema); 5] = [
    (
        "properties",
        |count| json!({ "type": "object", "properties": object(count, |at| (format!("p{at}"), json!({ "type": "string" }))) }),
    ),
    (
        "enum",
        |count| json!({ "type": "object", "properties": { "a": { "enum": list(count, |at| json!(format!("value {at}"))) } } }),
    ),
    ("required", |count| json!({ "type": "object", "required": list(count, |at| json!(format!("p{at}"))) })),
    ("references", |count| {
        let next = |at: usize| (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", at + 1) }));
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": object(count, next) })
    }),
    ("doubling references", |count| {
        let next = |at: usize| {
            let to = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
            (format!("d{at}"), json!({ "type": "object", "properties": { "a": to, "b": to } }))
        };
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": object(count, next) })
    }),
];

/// Bodies whose JSON is expensive to parse.
fn bodies() -> Kind {
    let with = |text: String| Probe::post("/api/chat", format!("{{\"message\":\"go\",\"x\":{text}}}"));
    let patterns = vec![
        pattern("white space", move |size| with(format!("{}1", " ".repeat(size)))),
        pattern("keys", move |size| with(object(size / 12, |at| (format!("k{at}"), json!(1))).to_string())),
        pattern("sibling keys", |size| {
            let keys = (0..size / 12).map(|at| format!(",\"k{at}\":1")).collect::<Vec<_>>().concat();
            Probe::post("/api/chat", format!("{{\"message\":\"go\"{keys}}}"))
        }),
        pattern("numbers", move |size| with(format!("[{}1]", "1,".repeat(size / 2)))),
        pattern("digits", move |size| with("9".repeat(size))),
        pattern("fraction", move |size| with(format!("0.{}", "9".repeat(size)))),
        pattern("lists", move |size| with(format!("[{}[]]", "[],".repeat(size / 3)))),
        pattern("nested", move |size| {
            with(format!("[{}0]", format!("{}0{},", "[".repeat(100), "]".repeat(100)).repeat(size / 202)))
        }),
        pattern("escapes", move |size| with(format!("\"{}\"", "\\u4f60".repeat(size / 6)))),
        pattern("open", move |size| with("[".repeat(size))),
    ];
    Kind { name: "JSON body", largest: MIB - FRAME_BYTES, patterns }
}

fn ui_messages() -> Kind {
    let build = |count: usize, parts: usize| {
        let parts = list(parts, |_| part("x"));
        ui_request(&list(count, |_| json!({ "id": "m", "role": "user", "parts": parts })))
    };
    let patterns =
        vec![pattern("short", move |count| build(count, 1)), pattern("of several parts", move |count| build(count, 8))];
    Kind { name: "/api/ui/chat messages", largest: 9_999, patterns }
}

fn headers() -> Kind {
    let names = [
        "last-event-id",
        "idempotency-key",
        "authorization",
        "x-api-key",
        "x-agent-id",
        "x-user-id",
        "cookie",
        "accept",
        "user-agent",
        "traceparent",
        "origin",
    ];
    let path = |name| {
        if name == "last-event-id" { "/api/conversations/01J00000000000000000000000/stream" } else { "/api/models" }
    };
    let of =
        |name: &'static str| pattern(name, move |size| Probe::get(path(name)).header(name, repeat_to_size("0-", size)));
    let mut patterns: Vec<Pattern> = names.into_iter().map(of).collect();
    patterns.push(pattern("many", |size| {
        (0..size / 600).fold(Probe::get("/api/models"), |probe, at| probe.header(format!("x-{at}"), "x".repeat(580)))
    }));
    Kind { name: "header", largest: 48_000, patterns }
}

fn paths() -> Kind {
    let patterns = vec![
        pattern("cursor", |size| Probe::get(format!("/api/conversations?cursor={}", "A".repeat(size)))),
        pattern("cursor, encoded", |size| Probe::get(format!("/api/conversations?cursor={}", "%41".repeat(size / 3)))),
        pattern("fields", |size| Probe::get(format!("/api/conversations?{}", "a=1&".repeat(size / 4)))),
        pattern("path", |size| Probe::get(format!("/api/conversations/{}", "a/".repeat(size / 2)))),
        pattern("id", |size| Probe::get(format!("/api/conversations/{}", "%2e".repeat(size / 3)))),
        pattern("model", |size| Probe::get(format!("/v1/models/{}", "a%2f".repeat(size / 4)))),
    ];
    Kind { name: "path and query", largest: 48_000, patterns }
}

/// Tool responses that are JSON with many parts.
fn tool_documents() -> Kind {
    let patterns = vec![
        pattern("numbers", |size| tool(list(size / 4, |_| json!(1)).to_string())),
        pattern("objects", |size| tool(list(size / 32, |at| json!({ "a": at, "b": "x" })).to_string())),
        pattern("keys", |size| tool(object(size / 16, |at| (format!("k{at}"), json!(1))).to_string())),
        pattern("nested", |size| tool(format!("{}1{}", "[".repeat(size / 2), "]".repeat(size / 2)))),
        pattern("lines", |size| tool("x\n".repeat(size / 2))),
    ];
    Kind { name: "tool result, JSON", largest: 256 * 1024 - FRAME_BYTES, patterns }
}

fn search_rows() -> Kind {
    let patterns = vec![
        pattern("many", |size| {
            search_turn(
                &(0..size / 128)
                    .map(|at| row(&format!("https://example.com/{at}"), "title", "text"))
                    .collect::<Vec<_>>(),
            )
        }),
        pattern("title", |size| search_turn(&[row("https://example.com/1", &"[x](".repeat(size / 4), "text")])),
        pattern("address", |size| {
            search_turn(&[row(&format!("https://example.com/{}", "a/".repeat(size / 2)), "t", "text")])
        }),
        pattern("addresses in it", |size| {
            search_turn(&[row("https://example.com/1", "t", &"https://b.example/c ".repeat(size / 20))])
        }),
    ];
    Kind { name: "search rows", largest: 2 * MIB - 64 * 1024, patterns }
}

fn expressions() -> Kind {
    let units = ["1+", "9", "(", "2^", "-", "1!", "sqrt ", "10000d", "1/", "1e9*", "sin(", "0."];
    let of = |unit: &'static str| {
        pattern(unit, move |size| {
            let expression = format!("{}1", repeat_to_size(unit, size));
            turn(UpstreamResponses {
                model: call("calculator", &json!({ "expression": expression })),
                ..UpstreamResponses::default()
            })
        })
    };
    Kind { name: "expression", largest: 990, patterns: units.into_iter().map(of).collect() }
}

fn schemas() -> Kind {
    let of = |(name, schema): (&'static str, Schema)| {
        pattern(name, move |size| definition(&json!({ "parameters": schema(size / 32) })))
    };
    Kind { name: "schema", largest: MIB / 2, patterns: SCHEMAS.into_iter().map(of).collect() }
}

fn transforms() -> Kind {
    let units = ["a.", "[0]", "(", "[]", "{a:", "!", "to_string([", "join(a,", "@|", "`1`|", "*.", "a||", "\"a\"."];
    let of = |unit: &'static str| {
        pattern(unit, move |size| {
            definition(&json!({ "responseTransform": { "jmespath": format!("{}a", repeat_to_size(unit, size)) } }))
        })
    };
    Kind { name: "JMESPath", largest: 490, patterns: units.into_iter().map(of).collect() }
}

fn imports() -> Kind {
    let document = |paths: Value, more: Value| {
        let document = json!({ "openapi": "3.1.0", "info": {}, "servers": [{ "url": "https://example.com" }], "paths": paths, "components": more });
        Probe::post("/api/admin/tools/import", json!({ "dryRun": true, "document": document }).to_string())
    };
    let operation = |schema: Value| json!({ "get": { "description": "x", "parameters": [{ "name": "a", "in": "query", "schema": schema }] } });
    let patterns = vec![
        pattern("operations", move |size| {
            document(object(size / 128, |at| (format!("/p{at}"), operation(json!({ "type": "string" })))), json!({}))
        }),
        pattern("references", move |size| {
            let next = |at: usize| (format!("d{at}"), json!({ "$ref": format!("#/components/schemas/d{}", at + 1) }));
            let first = operation(json!({ "$ref": "#/components/schemas/d0" }));
            document(
                object(200, |at| (format!("/p{at}"), first.clone())),
                json!({ "schemas": object(size / 48, next) }),
            )
        }),
    ];
    Kind { name: "import", largest: MIB - 64 * 1024, patterns }
}
