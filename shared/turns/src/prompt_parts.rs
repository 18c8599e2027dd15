use domain::{Attachment, HistoryTurn, Message};
use store::{drop_open_calls, pair_calls, results_as_message};

/// Splits a conversation at its last message of the user: the turns before that, its text and files, and the messages
/// after it.
///
/// The input is that message, or what a client has sent instead: results of calls with which the history ends, or several
/// messages. Calls without a result are left out.
pub(crate) fn prompt_parts(
    mut history: Vec<HistoryTurn>,
    mut input: Vec<Message>,
) -> (Vec<HistoryTurn>, (String, Vec<Attachment>), Vec<Message>) {
    if history.is_empty() {
        results_as_message(&mut input);
    }
    let has_results = matches!(input.first(), Some(Message::Tool(_)));
    let mut messages = match history.last_mut() {
        Some(_) if has_results => history.pop().map(|last| last.messages).unwrap_or_default(),
        Some(last) => {
            drop_open_calls(&mut last.messages);
            Vec::new()
        }
        None => Vec::new(),
    };
    messages.extend(input);
    let question = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or_default();
    let mut since = messages.split_off(question).into_iter();
    let question = since.next().and_then(|message| match message {
        Message::User { text, attachments } => Some((text, attachments)),
        Message::Assistant { .. } | Message::Tool(_) => None,
    });
    if !messages.is_empty() {
        let seq = history.last().map_or(0, |last| last.seq) + 1;
        history.push(HistoryTurn { seq, messages: pair_calls(&messages, false) });
    }
    (history, question.unwrap_or_default(), pair_calls(&since.collect::<Vec<_>>(), false))
}

#[cfg(test)]
mod tests {
    use domain::{ToolCall, ToolMessage};

    use super::*;

    fn user(text: &str) -> Message {
        Message::user(text)
    }

    fn assistant(text: &str, ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "f".into(), arguments: serde_json::json!({}) };
        let calls = ids.iter().map(call).collect();
        Message::Assistant { text: text.to_owned(), thinking: String::new(), calls, provider_data: None }
    }

    fn result(id: &str) -> Message {
        Message::Tool(ToolMessage { call_id: id.to_owned(), name: "f".into(), ok: true, content: "r".into() })
    }

    fn turns(messages: &[Vec<Message>]) -> Vec<HistoryTurn> {
        let turn = |(index, messages): (usize, &Vec<Message>)| HistoryTurn {
            seq: index as u64 + 1,
            messages: messages.clone(),
        };
        messages.iter().enumerate().map(turn).collect()
    }

    #[test]
    fn results_follow_the_last_turn_of_the_history() {
        let history = turns(&[vec![user("1"), assistant("a", &[])], vec![user("2"), assistant("", &["x", "y"])]]);
        let (before, (text, _), since) = prompt_parts(history.clone(), vec![result("x")]);
        assert_eq!((before, text.as_str()), (turns(&[vec![user("1"), assistant("a", &[])]]), "2"));
        assert_eq!(since, [assistant("", &["x"]), result("x")], "a call without a result is left out");
        let (before, (text, _), since) = prompt_parts(history, vec![user("3")]);
        let expected = turns(&[vec![user("1"), assistant("a", &[])], vec![user("2")]]);
        assert_eq!((before, text.as_str(), since), (expected, "3", Vec::new()));
    }

    #[test]
    fn results_without_their_calls_are_a_message() {
        let (before, (text, _), since) = prompt_parts(Vec::new(), vec![result("x"), result("y")]);
        assert_eq!((before, text.as_str(), since), (Vec::new(), "r\n\nr", Vec::new()));
    }

    #[test]
    fn several_messages_are_a_turn_and_a_question() {
        let input = vec![user("1"), assistant("a", &["x"]), result("x"), user("2"), assistant("", &["y"]), result("y")];
        let (before, (text, _), since) = prompt_parts(Vec::new(), input.clone());
        assert_eq!((before, text.as_str(), since), (turns(&[input[..3].to_vec()]), "2", input[4..].to_vec()));
    }
}
