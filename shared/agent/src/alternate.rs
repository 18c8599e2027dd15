use domain::Message;

/// Makes user and assistant take turns, which strict endpoints and chat templates insist on.
///
/// A turn that failed before its first word leaves a question without an answer: it is joined to the next one. A reply
/// without words and calls is left out.
pub(crate) fn alternate(messages: Vec<Message>) -> Vec<Message> {
    let mut turns: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match (turns.last_mut(), message) {
            (_, Message::Assistant { text, calls, .. }) if text.is_empty() && calls.is_empty() => {}
            (Some(Message::User { text: before }), Message::User { text }) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (_, message) => turns.push(message),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn assistant(text: &str) -> Message {
        Message::Assistant { text: text.into(), thinking: "hm".into(), calls: Vec::new() }
    }

    #[test]
    fn a_question_without_an_answer_is_joined_to_the_next() {
        let messages = vec![user("一"), assistant(""), user("二"), assistant("答"), user("三")];
        assert_eq!(alternate(messages), [user("一\n\n二"), assistant("答"), user("三")]);
    }
}
