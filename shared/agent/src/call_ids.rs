use std::collections::HashMap;

use domain::{Message, ProviderData, ToolCall};

/// Maximum length of an id that every endpoint accepts, in bytes.
const MAX_ID_BYTES: usize = 40;

/// Makes the ids of the calls in one request unique and short.
///
/// Calls of different turns and models may have the same id, and endpoints reject ids that are repeated or long. Such a
/// call gets another id; of several calls with the same id, the newest keeps it.
pub(crate) struct CallIds<'a> {
    /// How often each id occurs in the messages that remain.
    remaining: HashMap<&'a str, usize>,
    /// The new id of each call so far, by its old one.
    replaced: HashMap<&'a str, String>,
    count: usize,
}

impl<'a> CallIds<'a> {
    /// Counts the ids of these messages, which must then be passed to [`Self::rewrite`] in order.
    pub(crate) fn of(messages: &'a [Message]) -> Self {
        let mut remaining: HashMap<&str, usize> = HashMap::new();
        for message in messages {
            if let Message::Assistant { calls, .. } = message {
                for call in calls {
                    *remaining.entry(&call.id).or_default() += 1;
                }
            }
        }
        Self { remaining, replaced: HashMap::new(), count: 0 }
    }

    /// The message with its new ids.
    pub(crate) fn rewrite(&mut self, message: &'a Message) -> Message {
        match message {
            Message::User { .. } => message.clone(),
            Message::Assistant { text, thinking, calls, provider_data } => {
                let calls = calls.iter().map(|call| ToolCall { id: self.next(&call.id), ..call.clone() }).collect();
                let provider_data = provider_data.as_deref().map(|data| Box::new(self.rewrite_data(data)));
                Message::Assistant { text: text.clone(), thinking: thinking.clone(), calls, provider_data }
            }
            Message::Tool(result) => {
                let mut result = result.clone();
                if let Some(id) = self.replaced.get(&*result.call_id) {
                    result.call_id.clone_from(id);
                }
                Message::Tool(result)
            }
        }
    }

    /// The data with the new ids of its calls.
    fn rewrite_data(&self, data: &ProviderData) -> ProviderData {
        let new_id = |id: &String| self.replaced.get(&**id).unwrap_or(id).clone();
        let call_signatures = data.call_signatures.iter().map(|(id, signature)| (new_id(id), signature.clone()));
        ProviderData { call_signatures: call_signatures.collect(), ..data.clone() }
    }

    fn next(&mut self, id: &'a str) -> String {
        self.count += 1;
        let remaining = self.remaining.entry(id).or_default();
        *remaining = remaining.saturating_sub(1);
        let fits = *remaining == 0 && (1..=MAX_ID_BYTES).contains(&id.len());
        // Nine letters and digits: the strictest endpoint accepts no other form.
        let new_id = if fits { id.to_owned() } else { format!("call{:05}", self.count) };
        self.replaced.insert(id, new_id.clone());
        new_id
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
        [
            Message::Assistant { text: String::new(), thinking: String::new(), calls: vec![call], provider_data: None },
            Message::Tool(result),
        ]
    }

    /// The ids of the calls and those of their results.
    fn ids(of: &[&str]) -> (Vec<String>, Vec<String>) {
        let messages: Vec<Message> = of.iter().flat_map(|id| round(id)).collect();
        let mut ids = CallIds::of(&messages);
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for message in messages.iter().map(|message| ids.rewrite(message)) {
            match message {
                Message::Assistant { calls: made, .. } => calls.extend(made.into_iter().map(|call| call.id)),
                Message::Tool(result) => results.push(result.call_id),
                Message::User { .. } => {}
            }
        }
        (calls, results)
    }

    #[test]
    fn unique_short_ids_are_kept() {
        let (calls, results) = ids(&["call_1", "search_web:0"]);
        assert_eq!(calls, ["call_1", "search_web:0"]);
        assert_eq!(results, calls);
    }

    #[test]
    fn repeated_or_long_ids_change_with_their_results() {
        let long = "x".repeat(41);
        let (calls, results) = ids(&["call_1", "call_1", &long, "call_1"]);
        assert_eq!(calls, ["call00001", "call00002", "call00003", "call_1"]);
        assert_eq!(results, calls);
    }

    #[test]
    fn signatures_follow_the_new_id_of_their_call() {
        let mut messages: Vec<Message> = [round("call_1"), round("call_1")].concat();
        if let Message::Assistant { provider_data, .. } = &mut messages[0] {
            let call_signatures = [("call_1".to_owned(), "s".to_owned())].into();
            *provider_data = Some(Box::new(ProviderData { call_signatures, ..ProviderData::default() }));
        }
        let mut ids = CallIds::of(&messages);
        let Message::Assistant { calls, provider_data: Some(data), .. } = ids.rewrite(&messages[0]) else { panic!() };
        assert_eq!(data.call_signatures.get(&calls[0].id).map(String::as_str), Some("s"));
    }
}
