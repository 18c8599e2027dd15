use std::time::SystemTime;

use domain::{Failure, StrictObject, ToolSpec};
use egress::Policy;
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{Admission, RateLimit, RateLimiter};
use tools::OutboundRedactor;

use super::endpoint::{parse_endpoint, slot_names};
use super::template::UrlTemplate;
use super::{Endpoint, ToolKind, Transform, parameters};
use crate::call_error::CallError;

const DEFINITION_FIELDS: &str = "`name`, `displayName`, `description`, `category`, `type`, `endpoint`, `parameters`, \
    `responseTransform`, `rateLimit`, `version`, `tags`, `enabled`, `idempotent`, `mask`";

/// Other accepted spellings of fields.
const DEFINITION_ALIASES: [(&str, &str); 3] =
    [("display_name", "displayName"), ("response_transform", "responseTransform"), ("rate_limit", "rateLimit")];

const MAX_NAME_BYTES: usize = 64;

/// Longest name of a server, in bytes: it is the prefix of its tools' names.
const MAX_SERVER_NAME_BYTES: usize = 32;

/// The rules of a deployment for definitions.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The allowed targets of requests.
    pub policy: Policy,
    /// Names of other tools.
    pub reserved_names: &'a [String],
    /// Whether it was stored before: its patterns may have a syntax that only an earlier release accepted.
    pub is_stored: bool,
}

/// A custom tool as an administrator writes it; its id and times belong to the row that stores it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// 1 to 64 letters, digits, `_` and `-`, unique.
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
    #[serde(skip_serializing_if = "Value::is_null")]
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
    #[serde(skip_serializing_if = "bool::clone")]
    pub mask: bool,
}

impl ToolDefinition {
    /// Parses a definition from an administrator's request.
    ///
    /// # Errors
    /// `invalid_request` with the field and what is accepted.
    pub fn parse(body: &[u8], rules: Rules<'_>) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        fields.accept_aliases(&DEFINITION_ALIASES)?;
        let kind = ToolKind::parse(&mut fields)?;
        let endpoint = parse_endpoint(&mut fields, rules.policy, kind)?;
        let is_read_only = matches!(&endpoint, Endpoint::Internal { .. })
            || matches!(&endpoint, Endpoint::Web(web) if web.method == "GET");
        let definition = Self {
            name: parse_name(&mut fields, rules.reserved_names, kind)?,
            display_name: fields.take_non_blank("displayName", 100)?,
            description: required_text(&mut fields, "description", 2000)?,
            category: fields.take_non_blank("category", 50)?.unwrap_or_else(|| "custom".to_owned()),
            kind,
            parameters: parse_parameters(&mut fields, &endpoint, rules)?,
            endpoint,
            response_transform: parse_transform(&mut fields, kind)?,
            rate_limit: parse_rate_limit(&mut fields)?,
            version: fields.take_non_blank("version", 32)?.unwrap_or_else(|| "1.0.0".to_owned()),
            tags: fields.take_strings("tags", 20)?.unwrap_or_default(),
            enabled: fields.take_bool("enabled")?.unwrap_or(true),
            idempotent: fields.take_bool("idempotent")?.unwrap_or(is_read_only),
            mask: fields.take_bool("mask")?.unwrap_or(true),
        };
        fields.reject_unknown(DEFINITION_FIELDS)?;
        Ok(definition)
    }

    /// Returns the stored document; [`parse`](Self::parse) reads it back.
    pub fn document(&self) -> Value {
        json!(self)
    }

    pub(crate) fn spec(&self, parameters: Value) -> ToolSpec {
        let (name, description) = (self.name.clone(), self.description.clone());
        ToolSpec { name, description, parameters, examples: Vec::new() }
    }

    pub(crate) fn outbound_arguments(
        &self,
        arguments: &Map<String, Value>,
        redactor: &OutboundRedactor,
    ) -> Map<String, Value> {
        if self.mask { redactor.redact_arguments(arguments) } else { arguments.clone() }
    }

