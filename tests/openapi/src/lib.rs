//! The description of the HTTP API as an `OpenAPI` 3.1 document, made of the table in `api.txt`.

mod table;
mod types;
mod typescript;

use serde_json::{Map, Value, json};

use self::table::{Route, Table};
use self::types::Types;

/// The document, from the workspace's folder.
pub const DOCUMENT: &str = "docs/reference/openapi.json";

/// The same compressed with gzip, which the function embeds.
pub const COMPRESSED: &str = "functions/chat/openapi.json.gz";

/// The types that the page has of it.
pub const TYPES: &str = "functions/chat/page/src/api/schema.ts";

const TABLE: &str = include_str!("../api.txt");

const INTRODUCTION: &str = "Every response has the header `x-request-id`. A field of a request that is `null` counts as absent. \
    An event stream has one JSON object in each `data:` line: `x-event-schema` is its schema. The contract in prose is \
    docs/reference/api.md.";

/// The document.
pub fn document() -> Value {
    let table = Table::parse(TABLE);
    let types = Types(table.types_by_name());
    let (mut paths, mut errors) = (Map::new(), Map::new());
    for route in &table.routes {
        let path = route.path.replace("{*", "{");
        let operations = paths.entry(path).or_insert_with(|| json!({}));
        operations[route.method.to_lowercase()] = operation(route, &types, &mut errors);
    }
    let schemas: Map<String, Value> =
        table.types.iter().map(|(name, text)| ((*name).to_owned(), types.schema(text))).collect();
    errors.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Lambda Chat",
            "version": env!("CARGO_PKG_VERSION"),
            "description": INTRODUCTION,
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }, { "key": [] }, { "user": [] }, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "key": { "type": "apiKey", "in": "header", "name": "X-Api-Key" },
                "user": { "type": "apiKey", "in": "header", "name": "X-User-Id", "description": "Only with `AUTH=none`." },
            },
            "responses": errors,
            "schemas": schemas,
        },
    })
}

/// The declarations of the types that the page uses.
pub fn page_types() -> String {
    let document = document();
    typescript::declarations(document["components"]["schemas"].as_object().unwrap_or(&Map::new()))
}

fn operation(route: &Route<'_>, types: &Types<'_>, errors: &mut Map<String, Value>) -> Value {
    let mut operation = json!({ "operationId": route.id, "summary": route.summary, "tags": [route.group.tag] });
    if route.group.access == "public" {
        operation["security"] = json!([]);
    }
    let (mut parameters, mut responses) = (path_parameters(route.path), Map::new());
    let mut statuses = base_statuses(route);
    for line in &route.lines {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "query" | "query!" | "header" => parameters.push(parameter(kind, rest, types)),
            "body" | "optional" => {
                let (media, text) = media_type(rest.trim_start_matches("body "));
                let content = json!({ media: { "schema": types.schema(text) } });
                operation["requestBody"] = json!({ "required": kind == "body", "content": content });
                statuses.extend([400, 413, 415]);
            }
            "errors" => statuses.extend(rest.split(' ').filter_map(|status| status.parse::<u16>().ok())),
            status => add_response(&mut responses, status, rest, types),
        }
    }
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        add_error(&mut responses, errors, status, route.group.errors);
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation["responses"] = responses.into();
    operation
}

/// The statuses of errors that a route has by its access and its path.
fn base_statuses(route: &Route<'_>) -> Vec<u16> {
    let mut statuses =
        if route.group.access == "public" { vec![403, 500, 503] } else { vec![400, 401, 403, 429, 500, 503, 507] };
    if route.path.contains('{') {
        statuses.push(404);
    }
    statuses
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let parameter = |name: &str| {
        let mut parameter = json!({
            "name": name.trim_start_matches('*'), "in": "path", "required": true, "schema": { "type": "string" },
        });
        if name.starts_with('*') {
            parameter["description"] = "It may contain slashes.".into();
            parameter["x-rest"] = true.into();
        }
        parameter
    };
    names.map(parameter).collect()
}

/// A parameter such as `limit: integer(1..100) // 20 by default.`; `query!` is a required one.
fn parameter(kind: &str, text: &str, types: &Types<'_>) -> Value {
    let (name, text) = text.split_once(": ").unwrap_or_default();
    let mut schema = types.schema(text);
    let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    let mut parameter = json!({ "name": name, "in": kind.trim_end_matches('!') });
    if kind.ends_with('!') {
        parameter["required"] = true.into();
    }
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter["schema"] = schema;
    parameter
}

/// Adds a response such as `200 text/csv string`, whose media type is JSON unless it is named. A status may have several.
fn add_response(responses: &mut Map<String, Value>, status: &str, text: &str, types: &Types<'_>) {
    let code = status.parse::<u16>().unwrap_or_default();
    assert!(code >= 200, "not a line of a route: {status} {text}");
    let comment = text.split_once("// ").map(|(_, comment)| comment);
    let response = responses.entry(status).or_insert_with(|| json!({ "description": reason(code) }));
    if let Some(comment) = comment {
        response["description"] = comment.into();
    }
    let text = text.split("// ").next().unwrap_or_default().trim();
    if text.is_empty() {
        return;
    }
    let (media, text) = media_type(text);
    response["content"][media] = match media {
        "text/event-stream" | "application/x-ndjson" => {
            json!({ "x-event-schema": types.schema(text) })
        }
        _ => json!({ "schema": types.schema(text) }),
    };
}

/// The media type in front of a type, by default that of JSON, and the type.
fn media_type(text: &str) -> (&str, &str) {
    let named = text.split_once(' ').filter(|(media, _)| media.contains('/'));
    named.unwrap_or(("application/json", text))
}

/// Adds an error, which is a component that several routes share, or another media type of a response.
fn add_error(responses: &mut Map<String, Value>, errors: &mut Map<String, Value>, status: u16, format: &str) {
    let error = match format {
        "plain" => json!({ "text/plain": { "schema": { "type": "string" } } }),
        name => {
            json!({ "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } })
        }
    };
    let key = status.to_string();
    if let Some(response) = responses.get_mut(&key) {
        if let (Some(content), Value::Object(error)) = (response["content"].as_object_mut(), error) {
            content.extend(error);
        }
        return;
    }
    let name = format!("{format}{status}");
    responses.insert(key, json!({ "$ref": format!("#/components/responses/{name}") }));
    let mut response = json!({ "description": reason(status), "content": error });
    if status == 429 {
        response["headers"] = json!({ "Retry-After": { "schema": { "type": "integer" } } });
    }
    errors.insert(name, response);
}

/// The reason phrase of a status (RFC 9110).
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        507 => "Insufficient Storage",
        _ => "Other",
    }
}

/// A document as text, with a line for each operation and each component.
pub fn render(document: &Value) -> String {
    lines(document, 3) + "\n"
}

fn lines(value: &Value, depth: usize) -> String {
    match value.as_object() {
        Some(fields) if depth > 0 && !fields.is_empty() => {
            let rows: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}:{}", json!(name), lines(value, depth - 1))).collect();
            format!("{{\n{}}}", rows.join(",\n"))
        }
        _ => value.to_string(),
    }
}

/// A text in the shortest form of gzip (RFC 1952), as the page's files have it.
pub fn compress(text: &str) -> Vec<u8> {
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    gzip.extend(miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 10));
    let checksum = text.bytes().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
    });
    gzip.extend((!checksum).to_le_bytes());
    gzip.extend(u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
    gzip
}
