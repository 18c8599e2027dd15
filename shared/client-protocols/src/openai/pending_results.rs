use std::collections::HashMap;

use domain::{Message, ToolCall, ToolMessage};

/// The calls of one message and the results received for them, each found by its id in constant time.
#[derive(Default)]
pub(super) struct PendingResults {
    names: Vec<String>,
    /// The positions of calls without a result, by id; the next one is at the end.
    open_positions: HashMap<String, Vec<usize>>,
    results: Vec<Option<Message>>,
    missing_count: usize,
}

impl PendingResults {
    /// Expects one result for each of these calls.
    pub(super) fn for_calls(calls: &[ToolCall]) -> Self {
        let mut open_positions: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, call) in calls.iter().enumerate().rev() {
            open_positions.entry(call.id.clone()).or_default().push(at);
        }
        let names = calls.iter().map(|call| call.name.clone()).collect();
        Self { names, open_positions, results: vec![None; calls.len()], missing_count: calls.len() }
    }

    /// Whether every call has its result.
    pub(super) fn are_complete(&self) -> bool {
        self.missing_count == 0
    }

    /// Adds the result of a call; `None` if no call with this id is open.
    pub(super) fn add(&mut self, id: String, content: String) -> Option<()> {
        let at = self.open_positions.get_mut(&id)?.pop()?;
        let name = std::mem::take(self.names.get_mut(at)?);
        *self.results.get_mut(at)? = Some(Message::Tool(ToolMessage { call_id: id, name, ok: true, content }));
        self.missing_count -= 1;
        Some(())
    }

    /// Takes the results in the order of their calls, independent of arrival order.
    pub(super) fn take_results(&mut self) -> impl Iterator<Item = Message> {
        std::mem::take(self).results.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: format!("f{id}"), arguments: serde_json::json!({}) }
    }

    #[test]
    fn results_follow_the_order_of_calls() {
        let mut results = PendingResults::for_calls(&[call("a"), call("b"), call("a")]);
        for (id, content) in [("b", "1"), ("a", "2"), ("a", "3")] {
            assert!(!results.are_complete());
            assert_eq!(results.add(id.to_owned(), content.to_owned()), Some(()));
        }
        assert!(results.are_complete());
        let ordered: Vec<_> = results
            .take_results()
            .map(|message| match message {
                Message::Tool(result) => (result.name, result.content),
                other => (format!("{other:?}"), String::new()),
            })
            .collect();
        let expected = [("fa", "2"), ("fb", "1"), ("fa", "3")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(ordered, expected);
    }

    #[test]
    fn result_without_open_call_is_rejected() {
        let mut results = PendingResults::for_calls(&[call("a")]);
        assert_eq!(results.add("b".to_owned(), String::new()), None);
        assert_eq!(results.add("a".to_owned(), String::new()), Some(()));
        assert_eq!(results.add("a".to_owned(), String::new()), None);
    }
}
