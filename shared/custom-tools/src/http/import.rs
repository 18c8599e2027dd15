//! Imports definitions from an `OpenAPI` document (3.0 or 3.1, JSON).

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::schema_refs::SchemaBudget;
use super::{Rules, ToolDefinition};

const MAX_DOCUMENT_BYTES: usize = 2 * 1024 * 1024;

/// Maximum number of operations that are read.
const MAX_OPERATIONS: usize = 200;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedTools {
    /// A definition for each usable operation; without secrets, which an administrator adds.
    pub tools: Vec<ToolDefinition>,
    /// The others.
    pub unusable: Vec<UnusableOperation>,
}

/// An operation that cannot be a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnusableOperation {
    /// Its method and path.
    pub operation: String,
    /// Why, as a sentence.
    pub reason: String,
}

/// Reads the operations of a document; nothing outside of it is read.
///
/// # Errors
/// A sentence that names what the whole document lacks.
pub fn import(document: &[u8], rules: Rules<'_>) -> Result<ImportedTools, String> {
    if document.len() > MAX_DOCUMENT_BYTES {
        return Err(format!("The document has more than {} MiB.", MAX_DOCUMENT_BYTES / 1024 / 1024));
    }
    let root: Value = serde_json::from_slice(document).map_err(|_| "The document is not JSON.")?;
    let version = root.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("3.0") && !version.starts_with("3.1") {
        return Err("The document is not of OpenAPI 3.0 or 3.1.".to_owned());
    }
    let paths = root.get("paths").and_then(Value::as_object).ok_or("The document has no paths.")?;
    let operations = paths.iter().flat_map(|(path, item)| {
        METHODS.iter().filter_map(move |method| Some(Operation { path, method, item, spec: item.get(method)? }))
    });
    let mut imported = ImportedTools::default();
    for operation in operations.take(MAX_OPERATIONS) {
        match operation.to_definition(&root, rules, &imported.tools) {
            Ok(tool) => imported.tools.push(tool),
            Err(reason) => imported.unusable.push(UnusableOperation { operation: operation.name(), reason }),
        }
    }
    Ok(imported)
}

struct Operation<'a> {
    path: &'a str,
    method: &'a str,
    item: &'a Value,
    spec: &'a Value,
}

#[derive(Default)]
struct DefinitionParts {
    properties: Map<String, Value>,
    required: Vec<Value>,
    query: Vec<String>,
    /// Whether the body has further properties, as its schema states.
    additional: Value,
}

impl Operation<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }

    fn to_definition(
        &self,
        root: &Value,
        rules: Rules<'_>,
        known: &[ToolDefinition],
    ) -> Result<ToolDefinition, String> {
        // All parameters of an operation together: each may refer to the same large schema.
        let (mut parts, mut budget) = (DefinitionParts::default(), SchemaBudget::default());
        let mut deref = |part: &Value| budget.deref(root, part).map_err(|accepted| sentence(&accepted));
        for list in [self.item, self.spec] {
            for parameter in list.get("parameters").and_then(Value::as_array).into_iter().flatten() {
                parts.add_parameter(&deref(parameter)?)?;
            }
        }
        if let Some(body) = self.spec.get("requestBody") {
            parts.add_body(&deref(body)?)?;
        }
        let document = self.to_document(root, &parts)?.to_string();
        let tool = ToolDefinition::parse(document.as_bytes(), rules).map_err(|failure| failure.message)?;
        let twice = known.iter().any(|other| other.name == tool.name);
        if twice { Err("Another operation has the same name.".to_owned()) } else { Ok(tool) }
    }

    fn to_document(&self, root: &Value, parts: &DefinitionParts) -> Result<Value, String> {
        let text = |key: &str| self.spec.get(key).and_then(Value::as_str).map(str::trim);
        let non_empty = |key: &str| text(key).filter(|text| !text.is_empty());
        let id = non_empty("operationId").map_or_else(|| format!("{}_{}", self.method, self.path), str::to_owned);
        let described =
            non_empty("description").or_else(|| non_empty("summary")).map_or_else(|| self.name(), str::to_owned);
        let description: String = described.chars().take(2000).collect();
        let display: Option<String> = non_empty("summary").map(|text| text.chars().take(100).collect());
        Ok(json!({
            "name": to_snake_case(&id),
            "displayName": display,
            "description": description,
            "endpoint": {
                "urlTemplate": self.url_template(root, &parts.query)?,
                "method": self.method.to_uppercase(),
            },
            "parameters": parts.schema(),
        }))
    }

    /// Builds the URL template; methods with a body get a slot for each query parameter.
    fn url_template(&self, root: &Value, query: &[String]) -> Result<String, String> {
        let servers = [self.spec, self.item, root].into_iter().find_map(|level| level.pointer("/servers/0"));
        let server = servers.and_then(|server| server.get("url")?.as_str());
        let server = server.ok_or("The document names no server.")?.trim_end_matches('/');
        let slots: Vec<String> = match self.method {
            "get" | "delete" => Vec::new(),
            _ => query.iter().map(|name| format!("{name}={{{name}}}")).collect(),
        };
        let separator = if slots.is_empty() { "" } else { "?" };
        Ok(format!("{server}{}{separator}{}", self.path, slots.join("&")))
    }
}

