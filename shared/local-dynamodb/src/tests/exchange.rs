use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::interceptors::AfterDeserializationInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_types::body::SdkBody;
use serde_json::Value;

use super::script::ScriptRequest;

/// A request of a script with its outcome: the operation, and status and JSON of the answer, if there was one.
#[derive(Debug, PartialEq)]
pub(super) struct Exchange(&'static str, Option<(u16, Value)>);

impl Exchange {
    /// The operation with its outcome or error code.
    pub(super) fn summary(&self) -> String {
        let outcome = match &self.1 {
            None => "no answer",
            Some((200, _)) => "done",
            Some((_, error)) => error["__type"].as_str().and_then(|code| code.split('#').next_back()).unwrap_or("?"),
        };
        format!("{}: {outcome}", self.0)
    }

    pub(super) fn has_answer(&self) -> bool {
        self.1.is_some()
    }
}

/// Sends the requests one after another.
pub(super) async fn send_all(client: &Client, lines: Vec<ScriptRequest>) -> Vec<Exchange> {
    let mut answers = Vec::new();
    for (operation, body) in lines {
        answers.push(Exchange(operation, send(client, operation, &body).await));
    }
    answers
}

/// Sends a raw body, signed and transported by the SDK.
async fn send(client: &Client, operation: &str, body: &str) -> Option<(u16, Value)> {
    let (target, body) = (format!("DynamoDB_20120810.{operation}"), body.to_owned());
    let capture = ResponseCapture::default();
    let request = client.list_tables().customize().interceptor(capture.clone()).mutate_request(move |request| {
        request.headers_mut().insert("x-amz-target", target.clone());
        request.headers_mut().insert("content-length", body.len().to_string());
        *request.body_mut() = SdkBody::from(body.as_str());
    });
    // The SDK may fail to decode the answer as a list of tables.
    let _read = request.send().await;
    let answer = capture.0.lock().unwrap().take();
    answer.map(|(status, answer)| (status, without_volatile_values(answer)))
}

/// Captures the response.
#[derive(Clone, Debug, Default)]
struct ResponseCapture(Arc<Mutex<Option<(u16, Value)>>>);

impl Intercept for ResponseCapture {
    fn name(&self) -> &'static str {
        "heard"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let answer = context.response();
        let body = serde_json::from_slice(answer.body().bytes().unwrap())?;
        *self.0.lock().unwrap() = Some((answer.status().as_u16(), body));
        Ok(())
    }
}

/// Removes values that differ in each run.
fn without_volatile_values(mut answer: Value) -> Value {
    for description in ["Table", "TableDescription"] {
        let Some(table) = answer.get_mut(description).and_then(Value::as_object_mut) else { continue };
        table.retain(|name, _| !name.contains("DateTime") && name != "TableId");
        if let Some(billing) = table.get_mut("BillingModeSummary").and_then(Value::as_object_mut) {
            billing.retain(|name, _| !name.contains("DateTime"));
        }
    }
    answer
}
