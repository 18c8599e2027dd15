//! The model's answers: OpenAI chat completion chunks, one delta at a time.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use smoke::questions::{LONG, SUM, TOOL};

/// Time between two deltas. An answer of thirty takes two seconds.
const PAUSE: Duration = Duration::from_millis(60);

/// Time between two lines of a long answer. Three hundred take nine seconds. A stop from another instance takes effect
/// within three, and a turn of less than two is not logged for readers on other instances.
const LONG_PAUSE: Duration = Duration::from_millis(30);

/// The fields of a request that the script uses.
#[derive(Debug, Deserialize)]
pub struct Question {
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
    pub pause: Duration,
    /// The lines, each with its trailing blank line.
    pub lines: Vec<String>,
}

impl Script {
    /// The answer to a prompt of the checks: a call of the calculator, text after its result, a long list, or a short
    /// one.
    pub fn of(question: &Question) -> Self {
        let last = question.messages.last();
        let asked = question.messages.iter().rfind(|message| message.role == "user");
        let asks = |text: &str| asked.is_some_and(|message| message.content.to_string().contains(text));
        if last.is_some_and(|message| message.role == "tool") {
            Self::words(PAUSE, ["37 ", "* ", "43 ", "is ", "1591", "."].map(str::to_owned))
        } else if asks(SUM) {
            Self::call()
        } else if asks(LONG) {
            Self::words(LONG_PAUSE, (1..=300).map(|line| format!("{line}\n")))
        } else {
            Self::words(PAUSE, (1..=30).map(|number| if number < 30 { format!("{number}, ") } else { "30".to_owned() }))
        }
    }

    fn words(pause: Duration, words: impl IntoIterator<Item = String>) -> Self {
        Self::told(pause, words.into_iter().map(|word| json!({ "content": word })), "stop")
    }

    /// A tool call with name and arguments in separate deltas, as models send them.
    fn call() -> Self {
        let named =
            json!({"index": 0, "id": "call_check", "type": "function", "function": {"name": TOOL, "arguments": ""}});
        let arguments = json!({"index": 0, "function": {"arguments": json!({"expression": "37 * 43"}).to_string()}});
        let deltas = [named, arguments].map(|call| json!({ "tool_calls": [call] }));
        Self::told(PAUSE, deltas, "tool_calls")
    }

    fn told(pause: Duration, deltas: impl IntoIterator<Item = Value>, reason: &str) -> Self {
        let deltas = deltas.into_iter().map(|delta| chunk(&delta, &Value::Null));
        let end = [chunk(&json!({}), &Value::from(reason)), "data: [DONE]\n\n".to_owned()];
        Self { pause, lines: deltas.chain(end).collect() }
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
        Script::of(&serde_json::from_value(json!({ "messages": messages })).unwrap())
    }

    fn seconds(script: &Script) -> u64 {
        (script.pause * u32::try_from(script.lines.len()).unwrap()).as_secs()
    }

    #[test]
    fn every_prompt_of_the_checks_is_answered() {
        let system = json!({"role": "system", "content": SUM});
        let ask = |text: &str| json!([system, {"role": "user", "content": [{"type": "text", "text": text}]}]);
        let (count, long) = (script(&ask(smoke::questions::COUNT)), script(&ask(LONG)));
        assert_eq!((count.lines.len(), seconds(&count)), (32, 1));
        assert_eq!((long.lines.len(), seconds(&long)), (302, 9));
        let call = script(&ask(SUM)).lines;
        assert!(call[0].contains(r#""name":"calculator""#) && call[2].contains(r#""finish_reason":"tool_calls""#));
        let called =
            json!([{"role": "user", "content": SUM}, {"role": "assistant"}, {"role": "tool", "content": "1591"}]);
        assert!(script(&called).lines[4].contains("1591"));
    }
}
