use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, iter};
use http::{HeaderValue, StatusCode, header};
use lambda_runtime::{MetadataPrelude, StreamResponse};
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use smoke::prompts::{LONG, SUM, TOOL};
use subtle::ConstantTimeEq;
use tokio::time::sleep;

use crate::event::UrlEvent;

type Body = BoxStream<'static, Result<Bytes, Infallible>>;

/// The scripted model, for callers with the key.
pub(crate) struct Model {
    key: Secret,
}

/// Reads `CHECK_API_KEY`, the key of the checks' caller and of the model.
pub(crate) fn check_key(settings: &Settings) -> Result<Secret, SettingError> {
    let key = Secret::from_settings(settings, "CHECK_API_KEY")?;
    key.ok_or_else(|| SettingError::new("CHECK_API_KEY_PARAMETER", "the name of an SSM parameter"))
}

impl Model {
    /// Reads `CHECK_API_KEY`; makes no call.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { key: check_key(settings)? })
    }

    /// Answers `POST /chat/completions` with a stream, and any other request with an error.
    pub(crate) async fn respond(&self, event: UrlEvent) -> StreamResponse<Body> {
        match self.choose_script(&event).await {
            Ok(script) => stream_response(StatusCode::OK, "text/event-stream", stream_lines(script)),
            Err(status) => {
                let error = json!({"error": {"message": status.canonical_reason(), "type": "refused"}}).to_string();
                stream_response(status, "application/json", iter([Ok(Bytes::from(error))]).boxed())
            }
        }
    }

    async fn choose_script(&self, event: &UrlEvent) -> Result<Script, StatusCode> {
        if (event.method(), event.raw_path.as_str()) != ("POST", "/chat/completions") {
            return Err(StatusCode::NOT_FOUND);
        }
        let key = self.key.get().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        if !bool::from(event.token().as_bytes().ct_eq(key.expose_secret().as_bytes())) {
            // A recently changed key is not cached yet.
            self.key.invalidate();
            return Err(StatusCode::UNAUTHORIZED);
        }
        let request: ChatRequest = serde_json::from_slice(&event.body()).map_err(|_| StatusCode::BAD_REQUEST)?;
        Ok(Script::for_request(&request))
    }
}

fn stream_lines(script: Script) -> Body {
    let lines = iter(script.lines).then(move |line| async move {
        sleep(script.interval).await;
        Ok(Bytes::from(line))
    });
    lines.boxed()
}

#[expect(clippy::field_reassign_with_default, reason = "the type is not exhaustive and has no builder")]
fn stream_response(status: StatusCode, content_type: &'static str, stream: Body) -> StreamResponse<Body> {
    let mut metadata_prelude = MetadataPrelude::default();
    metadata_prelude.status_code = status;
    metadata_prelude.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    StreamResponse { metadata_prelude, stream }
}

/// Time between two deltas. An answer of thirty takes two seconds.
const DELTA_INTERVAL: Duration = Duration::from_millis(60);

/// Time between two lines of a long answer. Three hundred take nine seconds. A stop from another instance takes effect
/// within three, and a turn of less than two is not logged for readers on other instances.
const LONG_DELTA_INTERVAL: Duration = Duration::from_millis(30);

/// The fields of a request that the script uses.
#[derive(Debug, Deserialize)]
pub struct ChatRequest {
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

/// An answer: lines of an event stream, and the interval between them.
#[derive(Debug)]
pub struct Script {
    /// The time before each line.
    pub interval: Duration,
    /// The lines, each with its trailing blank line.
    pub lines: Vec<String>,
}

impl Script {
    /// The answer to a prompt of the checks: a call of the calculator, text after its result, a long list, or a short
    /// one.
    pub fn for_request(request: &ChatRequest) -> Self {
        let last = request.messages.last();
        let prompt = request.messages.iter().rfind(|message| message.role == "user");
        let prompt_contains = |text: &str| prompt.is_some_and(|message| message.content.to_string().contains(text));
        if last.is_some_and(|message| message.role == "tool") {
            Self::from_text(DELTA_INTERVAL, ["37 ", "* ", "43 ", "is ", "1591", "."].map(str::to_owned))
        } else if prompt_contains(SUM) {
            Self::tool_call()
        } else if prompt_contains(LONG) {
            Self::from_text(LONG_DELTA_INTERVAL, (1..=300).map(|line| format!("{line}\n")))
        } else {
            Self::from_text(
                DELTA_INTERVAL,
                (1..=30).map(|number| if number < 30 { format!("{number}, ") } else { "30".to_owned() }),
            )
        }
    }

    fn from_text(interval: Duration, parts: impl IntoIterator<Item = String>) -> Self {
        Self::from_deltas(interval, parts.into_iter().map(|part| json!({ "content": part })), "stop")
    }

    /// A tool call with name and arguments in separate deltas, as models send them.
    fn tool_call() -> Self {
        let name_delta =
            json!({"index": 0, "id": "call_check", "type": "function", "function": {"name": TOOL, "arguments": ""}});
        let arguments_delta =
            json!({"index": 0, "function": {"arguments": json!({"expression": "37 * 43"}).to_string()}});
        let deltas = [name_delta, arguments_delta].map(|call| json!({ "tool_calls": [call] }));
        Self::from_deltas(DELTA_INTERVAL, deltas, "tool_calls")
    }

    fn from_deltas(interval: Duration, deltas: impl IntoIterator<Item = Value>, reason: &str) -> Self {
        let deltas = deltas.into_iter().map(|delta| chunk(&delta, &Value::Null));
        let end = [chunk(&json!({}), &Value::from(reason)), "data: [DONE]\n\n".to_owned()];
        Self { interval, lines: deltas.chain(end).collect() }
    }
}

fn chunk(delta: &Value, finish: &Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-check",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "deployment-check",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    });
    format!("data: {chunk}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(messages: &Value) -> Script {
        Script::for_request(&serde_json::from_value(json!({ "messages": messages })).unwrap())
    }

    fn seconds(script: &Script) -> u64 {
        (script.interval * u32::try_from(script.lines.len()).unwrap()).as_secs()
    }

    #[test]
    fn every_prompt_of_the_checks_is_answered() {
        let system = json!({"role": "system", "content": SUM});
        let messages_with = |text: &str| json!([system, {"role": "user", "content": [{"type": "text", "text": text}]}]);
        let (count, long) = (script(&messages_with(smoke::prompts::COUNT)), script(&messages_with(LONG)));
        assert_eq!((count.lines.len(), seconds(&count)), (32, 1));
        assert_eq!((long.lines.len(), seconds(&long)), (302, 9));
        let call = script(&messages_with(SUM)).lines;
        assert!(call[0].contains(r#""name":"calculator""#) && call[2].contains(r#""finish_reason":"tool_calls""#));
        let called =
            json!([{"role": "user", "content": SUM}, {"role": "assistant"}, {"role": "tool", "content": "1591"}]);
        assert!(script(&called).lines[4].contains("1591"));
    }
}
