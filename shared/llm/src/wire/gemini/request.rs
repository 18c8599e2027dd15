use domain::{Message, ProviderData, ReasoningItem, ToolChoice};
use serde::Serialize;
use serde_json::{Value, json};

use super::param_fields::param_fields;
use crate::errors::AttemptError;
use crate::wire::functions::{ToolFields, object_or_empty, signed_calls};
use crate::wire::pictures::{Picture, pictures};
use crate::wire::sides::{Side, group_by_side};
use crate::wire::{Fields, HttpRequestParts, WireRequest};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Fields::is_empty")]
    generation_config: Fields,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Part<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a str>,
    },
    Picture {
        inline_data: Blob<'a>,
    },
    Call {
        function_call: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a str>,
    },
    Response {
        /// The content is in its `result` or its `error`.
        function_response: Value,
    },
}

// Recorded request in charmbracelet/fantasy, gemini-2.5-pro-stream.yaml, 2026-11-27.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<ToolFields<'a>>,
}

pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, .. } = request;
    let parts = prompt.messages.iter().flat_map(|message| parts(message, request));
    let system = Some(&*prompt.system).filter(|text| !text.is_empty());
    // Unlike `parameters`, this schema may be any JSON Schema.
    let declarations = prompt.tools.iter().map(|spec| ToolFields(spec, "parametersJsonSchema")).collect();
    let declarations = Some(declarations).filter(|_| !prompt.tools.is_empty());
    let body = Body {
        contents: group_by_side(parts).into_iter().map(content).collect(),
        system_instruction: system.map(|text| Content { role: None, parts: vec![text_part(text)] }),
        tool_config: request.tool_choice().map(calling_config),
        tools: declarations.map(|function_declarations| [Tools { function_declarations }]),
        generation_config: param_fields(request),
    };
    let model = model.strip_prefix("models/").unwrap_or(model);
    HttpRequestParts::new(format!("/models/{model}:streamGenerateContent?alt=sse"), &body)
}

fn content((side, parts): (Side, Vec<Part<'_>>)) -> Content<'_> {
    Content { role: Some(if side == Side::User { "user" } else { "model" }), parts }
}

fn text_part(text: &str) -> Part<'_> {
    Part::Text { text, thought_signature: None }
}

fn parts<'a>(message: &'a Message, request: WireRequest<'a>) -> Vec<(Side, Part<'a>)> {
    match message {
        Message::User { text, attachments } => {
            let picture = |Picture { media_type, base64: data }| Part::Picture {
                inline_data: Blob { mime_type: media_type, data },
            };
            let mut parts: Vec<_> = pictures(attachments).map(|one| (Side::User, picture(one))).collect();
            if parts.is_empty() || !text.trim().is_empty() {
                parts.push((Side::User, text_part(text)));
            }
            parts
        }
        Message::Assistant { text, calls, provider_data, .. } => {
            let data = request.own_data(provider_data.as_deref());
            let calls = signed_calls(calls, data, request.quirks.signatures).map(|(call, thought_signature)| {
                let function_call = json!({ "name": call.name, "args": object_or_empty(&call.arguments) });
                Part::Call { function_call, thought_signature }
            });
            let thought_signature = data.and_then(text_signature);
            let text = Some(Part::Text { text, thought_signature }).filter(|_| !text.is_empty());
            text.into_iter().chain(calls).map(|part| (Side::Model, part)).collect()
        }
        Message::Tool(result) => {
            let field = if result.ok { "result" } else { "error" };
            let function_response = json!({ "name": result.name, "response": { field: result.content } });
            vec![(Side::User, Part::Response { function_response })]
        }
    }
}

fn text_signature(data: &ProviderData) -> Option<&str> {
    data.reasoning.iter().rev().find_map(|item| match item {
        ReasoningItem::TextSignature { signature } => Some(signature.as_str()),
        _ => None,
    })
}

fn calling_config(choice: &ToolChoice) -> Value {
    let config = match choice {
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Auto | ToolChoice::None => json!({ "mode": "NONE" }),
    };
    json!({ "functionCallingConfig": config })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Quirks;
    use crate::wire::functions::SIGNATURE_PLACEHOLDER;
    use crate::wire::tests::{body, conversation, quirks};

    #[test]
    fn conversation_is_encoded_for_the_wire() {
        let declaration =
            json!({"name": "now", "description": "Tells the time.", "parametersJsonSchema": {"type": "object"}});
        let response = |response| json!({"functionResponse": {"name": "now", "response": response}});
        let expected = json!({
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [{"text": "hello"}]},
                {"role": "user", "parts": [{"text": "time?"}]},
                {"role": "model", "parts": [
                    {"functionCall": {"name": "now", "args": {"zone": "CET"}}},
                    {"functionCall": {"name": "now", "args": {}}},
                ]},
                {"role": "user", "parts": [response(json!({"result": "noon"})), response(json!({"error": "no such zone"}))]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [declaration]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        });
        let path = "/models/m:streamGenerateContent?alt=sse".to_owned();
        assert_eq!(body(encode, &conversation(ToolChoice::Required), quirks()), (path, expected));
    }

    #[test]
    fn calls_carry_placeholder_signature_if_required() {
        let (_, body) = body(encode, &conversation(ToolChoice::Auto), Quirks { signatures: true, ..quirks() });
        let part = &body["contents"][3]["parts"][0];
        assert_eq!(part["thoughtSignature"], SIGNATURE_PLACEHOLDER);
        assert_eq!(part["functionCall"]["name"], "now");
    }

    #[test]
    fn each_tool_choice_is_encoded() {
        let sent = |choice, quirks| body(encode, &conversation(choice), quirks).1["toolConfig"].clone();
        let config = |config| json!({"functionCallingConfig": config});
        let named = || ToolChoice::Tool("now".to_owned());
        assert_eq!(sent(ToolChoice::Auto, quirks()), Value::Null);
        assert_eq!(sent(ToolChoice::None, quirks()), config(json!({"mode": "NONE"})));
        assert_eq!(sent(named(), quirks()), config(json!({"mode": "ANY", "allowedFunctionNames": ["now"]})));
        assert_eq!(sent(named(), Quirks { forced_choice: false, ..quirks() }), Value::Null);
    }
}