    /// Counts a call against the definition's rate limit.
    pub(crate) async fn check_rate_limit(&self, limiter: &RateLimiter) -> Result<(), CallError> {
        let Some(limit) = self.rate_limit.as_deref().and_then(RateLimit::parse) else { return Ok(()) };
        match limiter.admit(&format!("tool#{}", self.name), limit, SystemTime::now()).await {
            Ok(Admission::Admitted) => Ok(()),
            Ok(Admission::Denied { .. }) | Err(_) => Err(CallError::RateLimited),
        }
    }
}

fn required_text(fields: &mut StrictObject, name: &str, max_chars: usize) -> Result<String, Failure> {
    fields.take_non_blank(name, max_chars)?.ok_or_else(|| fields.field_error(name, "given: a string"))
}

fn parse_name(fields: &mut StrictObject, reserved_names: &[String], kind: ToolKind) -> Result<String, Failure> {
    let name = fields.take_string("name")?.unwrap_or_default();
    if kind == ToolKind::Mcp && name.len() > MAX_SERVER_NAME_BYTES {
        return Err(fields.field_error("name", "at most 32 characters: the names of the server's tools begin with it"));
    }
    if !is_tool_name(&name) {
        return Err(fields.field_error("name", "1 to 64 letters, digits, `_` and `-`, a letter or `_` first"));
    }
    if reserved_names.contains(&name) {
        return Err(fields.field_error("name", "another one: a tool has it already"));
    }
    Ok(name)
}

/// Whether every endpoint accepts a tool of this name; Gemini requires the first character.
fn is_tool_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.len() <= MAX_NAME_BYTES && name.bytes().all(fits)
}

fn parse_parameters(fields: &mut StrictObject, endpoint: &Endpoint, rules: Rules<'_>) -> Result<Value, Failure> {
    let given = fields.take_object("parameters")?;
    let Endpoint::Web(web) = endpoint else {
        let absent = given.is_none().then_some(Value::Null);
        return absent.ok_or_else(|| fields.field_error("parameters", "left out: the tool has its own"));
    };
    let schema = parameters::to_schema(given.unwrap_or_default());
    let check = if rules.is_stored { parameters::resolve } else { parameters::validate };
    let schema = check(&schema).map_err(|accepted| fields.field_error("parameters", &accepted))?;
    let has = |name: &str| schema.pointer("/properties").is_some_and(|all| all.get(name).is_some());
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let template = UrlTemplate::parse(&web.url_template, rules.policy);
    let template = template.map_err(|accepted| fields.field_error("endpoint.urlTemplate", &accepted))?;
    if !template.names().all(has) || !web.headers.values().flat_map(|value| slot_names(value)).all(|name| has(&name)) {
        return Err(fields.field_error("parameters", "a JSON Schema with every `{name}` of the endpoint"));
    }
    if !template.path_slots().all(required) {
        return Err(fields.field_error("parameters", "a JSON Schema that requires every `{name}` of the path"));
    }
    Ok(schema)
}

fn parse_transform(fields: &mut StrictObject, kind: ToolKind) -> Result<Option<Transform>, Failure> {
    let Some(mut inner) = fields.take_nested("responseTransform")? else { return Ok(None) };
    if kind == ToolKind::Mcp {
        return Err(fields.field_error("responseTransform", "left out: the tools of a server answer in their own ways"));
    }
    let (pointer, jmespath) = (inner.take_string("pointer")?, inner.take_string("jmespath")?);
    let (name, transform) = match (pointer, jmespath) {
        (Some(pointer), None) => ("pointer", Transform::Pointer(pointer)),
        (None, Some(expression)) => ("jmespath", Transform::Jmespath(expression)),
        _ => return Err(fields.field_error("responseTransform", "an object with one of `pointer` and `jmespath`")),
    };
    transform.check().map_err(|accepted| inner.field_error(name, &accepted))?;
    inner.reject_unknown("`pointer`, `jmespath`")?;
    Ok(Some(transform))
}

fn parse_rate_limit(fields: &mut StrictObject) -> Result<Option<String>, Failure> {
    let Some(text) = fields.take_string("rateLimit")? else { return Ok(None) };
    let known = RateLimit::parse(&text).is_some();
    known.then_some(Some(text)).ok_or_else(|| fields.field_error("rateLimit", "N/Ws such as 20/60s"))
}
