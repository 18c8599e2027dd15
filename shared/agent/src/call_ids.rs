use std::collections::{HashMap, HashSet};

use domain::{Message, ToolCall};

/// Maximum length of an id that every endpoint accepts, in bytes.
const MAX_ID_BYTES: usize = 40;

/// Makes the ids of the calls in one request unique and short.
///
/// Calls of different turns and models may have the same id, and endpoints reject ids that are repeated or long. Such a
/// call gets another id. An id depends on the messages before it only, because providers cache the beginning of a prompt:
/// of several calls with the same id, the oldest keeps it.
#[derive(Default)]
pub(crate) struct CallIds<'a> {
    used: HashSet<String>,
    /// The new id of the newest call with each old id.
    replaced: HashMap<&'a str, String>,
    count: usize,
}

impl<'a> CallIds<'a> {
    pub(crate) fn rewrite(&mut self, message: &'a Message) -> Message {
        match message {
            Message::User { .. } => message.clone(),
            Message::Assistant { text, thinking, calls, provider_data } => {
                let calls = calls.iter().map(|call| ToolCall { id: self.next(&call.id), ..call.clone() }).collect();
                let mut provider_data = provider_data.clone();
                if let Some(data) = &mut provider_data {
                    let new_id = |id: String| self.replaced.get(&*id).cloned().unwrap_or(id);
                    let signatures = std::mem::take(&mut data.call_signatures).into_iter();
                    data.call_signatures = signatures.map(|(id, signature)| (new_id(id), signature)).collect();
                }
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

    fn next(&mut self, id: &'a str) -> String {
        let mut new_id = id.to_owned();
        self.count += 1;
        while !(1..=MAX_ID_BYTES).contains(&new_id.len()) || !self.used.insert(new_id.clone()) {
            // Nine letters and digits: the strictest endpoint accepts no other form.
            new_id = format!("call{:05}", self.count);
            self.count += usize::from(self.used.contains(&new_id));
        }
        self.replaced.insert(id, new_id.clone());
        new_id
    }
}

#[cfg(test)]
mod tests {
    use domain::{ProviderData, ToolMessage};
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
        let mut ids = CallIds::default();
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
        assert_eq!(calls, ["call_1", "call00002", "call00003", "call00004"]);
        assert_eq!(results, calls);
    }

    #[test]
    fn ids_do_not_depend_on_later_calls() {
        let all = ["a", "a", "call00002", "b", "call00005", "", "a"];
        let (calls, results) = ids(&all);
        assert_eq!(calls, ["a", "call00002", "call00003", "b", "call00005", "call00006", "call00007"]);
        assert_eq!(results, calls);
        for end in 0..all.len() {
            assert_eq!(ids(&all[..end]).0, calls[..end]);
        }
    }

    #[test]
    fn signatures_follow_the_new_id_of_their_call() {
        let mut messages: Vec<Message> = [round("call_1"), round("call_1")].concat();
        if let Message::Assistant { provider_data, .. } = &mut messages[2] {
            let call_signatures = [("call_1".to_owned(), "s".to_owned())].into();
            *provider_data = Some(Box::new(ProviderData { call_signatures, ..ProviderData::default() }));
        }
        let mut ids = CallIds::default();
        ids.rewrite(&messages[0]);
        let Message::Assistant { calls, provider_data: Some(data), .. } = ids.rewrite(&messages[2]) else { panic!() };
        assert_eq!(calls[0].id, "call00002");
        assert_eq!(data.call_signatures.get(&calls[0].id).map(String::as_str), Some("s"));
    }
}
