//! Replies of the model, split into two deltas at every position and into single characters.

use futures_util::StreamExt;
use support::{Completion, ModelRequest, Reply, TestApp, Transcript};

/// The number of concurrent turns.
const AT_ONCE: usize = 8;

/// Runs a turn for every split of every text; `check` gets the text, the split as a label, and the turn.
///
/// The user's message names a text and a split, so that turns may run in any order. The model answers results with
/// `晴。`.
pub(crate) async fn every_cut(texts: &'static [&'static str], check: impl Fn(&str, &str, &Transcript)) {
    let app = TestApp::start().await;
    app.model.answer(|request| scripted(texts, request));
    let questions =
        texts.iter().enumerate().flat_map(|(n, text)| cuts(text).map(move |cut| (*text, format!("{n}/{cut}"))));
    let turns = futures_util::stream::iter(questions).map(|(text, question)| {
        let client = app.client();
        async move { (text, client.ask(&question).await, question) }
    });
    turns.buffer_unordered(AT_ONCE).for_each(async |(text, turn, question)| check(text, &question, &turn)).await;
}

fn cuts(text: &'static str) -> impl Iterator<Item = String> {
    text.char_indices().map(|(at, _)| at.to_string()).chain(["each".to_owned()])
}

fn scripted(texts: &[&str], request: &ModelRequest) -> Reply {
    if request.brings_results() {
        return Completion::of(["晴。"]);
    }
    let question = request.last();
    let (text, cut) = question.split_once('/').unwrap();
    let text = texts[text.parse::<usize>().unwrap()];
    match cut {
        "each" => Completion::of(text.chars().map(String::from)),
        at => {
            let (before, after) = text.split_at(at.parse().unwrap());
            Completion::of([before, after])
        }
    }
}