impl DefinitionParts {
    fn schema(&self) -> Value {
        let mut schema = json!({"type": "object", "properties": self.properties, "required": self.required});
        if !self.additional.is_null() {
            schema["additionalProperties"] = self.additional.clone();
        }
        schema
    }

    fn add_parameter(&mut self, parameter: &Value) -> Result<(), String> {
        let name = parameter.get("name").and_then(Value::as_str).ok_or("A parameter has no name.")?;
        // A parameter of an operation replaces that of its path.
        self.query.retain(|other| other != name);
        self.required.retain(|other| other != name);
        let required = parameter.get("required") == Some(&Value::Bool(true));
        match parameter.get("in").and_then(Value::as_str) {
            Some("path") => {}
            Some("query") => self.query.push(name.to_owned()),
            _ if required => return Err("It needs a parameter in a header or a cookie.".to_owned()),
            _ => return Ok(()),
        }
        let mut schema = parameter.get("schema").cloned().unwrap_or_else(|| json!({"type": "string"}));
        if let (Some(description), Some(fields)) = (parameter.get("description"), schema.as_object_mut()) {
            fields.entry("description").or_insert_with(|| description.clone());
        }
        self.properties.insert(name.to_owned(), schema);
        if required {
            self.required.push(name.into());
        }
        Ok(())
    }

    fn add_body(&mut self, body: &Value) -> Result<(), String> {
        let schema = body.pointer("/content/application~1json/schema").ok_or("Its body is not JSON.")?;
        if schema.get("type").is_some_and(|kind| kind != "object") {
            return Err("Its body is not a JSON object.".to_owned());
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.ok_or("Its body has no properties.")? {
            if self.properties.insert(name.clone(), property.clone()).is_some() {
                return Err("Its body and its URL have a parameter of the same name.".to_owned());
            }
        }
        self.additional = schema.get("additionalProperties").cloned().unwrap_or_default();
        self.required.extend(schema.get("required").and_then(Value::as_array).into_iter().flatten().cloned());
        Ok(())
    }
}

fn sentence(accepted: &str) -> String {
    format!("It needs {accepted}.")
}

/// Converts `listPetsById` to `list_pets_by_id`, and each run of other characters to one `_`.
fn to_snake_case(id: &str) -> String {
    let mut name = String::new();
    for letter in id.chars() {
        let lower = letter.to_ascii_lowercase();
        let begins = letter.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase());
        if (begins || !letter.is_ascii_alphanumeric()) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if lower.is_ascii_alphanumeric() {
            name.push(lower);
        }
    }
    name.truncate(64);
    name.trim_end_matches('_').to_owned()
}
