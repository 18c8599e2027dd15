use std::collections::HashMap;

use domain::{Message, ToolCall};

/// The longest id that every endpoint takes, in bytes.
const LONGEST: usize = 40;

/// The ids of the calls in one request.
///
/// Calls of different turns and models may share theirs, and endpoints refuse ids that come twice or are long. Such a one
/// gets another id; of several equal ones the newest keeps it.
pub(crate) struct CallIds<'a> {
    /// How often each id is still to come.
    left: HashMap<&'a str, usize>,
    /// What stands for the ids of the calls so far.
    now: HashMap<&'a str, String>,
    count: usize,
}

impl<'a> CallIds<'a> {
    /// The ids of these messages, which are to be taken in turn.
    pub(crate) fn of(messages: &'a [Message]) -> Self {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for message in messages {
            if let Message::Assistant { calls, .. } = message {
                for call in calls {
                    *left.entry(&call.id).or_default() += 1;
                }
            }
        }
        Self { left, now: HashMap::new(), count: 0 }
    }

    /// The message with ids that fit.
    pub(crate) fn put_into(&mut self, message: &'a Message) -> Message {
        match message {
            Message::User { .. } => message.clone(),
            Message::Assistant { text, thinking, calls } => {
                let calls = calls.iter().map(|call| ToolCall { id: self.next(&call.id), ..call.clone() }).collect();
                Message::Assistant { text: text.clone(), thinking: thinking.clone(), calls }
            }
            Message::Tool(result) => {
                let mut result = result.clone();
                if let Some(id) = self.now.get(&*result.call_id) {
                    result.call_id.clone_from(id);
                }
                Message::Tool(result)
            }
        }
    }

    fn next(&mut self, id: &'a str) -> String {
        self.count += 1;
        let left = self.left.entry(id).or_default();
        *left = left.saturating_sub(1);
        let fits = *left == 0 && (1..=LONGEST).contains(&id.len());
        // Nine letters and digits: the strictest endpoint takes no other form.
        let id_now = if fits { id.to_owned() } else { format!("call{:05}", self.count) };
        self.now.insert(id, id_now.clone());
        id_now
    }
}

#[cfg(test)]
mod tests {
    use domain::ToolMessage;
    use serde_json::json;

    use super::*;

    fn round(id: &str) -> [Message; 2] {
        let call = ToolCall { id: id.into(), name: "f".into(), arguments: json!({}) };
        let result = ToolMessage { call_id: id.into(), name: "f".into(), ok: true, content: "r".into() };
        [Message::Assistant { text: String::new(), thinking: String::new(), calls: vec![call] }, Message::Tool(result)]
    }

    /// The ids of the calls and those of their results.
    fn ids(of: &[&str]) -> (Vec<String>, Vec<String>) {
        let messages: Vec<Message> = of.iter().flat_map(|id| round(id)).collect();
        let mut ids = CallIds::of(&messages);
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for message in messages.iter().map(|message| ids.put_into(message)) {
            match message {
                Message::Assistant { calls: made, .. } => calls.extend(made.into_iter().map(|call| call.id)),
                Message::Tool(result) => results.push(result.call_id),
                Message::User { .. } => {}
            }
        }
        (calls, results)
    }

    #[test]
    fn ids_stay_as_they_are_where_they_can() {
        let (calls, results) = ids(&["call_1", "search_web:0"]);
        assert_eq!(calls, ["call_1", "search_web:0"]);
        assert_eq!(results, calls);
    }

    #[test]
    fn an_id_that_comes_again_or_is_long_is_replaced_and_its_result_with_it() {
        let long = "x".repeat(41);
        let (calls, results) = ids(&["call_1", "call_1", &long, "call_1"]);
        assert_eq!(calls, ["call00001", "call00002", "call00003", "call_1"]);
        assert_eq!(results, calls);
    }
}
