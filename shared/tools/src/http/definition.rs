use std::time::SystemTime;

use conversation::Failure;
use egress::Policy;
use protocols::Fields;
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{Admission, RateLimit, RateLimiter};

use super::endpoint::{endpoint, slots};
use super::failure::HttpFailure;
use super::template::UrlTemplate;
use super::{Endpoint, Transform, parameters};
use crate::Outgoing;

const ACCEPTED: &str = "`name`, `displayName`, `description`, `category`, `type`, `endpoint`, `parameters`, \
    `responseTransform`, `rateLimit`, `version`, `tags`, `enabled`, `idempotent`, `mask`";

/// Longest name of a server, in bytes: it is the prefix of its tools' names.
const LONGEST_PREFIX: usize = 32;

/// The rules of a deployment for definitions.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The allowed targets of requests.
    pub policy: Policy,
    /// Names of other tools.
    pub taken: &'a [String],
}

/// A custom tool as an administrator writes it; its id and times belong to the row that stores it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// `snake_case`, unique.
    pub name: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// For the model: its purpose and when to use it.
    pub description: String,
    /// For lists; `custom` by default.
    pub category: String,
    /// How its response arrives.
    #[serde(rename = "type")]
    pub kind: ToolKind,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// A JSON Schema of type `object` with resolved references; `null` for a built-in tool.
    pub parameters: Value,
    /// Selects the part of a JSON response that the model reads; all of it by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_transform: Option<Transform>,
    /// `N/Ws`, for all callers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<String>,
    /// `1.0.0` by default.
    pub version: String,
    /// For lists.
    pub tags: Vec<String>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether repeating a call has no further effect; only such a call is retried when the host fails.
    pub idempotent: bool,
    /// Whether personal data in arguments is replaced according to `MASK`; `false` for a tool that needs it.
    #[serde(skip_serializing_if = "is_usual")]
    pub mask: bool,
}

/// Whether `mask` has its default value.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_usual(mask: &bool) -> bool {
    *mask
}

/// How the response of a tool arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Whole.
    #[default]
    Invokable,
    /// As a stream, over a longer time.
    Streamable,
    /// From the tools of a Model Context Protocol server.
    Mcp,
}

impl ToolDefinition {
    /// Parses a definition from an administrator's request.
    ///
    /// # Errors
    /// `invalid_request` with the field and what is accepted.
    pub fn parse(body: &[u8], rules: Rules<'_>) -> Result<Self, Failure> {
        let mut fields = Fields::parse(body)?;
        let kind = kind(&mut fields)?;
        let endpoint = endpoint(&mut fields, rules.policy, kind)?;
        let reads = matches!(&endpoint, Endpoint::Internal { .. })
            || matches!(&endpoint, Endpoint::Web(web) if web.method == "GET");
        let definition = Self {
            name: name(&mut fields, rules.taken, kind)?,
            display_name: fields.words("displayName", 100)?,
            description: given(&mut fields, "description", 2000)?,
            category: fields.words("category", 50)?.unwrap_or_else(|| "custom".to_owned()),
            kind,
            parameters: parameters(&mut fields, &endpoint, rules.policy)?,
            endpoint,
            response_transform: transform(&mut fields, kind)?,
            rate_limit: rate_limit(&mut fields)?,
            version: fields.words("version", 32)?.unwrap_or_else(|| "1.0.0".to_owned()),
            tags: fields.texts("tags", 20)?.unwrap_or_default(),
            enabled: fields.flag("enabled")?.unwrap_or(true),
            idempotent: fields.flag("idempotent")?.unwrap_or(reads),
            mask: fields.flag("mask")?.unwrap_or(true),
        };
        fields.finish(ACCEPTED)?;
        Ok(definition)
    }

    /// Returns the stored document; [`parse`](Self::parse) reads it back.
    pub fn document(&self) -> Value {
        let mut document = json!(self);
        if self.parameters.is_null()
            && let Some(fields) = document.as_object_mut()
        {
            fields.shift_remove("parameters");
        }
        document
    }

    /// Returns the arguments to send.
    pub(crate) fn sent(&self, arguments: &Map<String, Value>, outgoing: &Outgoing) -> Map<String, Value> {
        if self.mask { outgoing.arguments(arguments) } else { arguments.clone() }
    }

