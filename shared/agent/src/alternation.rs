use domain::Message;

/// Makes user and assistant messages alternate, as strict endpoints and chat templates require.
///
/// A turn that failed before its first delta leaves a user message without an answer: it is joined to the next one. A
/// reply without text and calls is dropped.
pub(crate) fn enforce_alternation(messages: Vec<Message>) -> Vec<Message> {
    let mut alternating: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match (alternating.last_mut(), message) {
            (_, Message::Assistant { text, calls, .. }) if text.is_empty() && calls.is_empty() => {}
            (Some(Message::User { text: before }), Message::User { text }) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (_, message) => alternating.push(message),
        }
    }
    alternating
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn assistant(text: &str) -> Message {
        Message::Assistant { text: text.into(), thinking: "hm".into(), calls: Vec::new(), provider_data: None }
    }

    #[test]
    fn unanswered_user_message_is_joined_to_next() {
        let messages = vec![user("一"), assistant(""), user("二"), assistant("答"), user("三")];
        assert_eq!(enforce_alternation(messages), [user("一\n\n二"), assistant("答"), user("三")]);
    }
}
