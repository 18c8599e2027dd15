use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The description of the API, against which each response, each accepted request and each event is checked.
static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::new);

struct Description {
    /// The document. Its objects have no other fields than the described ones.
    closed: Value,
    /// The same as it is published, for requests: their unknown fields are ignored.
    open: Value,
    /// The path templates, those with fewer parameters first.
    paths: Vec<String>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// A response, as far as it is described.
pub(crate) struct DescribedResponse<'a> {
    pub(crate) status: u16,
    pub(crate) content_type: &'a str,
    pub(crate) body: &'a [u8],
}

/// Checks a response against the description of its route; panics if it differs. A route that is not described has none.
pub(crate) fn check_response(method: &str, target: &str, response: &DescribedResponse<'_>) {
    let description = &*DESCRIPTION;
    let Some(operation) = description.operation(&description.closed, method, target) else { return };
    let DescribedResponse { status, content_type, body } = response;
    let route = format!("{method} {target}, status {status}");
    let text = String::from_utf8_lossy(body);
    let described = operation["responses"].get(status.to_string());
    let described = described.unwrap_or_else(|| panic!("{route} is not described: {text}"));
    if method == "HEAD" || body.is_empty() {
        return;
    }
    let described = description.resolve(described);
    let media = content_type.split(';').next().unwrap_or_default();
    let content = described["content"].get(media).or_else(|| described["content"].get("*/*"));
    let content = content.unwrap_or_else(|| panic!("{route}: the media type {media} is not described: {text}"));
    if let Some(schema) = content.get("x-event-schema") {
        let lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        for event in lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object) {
            description.check(&description.closed, schema, &event, &route);
        }
    } else if let Ok(document) = serde_json::from_slice(body)
        && media == "application/json"
    {
        description.check(&description.closed, &content["schema"], &document, &route);
    }
}

/// Checks the body of a request that was accepted; panics if it is not described.
pub(crate) fn check_request(method: &str, target: &str, body: &[u8]) {
    let description = &*DESCRIPTION;
    let Some(operation) = description.operation(&description.open, method, target) else { return };
    let Ok(mut body) = serde_json::from_slice::<Value>(body) else { return };
    drop_nulls(&mut body);
    // A route without a body ignores one.
    let Some(content) = operation.get("requestBody") else { return };
    let schema = &content["content"]["application/json"]["schema"];
    description.check(&description.open, schema, &body, &format!("{method} {target}, the request"));
}

/// Checks an event of the native stream; panics if it is not described.
pub(crate) fn check_event(event: &Value) {
    let schema = json!({ "$ref": "#/components/schemas/Event" });
    DESCRIPTION.check(&DESCRIPTION.closed, &schema, event, "an event");
}

impl Description {
    fn new() -> Self {
        let open = openapi::document();
        let mut closed = open.clone();
        close(&mut closed);
        let mut paths: Vec<String> =
            open["paths"].as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
        paths.sort_by_key(|path| path.matches('{').count());
        Self { closed, open, paths, validators: Mutex::default() }
    }

    /// The operation of a request; `None` if its path or its method is not described.
    fn operation<'a>(&self, document: &'a Value, method: &str, target: &str) -> Option<&'a Value> {
        let path = target.split('?').next().unwrap_or_default();
        let method = if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() };
        let template = self.paths.iter().find(|template| self.matches(template, path))?;
        document["paths"][template].get(method)
    }

    fn matches(&self, template: &str, path: &str) -> bool {
        let (described, given): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
        let fits = |(one, other): (&&str, &&str)| one == other || (one.starts_with('{') && !other.is_empty());
        // The last parameter of some paths may contain slashes.
        let has_rest = || self.open["paths"][template].to_string().contains("\"x-rest\"");
        described.len() <= given.len()
            && described.iter().zip(&given).all(fits)
            && (described.len() == given.len() || has_rest())
    }

    /// The response itself, or the component that it refers to.
    fn resolve<'a>(&'a self, response: &'a Value) -> &'a Value {
        let name = response["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        name.map_or(response, |name| &self.closed["components"]["responses"][name])
    }

    fn check(&self, document: &Value, schema: &Value, instance: &Value, route: &str) {
        let key = format!("{} {schema}", std::ptr::eq(document, &raw const self.closed));
        let mut validators = self.validators.lock().expect("no validator panics");
        let validator = validators.entry(key).or_insert_with(|| {
            let mut root = schema.clone();
            root["components"] = json!({ "schemas": document["components"]["schemas"] });
            Arc::new(jsonschema::options().build(&root).expect("the description is a valid schema"))
        });
        let validator = Arc::clone(validator);
        drop(validators);
        let faults: Vec<String> =
            validator.iter_errors(instance).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{route} is not as described:\n{}\n{instance}", faults.join("\n"));
    }
}

/// Removes the fields that are `null`, which count as absent.
fn drop_nulls(body: &mut Value) {
    match body {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Forbids other fields than the described ones, in each object that does not permit them.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(Value::is_object) && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respond(method: &str, target: &str, status: u16, body: &Value) {
        let body = body.to_string();
        let content_type = "application/json; charset=utf-8";
        check_response(method, target, &DescribedResponse { status, content_type, body: body.as_bytes() });
    }

    #[test]
    fn described_exchanges_pass() {
        respond("GET", "/api/agents?x=1", 200, &json!({ "agents": [] }));
        respond(
            "GET",
            "/v1/models/a/b",
            200,
            &json!({ "id": "a/b", "object": "model", "created": 0, "owned_by": "a" }),
        );
        respond("GET", "/unknown", 418, &json!({}));
        check_request("POST", "/api/chat", br#"{"message":"a","stream":null,"unknown":1}"#);
        check_event(&json!({ "type": "done", "finishReason": "stop" }));
    }

    #[test]
    #[should_panic(expected = "GET /api/agents, status 200 is not as described")]
    fn undescribed_field_is_reported() {
        respond("GET", "/api/agents", 200, &json!({ "agents": [], "more": 1 }));
    }

    #[test]
    #[should_panic(expected = "GET /api/agents, status 418 is not described")]
    fn undescribed_status_is_reported() {
        respond("GET", "/api/agents", 418, &json!({}));
    }

    #[test]
    #[should_panic(expected = "POST /api/chat, the request is not as described")]
    fn undescribed_request_is_reported() {
        check_request("POST", "/api/chat", br#"{"message":1}"#);
    }

    #[test]
    #[should_panic(expected = "an event is not as described")]
    fn undescribed_event_is_reported() {
        check_event(&json!({ "type": "done" }));
    }
}
