use serde_json::{Value, json};

use super::support::OPEN;
use crate::http::{ImportedTools, Rules, import};

fn imported(document: &Value) -> Result<ImportedTools, String> {
    import(
        document.to_string().as_bytes(),
        Rules { policy: OPEN, reserved_names: &["search_web".to_owned()], is_stored: false },
    )
}

fn pets() -> Value {
    json!({
        "openapi": "3.1.0",
        "servers": [{"url": "https://api.example.com/v1/"}],
        "paths": {
            "/pets/{petId}": {
                "parameters": [{"$ref": "#/components/parameters/pet"}],
                "get": {"operationId": "showPetById", "summary": "Shows a pet.", "parameters": [
                    {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ]},
                "put": {"operationId": "replace pet", "parameters": [
                    {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
                ], "requestBody": {"$ref": "#/components/requestBodies/pet"}},
                "delete": {"operationId": "dropPet", "parameters": [
                    {"name": "X-Sure", "in": "header", "required": true, "schema": {"type": "string"}},
                ]},
            },
            "/upload": {"post": {"operationId": "upload", "requestBody": {"content": {"image/png": {}}}}},
            "/tree": {"post": {"operationId": "tree", "requestBody": {
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/node"}}},
            }}},
            "/far": {"get": {"operationId": "far", "parameters": [{"$ref": "https://example.com/p.json"}]}},
            "/search": {"get": {"operationId": "search_web"}},
            "/inside": {"servers": [{"url": "https://10.0.0.1"}], "get": {}},
        },
        "components": {
            "parameters": {"pet": {"name": "petId", "in": "path", "required": true, "description": "Which.",
                "schema": {"type": "integer"}}},
            "requestBodies": {"pet": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/pet"}}}}},
            "schemas": {
                "pet": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                "node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/node"}}},
            },
        },
    })
}

#[test]
fn f134_parameters_of_an_operation_share_a_bound() {
    let parameters: Vec<Value> = (0..200)
        .map(|at| json!({"name": format!("p{at}"), "in": "query", "schema": {"$ref": "#/components/schemas/large"}}))
        .collect();
    let document = json!({
        "openapi": "3.1.0",
        "servers": [{"url": "https://api.example.com"}],
        "paths": {"/a": {"get": {"parameters": parameters}}},
        "components": {"schemas": {"large": {"enum": (0..100).collect::<Vec<_>>()}}},
    });
    let reason = imported(&document).unwrap().unusable.pop().map(|unusable| unusable.reason);
    assert_eq!(reason.as_deref(), Some("It needs a schema of at most 2000 values."));
}

#[test]
fn operations_become_definitions_with_resolved_references() {
    let tools: Vec<Value> =
        imported(&pets()).unwrap().tools.iter().map(super::super::ToolDefinition::document).collect();
    assert_eq!(tools.len(), 2, "{tools:?}");
    assert_eq!(
        (&tools[0]["name"], &tools[0]["description"], &tools[0]["endpoint"]["urlTemplate"], &tools[0]["parameters"]),
        (
            &json!("show_pet_by_id"),
            &json!("Shows a pet."),
            &json!("https://api.example.com/v1/pets/{petId}"),
            &json!({"type": "object", "properties": {
                "petId": {"type": "integer", "description": "Which."},
                "fields": {"type": "array", "items": {"type": "string"}},
            }, "required": ["petId"]}),
        )
    );
    assert_eq!(
        (&tools[1]["name"], &tools[1]["endpoint"]["urlTemplate"], &tools[1]["parameters"]["required"]),
        (&json!("replace_pet"), &json!("https://api.example.com/v1/pets/{petId}?dry={dry}"), &json!(["petId", "name"]))
    );
    assert_eq!(tools[1]["idempotent"], json!(false));
}

#[test]
fn f134_unusable_operations_are_listed_with_reasons() {
    let unusable = imported(&pets()).unwrap().unusable;
    let reasons: Vec<(&str, &str)> = unusable.iter().map(|one| (one.operation.as_str(), one.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("DELETE /pets/{petId}", "It needs a parameter in a header or a cookie."),
            ("POST /upload", "Its body is not JSON."),
            ("POST /tree", "It needs a schema that is at most 16 deep."),
            ("GET /far", "It needs a schema that refers to no other document."),
            ("GET /search", "`name` must be another one: a tool has it already"),
            (
                "GET /inside",
                "`endpoint.urlTemplate` must be a URL of an allowed host; its host is not at a public address"
            ),
        ]
    );
}

#[test]
fn invalid_document_is_rejected_as_a_whole() {
    for document in
        [json!([]), json!({"swagger": "2.0"}), json!({"openapi": "3.2.0", "paths": {}}), json!({"openapi": "3.0.0"})]
    {
        assert!(imported(&document).is_err(), "{document}");
    }
}
