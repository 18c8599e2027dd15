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