    /// Counts a call against the definition's rate limit.
    pub(crate) async fn admit(&self, limiter: &RateLimiter) -> Result<(), HttpFailure> {
        let Some(limit) = self.rate_limit.as_deref().and_then(RateLimit::parse) else { return Ok(()) };
        match limiter.admit(&format!("tool#{}", self.name), limit, SystemTime::now()).await {
            Ok(Admission::Admitted) => Ok(()),
            Ok(Admission::Denied { .. }) | Err(_) => Err(HttpFailure::TooOften),
        }
    }
}

fn given(fields: &mut Fields, name: &str, most: usize) -> Result<String, Failure> {
    fields.words(name, most)?.ok_or_else(|| fields.wrong(name, "given: a string"))
}

fn name(fields: &mut Fields, taken: &[String], kind: ToolKind) -> Result<String, Failure> {
    let name = fields.text("name")?.unwrap_or_default();
    if kind == ToolKind::Mcp && name.len() > LONGEST_PREFIX {
        return Err(fields.wrong("name", "at most 32 characters: the names of the server's tools begin with it"));
    }
    let snake = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !snake || !name.starts_with(|first: char| first.is_ascii_lowercase()) || name.len() > 64 {
        return Err(fields.wrong("name", "1 to 64 lower-case letters, digits and `_`, a letter first"));
    }
    if taken.contains(&name) {
        return Err(fields.wrong("name", "another one: a tool has it already"));
    }
    Ok(name)
}

fn kind(fields: &mut Fields) -> Result<ToolKind, Failure> {
    match fields.text("type")?.as_deref() {
        None | Some("invokable") => Ok(ToolKind::Invokable),
        Some("streamable") => Ok(ToolKind::Streamable),
        Some("mcp") => Ok(ToolKind::Mcp),
        Some(_) => Err(fields.wrong("type", "\"invokable\", \"streamable\" or \"mcp\"")),
    }
}

fn parameters(fields: &mut Fields, endpoint: &Endpoint, policy: Policy) -> Result<Value, Failure> {
    let given = fields.object("parameters")?;
    let Endpoint::Web(web) = endpoint else {
        let absent = given.is_none().then_some(Value::Null);
        return absent.ok_or_else(|| fields.wrong("parameters", "left out: the tool has its own"));
    };
    let schema = given.map_or_else(|| json!({"type": "object", "properties": {}}), Value::Object);
    let schema = parameters::checked(&schema).map_err(|accepted| fields.wrong("parameters", &accepted))?;
    let has = |name: &str| schema.pointer("/properties").is_some_and(|all| all.get(name).is_some());
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let template = UrlTemplate::parse(&web.url_template, policy);
    let template = template.map_err(|accepted| fields.wrong("endpoint.urlTemplate", &accepted))?;
    if !template.names().all(has) || !web.headers.values().flat_map(|value| slots(value)).all(|name| has(&name)) {
        return Err(fields.wrong("parameters", "a JSON Schema with every `{name}` of the endpoint"));
    }
    if !template.in_path().all(required) {
        return Err(fields.wrong("parameters", "a JSON Schema that requires every `{name}` of the path"));
    }
    Ok(schema)
}

fn transform(fields: &mut Fields, kind: ToolKind) -> Result<Option<Transform>, Failure> {
    let Some(mut inner) = fields.inner("responseTransform")? else { return Ok(None) };
    if kind == ToolKind::Mcp {
        return Err(fields.wrong("responseTransform", "left out: the tools of a server answer in their own ways"));
    }
    let (pointer, jmespath) = (inner.text("pointer")?, inner.text("jmespath")?);
    let transform = match (pointer, jmespath) {
        (Some(pointer), None) => Transform::Pointer(pointer),
        (None, Some(expression)) => Transform::Jmespath(expression),
        _ => return Err(fields.wrong("responseTransform", "an object with one of `pointer` and `jmespath`")),
    };
    let name = if matches!(transform, Transform::Pointer(_)) { "pointer" } else { "jmespath" };
    transform.check().map_err(|accepted| inner.wrong(name, &accepted))?;
    inner.finish("`pointer`, `jmespath`")?;
    Ok(Some(transform))
}

fn rate_limit(fields: &mut Fields) -> Result<Option<String>, Failure> {
    let Some(text) = fields.text("rateLimit")? else { return Ok(None) };
    let known = RateLimit::parse(&text).is_some();
    known.then_some(Some(text)).ok_or_else(|| fields.wrong("rateLimit", "N/Ws such as 20/60s"))
}
