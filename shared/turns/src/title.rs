//! Titles of conversations: the beginning of the first message, until a model has written a better one.
//!
//! The request runs concurrently with the answer. It begins after the answer has, so that an endpoint that serves one
//! request after the other serves the answer first; what is not there at the end of the answer is dropped.

use std::pin::pin;
use std::time::Duration;

use agent::EventLog;
use domain::Event;
use llm::CallOptions;
use tokio::time::{Instant, timeout};

use crate::runner::TurnRunner;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 60;

/// How long a request waits for the beginning of the answer.
const HEAD_START: Duration = Duration::from_secs(1);

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The quotation marks that models write around titles.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('_', '_'),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];

/// What models write before titles.
const LABELS: &[&str] = &["title:", "标题:", "标题："];

/// A model's title for the conversation of a turn, which begins with `text`.
pub(crate) async fn request(runner: &TurnRunner<'_>, text: &str) -> Option<String> {
    let model = runner.agent.title_model.as_ref()?;
    // The answer may also take longer, or have failed.
    let _ = timeout(HEAD_START, begin_of_answer(runner.events)).await;
    let deadline = runner.deadline.min(Instant::now() + TIMEOUT);
    let options = CallOptions { is_optional: true, ..CallOptions::with_deadline(deadline) };
    let reply = agent::request_title(model, text, runner.language, runner.owner, runner.events, options).await;
    let title = reply.as_deref().and_then(clean);
    if title.is_none() {
        tracing::info!(model = model.config().name, "there is no title by a model");
    }
    title
}

/// Runs an answer to its end, and returns the title if it is there by then.
pub(crate) async fn with_title<T>(
    answer: impl Future<Output = T>,
    title: impl Future<Output = Option<String>>,
) -> (T, Option<String>) {
    let (mut answer, mut title) = (pin!(answer), pin!(title));
    tokio::select! {
        biased;
        title = &mut title => (answer.await, title),
        ended = &mut answer => (ended, None),
    }
}

/// Waits for the first event of the answer.
async fn begin_of_answer(events: &EventLog) {
    let (mut subscriber, mut has_begun) = (events.subscribe(0), false);
    while !has_begun
        && subscriber.for_each_new(|event| has_begun |= !matches!(event, Event::Started(_))).await.is_some()
    {}
}

/// A title from the beginning of a user message, on one line.
pub(crate) fn of_message(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_TITLE {
        return line;
    }
    let mut title: String = line.chars().take(MAX_TITLE - 1).collect();
    title.truncate(title.trim_end().len());
    title.push('…');
    title
}

/// The title in a model's reply: its first line with text, without labels, quotation marks and Markdown.
fn clean(reply: &str) -> Option<String> {
    let clean_line = |line: &str| {
        let is_dropped = |character: &char| character.is_control() || matches!(character, '*' | '`');
        let line: String = line.chars().filter(|character| !is_dropped(character)).collect();
        let line = line.trim_start_matches(['#', '>', '-', ' ']);
        let label =
            LABELS.iter().find(|label| line.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label)));
        of_message(unquote(&line[label.map_or(0, |label| label.len())..]))
    };
    reply.lines().map(clean_line).find(|title| !title.is_empty())
}

/// A line without the quotation marks around all of it, and without the period at its end.
fn unquote(line: &str) -> &str {
    let line = line.trim().trim_end_matches(['.', '。']).trim_end();
    let quoted = |(open, close): &(char, char)| line.strip_prefix(*open)?.strip_suffix(*close);
    match QUOTES.iter().find_map(|marks| quoted(marks).filter(|text| !text.contains([marks.0, marks.1]))) {
        Some(text) => unquote(text),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_the_beginning_of_the_message() {
        assert_eq!(of_message("  今天\n天气  怎么样？ "), "今天 天气 怎么样？");
        let long = of_message(&"word ".repeat(50));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with("word…"));
    }

    #[test]
    fn title_of_a_reply_is_plain_text() {
        for (reply, title) in [
            ("北京的天气", "北京的天气"),
            ("\n\n\"Weather in Beijing\"\nIt is sunny.", "Weather in Beijing"),
            ("# **Title:** `Rust` traits.", "Rust traits"),
            ("标题：《长城》的历史。", "《长城》的历史"),
            ("> 《“长城”》", "长城"),
            ("\"a\" and \"b\"", "\"a\" and \"b\""),
            ("C#", "C#"),
            ("**标题：** “北京 天气”", "北京 天气"),
            ("What is C++?\t", "What is C++?"),
            ("- \u{7}a", "a"),
        ] {
            assert_eq!(clean(reply).as_deref(), Some(title), "{reply}");
        }
        for reply in ["", " \n ", "```\n```", "“”"] {
            assert_eq!(clean(reply), None, "{reply}");
        }
        assert_eq!(clean(&"长".repeat(500)).unwrap().chars().count(), MAX_TITLE);
    }
}
