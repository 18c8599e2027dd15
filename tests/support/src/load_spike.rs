use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use futures_util::future::join_all;
use serde_json::json;

use crate::{Client, Completion, FakeModel, MODEL, ModelRequest, Reply, Transcript};

/// The name of the model that fails.
const PRIMARY_MODEL: &str = "first";

/// The name of the fallback model.
const FALLBACK_MODEL: &str = "second";

/// The number of deltas in an answer.
const DELTAS_PER_ANSWER: u64 = 40;

/// One turn in this many meets a fault.
const TURNS_PER_FAULT: u64 = 20;

/// A load spike: many concurrent turns with distinct answers, of which one in twenty meets a model fault.
///
/// A retry recovers from a fault before the first token. A second model continues an answer that breaks off. Every
/// answer must therefore be complete.
pub struct LoadSpike {
    first: FakeModel,
    second: FakeModel,
}

impl LoadSpike {
    /// Starts both models.
    pub async fn start() -> Self {
        let (first, second) = (FakeModel::start().await, FakeModel::start().await);
        let attempts: Mutex<HashMap<u64, u64>> = Mutex::default();
        first.respond_with(move |request| {
            let turn = turn_number(request);
            let mut attempts = attempts.lock().expect("no answer panics");
            let attempt = attempts.entry(turn).or_default();
            *attempt += 1;
            if *attempt == 1 && turn.is_multiple_of(TURNS_PER_FAULT) {
                faulty_reply(turn)
            } else {
                Completion::of(deltas(turn))
            }
        });
        second.respond_with(|request| Completion::of([continuation(request)]));
        Self { first, second }
    }

    /// The settings of the product for both models.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let model = |name, model: &FakeModel, fallback: Option<&str>| {
            let mut row =
                json!({ "name": name, "baseUrl": model.url(), "apiKeyVar": "OPENAI_API_KEY", "model": MODEL });
            if let Some(fallback) = fallback {
                row["fallback"] = fallback.into();
            }
            row
        };
        let models =
            json!([model(PRIMARY_MODEL, &self.first, Some(FALLBACK_MODEL)), model(FALLBACK_MODEL, &self.second, None)]);
        vec![
            ("MODELS", models.to_string()),
            ("DEFAULT_MODEL", PRIMARY_MODEL.to_owned()),
            // A stalled answer must not delay its turn for long.
            ("MODEL_IDLE_SECONDS", "3".to_owned()),
        ]
    }

    /// Runs these turns concurrently and checks each answer; returns how many turns met a fault.
    pub async fn run(&self, client: &Client, turns: Range<u64>) -> usize {
        let answers = turns.clone().map(async |turn| (turn, client.send_message(&format!("turn {turn}")).await));
        for (turn, transcript) in join_all(answers).await {
            assert_complete(turn, &transcript);
        }
        turns.filter(|turn| turn.is_multiple_of(TURNS_PER_FAULT)).count()
    }
}

fn assert_complete(turn: u64, transcript: &Transcript) {
    assert_eq!(transcript.content(), deltas(turn).concat(), "turn {turn}: {:?}", transcript.end());
    assert_eq!(transcript.finish_reason(), "stop", "turn {turn}: {:?}", transcript.end());
}

/// The deltas of a turn's answer; no two deltas of any turns are equal.
fn deltas(turn: u64) -> Vec<String> {
    (0..DELTAS_PER_ANSWER).map(|piece| format!("第{turn}轮的第{piece}句话说完了。")).collect()
}

/// The number of the turn that a request belongs to.
fn turn_number(request: &ModelRequest) -> u64 {
    let question = request.dialogue().into_iter().next().unwrap_or_default().1;
    question.strip_prefix("turn ").and_then(|number| number.parse().ok()).expect("a question names its turn")
}

/// The reply to the first attempt of a faulty turn.
fn faulty_reply(turn: u64) -> Reply {
    let half = || {
        let deltas = deltas(turn);
        deltas[..deltas.len() / 2].iter().fold(Completion::new(), |stream, piece| stream.text(piece))
    };
    let overloaded = json!({ "error": { "code": "ServerOverloaded", "message": "busy" } });
    match turn / TURNS_PER_FAULT % 9 {
        0 => Reply::json(503, &overloaded),
        1 => Reply::reset_before_head(),
        2 => Reply::json(429, &overloaded).header("retry-after", "0"),
        3 => Reply::status(200).header("content-type", "text/event-stream"),
        4 => half().reply().disconnect(),
        5 => half().reply().reset(),
        6 => half().data(&overloaded.to_string()).reply(),
        7 => half().reply().until_close(),
        _ => half().reply().stall(),
    }
}

/// The second model's continuation: like real models, it first repeats the last 10 characters.
fn continuation(request: &ModelRequest) -> String {
    let whole = deltas(turn_number(request)).concat();
    let messages = request.body["messages"].as_array().into_iter().flatten();
    let mut answers =
        messages.filter(|message| message["role"] == "assistant").filter_map(|message| message["content"].as_str());
    let partial = answers.next_back().unwrap_or_default();
    assert!(whole.starts_with(partial), "the partial answer is sent unchanged: {partial:?}");
    let repeated = partial.char_indices().rev().nth(9).map_or(0, |(at, _)| at);
    whole[repeated..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_turns_share_a_delta() {
        let all: Vec<String> = (0..3).flat_map(deltas).collect();
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
