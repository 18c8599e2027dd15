//! Runs all kinds of turns and counts their requests.

use serde_json::{Value, json};
use support::Gate;

use crate::counts::{Counts, Turn, WhileItRuns, number};
use crate::kinds::{Before, KINDS, Kind, Said};
use crate::{Product, Request, Seen, script};

/// An idempotency key, as the page creates one for each question.
const KEY: &str = "01940000-0000-7000-8000-000000000000";

/// Counts all kinds.
pub async fn measure() -> Counts {
    let mut counts = Counts::default();
    for kind in &KINDS {
        let (of_time, turn) = Box::pin(counted(kind)).await;
        if kind.is_slow() {
            counts.while_it_runs = while_it_runs(&of_time);
        }
        counts.turns.insert(kind.name.to_owned(), turn);
    }
    counts
}

/// Runs a kind of turn; returns the requests that depend on the duration, which a slow machine may cause in any kind, and
/// the counts of all other requests.
async fn counted(kind: &Kind) -> (Vec<Seen>, Turn) {
    let (seen, turn) = Box::pin(run(kind)).await;
    let (of_time, others) = parted(seen);
    let mut requests: Vec<Request> = others.into_iter().map(|seen| seen.request).collect();
    requests.sort_by(|one, other| one.partial_cmp(other).expect("units are numbers"));
    (of_time, Turn { requests, ..turn })
}

/// Separates the requests that depend on the duration from the rest. The end of a log is part of the transaction that
/// stores the answer.
fn parted(seen: Vec<Seen>) -> (Vec<Seen>, Vec<Seen>) {
    let (mut of_time, mut others): (Vec<_>, Vec<_>) = seen.into_iter().partition(|seen| seen.request.is_of_time());
    of_time.extend(others.iter_mut().filter_map(Seen::end_of_log));
    (of_time, others)
}

async fn run(kind: &Kind) -> (Vec<Seen>, Turn) {
    let mut product = Product::start().await;
    product.search.answer(script::found);
    let conversation = before(&product, kind).await;
    if kind.new_instance {
        product.renew().await;
    }
    product.tables.take();
    product.logged();
    let asked = product.asked();
    let body = ask(&product, kind, kind.replies, conversation.as_deref()).await;
    let seen = product.tables.take();
    let turn = Turn {
        bytes_stored: seen.iter().flat_map(|seen| &seen.written).map(|item| number(item.kept())).sum(),
        searches: number(product.search.requests().len() - asked.searches),
        bytes_asked: number(product.asked().bytes - asked.bytes),
        bytes_out: number(body.len()),
        ..Turn::logged(&product.logged())
    };
    (seen, turn)
}

/// Runs the turns before the counted one; returns their conversation.
async fn before(product: &Product, kind: &Kind) -> Option<String> {
    let mut conversation = None;
    match kind.before {
        Before::Nothing => {}
        Before::TheSame => _ = ask(product, kind, kind.replies, None).await,
        Before::Turns(turns, replies) => {
            for _ in 0..turns {
                let told = ask(product, kind, replies, conversation.as_deref()).await;
                conversation = Some(started(&told));
            }
        }
    }
    conversation
}

/// Runs a turn to its end and returns the response body.
async fn ask(product: &Product, kind: &Kind, replies: &[Said], conversation: Option<&str>) -> Vec<u8> {
    let gate = Gate::new();
    product.model.replies(replies.iter().map(|said| script::reply(*said, &gate)));
    let message = json!({ "role": "user", "content": script::QUESTION });
    let (path, body) = if kind.stored {
        ("/api/chat", json!({ "message": script::QUESTION, "conversationId": conversation }))
    } else {
        ("/v1/chat/completions", json!({ "model": "openai", "stream": true, "messages": [message] }))
    };
    let key = kind.has_key.then_some(KEY);
    let waiting = async {
        if replies.iter().any(|said| matches!(said, Said::Slowly(_))) {
            product.tables.until(|request| request.is_of_time() && request.operation == "UpdateItem").await;
            product.tables.until(|request| request.is_of_time() && request.operation == "BatchWriteItem").await;
        }
        gate.open();
    };
    let (answer, ()) = tokio::join!(product.post(path, &body, key), waiting);
    answer.body
}

/// Returns the conversation id of an event stream.
fn started(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let start = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("a turn has a first event");
    let start: Value = serde_json::from_str(start).expect("events are JSON");
    start["conversationId"].as_str().expect("a start names its conversation").to_owned()
}

fn while_it_runs(seen: &[Seen]) -> WhileItRuns {
    let first = |operation: &str| {
        let found = seen.iter().find(|seen| seen.request.operation == operation);
        found.expect("a slow turn makes it").request.clone()
    };
    let logs: Vec<_> = seen.iter().flat_map(|seen| log_items(&seen.question)).collect();
    let events: Vec<usize> = logs.iter().flat_map(|(_, events)| events).copied().collect();
    let mean = |sizes: &[usize]| {
        assert!(!sizes.is_empty(), "a slow turn is logged, and pieces of its answer are found there");
        (number(sizes.iter().sum()) / number(sizes.len())).round()
    };
    WhileItRuns {
        renewal: first("UpdateItem"),
        log_item_bytes: mean(&logs.iter().map(|(size, _)| *size).collect::<Vec<_>>()),
        log_event_bytes: mean(&events),
    }
}

/// Returns the log items of a request: the bytes of each without its events, and those of each delta.
fn log_items(question: &Value) -> Vec<(usize, Vec<usize>)> {
    let tables = question["RequestItems"].as_object().into_iter().flatten();
    let puts = tables.filter_map(|(_, puts)| puts.as_array()).flatten();
    let item = |put: &Value| {
        let item = &put["PutRequest"]["Item"];
        let events = item["events"]["S"].as_str()?;
        let whole = dynoxide::types::item_size(&serde_json::from_value(item.clone()).ok()?);
        // Consecutive deltas are a list on one line, separated by commas.
        let texts = events.split('\n').filter_map(|line| serde_json::from_str::<Vec<String>>(line).ok()).flatten();
        let pieces = texts.map(|text| Value::from(text).to_string().len() + 1);
        Some((whole - events.len(), pieces.collect()))
    };
    puts.filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed(name: &str) -> Vec<Request> {
        let mut counts: Counts = serde_json::from_str(include_str!("../counts.json")).expect("the counts are JSON");
        counts.turns.remove(name).expect("it was counted").requests
    }

    #[tokio::test]
    async fn slow_turn_counts_like_a_quick_one() {
        for name in [crate::USUAL, "tenth turn"] {
            let kind = KINDS.iter().find(|kind| kind.name == name).expect("it is a kind");
            let (of_time, turn) = Box::pin(counted(&Kind { replies: &[Said::Slowly(300)], ..*kind })).await;
            assert_eq!(turn.requests, committed(name), "{name}");
            let logs: Vec<_> = of_time.iter().filter(|seen| seen.request.is_a_log()).collect();
            let ends = logs.iter().filter(|seen| seen.request.operation == "TransactWriteItems").count();
            assert!(ends == 1 && logs.len() > 1, "{name}: {logs:?}");
        }
    }
}
