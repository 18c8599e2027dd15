//! Replies of the model, split into two deltas at every position and into single characters.

use futures_util::StreamExt;
use support::{Completion, ModelRequest, Reply, TestApp, Transcript};

/// The number of concurrent turns.
const CONCURRENT_TURNS: usize = 8;

/// Runs a turn for every split of every text; `check` gets the text, the split as a label, and the turn.
///
/// The user's message names a text and a split, so that turns may run in any order. The model answers results with
/// `晴。`.
pub(crate) async fn for_every_split(texts: &'static [&'static str], check: impl Fn(&str, &str, &Transcript)) {
    let app = TestApp::start().await;
    app.model.respond_with(|request| scripted_reply(texts, request));
    let questions =
        texts.iter().enumerate().flat_map(|(n, text)| splits(text).map(move |split| (*text, format!("{n}/{split}"))));
    let turns = futures_util::stream::iter(questions).map(|(text, question)| {
        let client = app.client();
        async move { (text, client.send_message(&question).await, question) }
    });
    turns
        .buffer_unordered(CONCURRENT_TURNS)
        .for_each(async |(text, turn, question)| check(text, &question, &turn))
        .await;
}

fn splits(text: &'static str) -> impl Iterator<Item = String> {
    text.char_indices().map(|(at, _)| at.to_string()).chain(["each".to_owned()])
}

fn scripted_reply(texts: &[&str], request: &ModelRequest) -> Reply {
    if request.has_tool_results() {
        return Completion::of(["晴。"]);
    }
    let question = request.last_message();
    let (text, split) = question.split_once('/').unwrap();
    let text = texts[text.parse::<usize>().unwrap()];
    match split {
        "each" => Completion::of(text.chars().map(String::from)),
        at => {
            let (before, after) = text.split_at(at.parse().unwrap());
            Completion::of([before, after])
        }
    }
}
