//! Runs all kinds of turns and counts their requests.

use serde_json::{Value, json};
use support::Gate;

use crate::counts::{Counts, DurationCounts, Turn, to_float};
use crate::kinds::{EarlierTurns, KINDS, Kind, ScriptedReply};
use crate::{CountedRequest, Product, Request, script};

/// An idempotency key, as the page creates one for each question.
const IDEMPOTENCY_KEY: &str = "01940000-0000-7000-8000-000000000000";

/// Counts all kinds.
pub async fn measure() -> Counts {
    let mut counts = Counts::default();
    for kind in &KINDS {
        let (of_time, turn) = Box::pin(count_kind(kind)).await;
        if kind.is_slow() {
            counts.while_it_runs = count_duration_requests(&of_time);
        }
        counts.turns.insert(kind.name.to_owned(), turn);
    }
    counts
}

/// Runs a kind of turn; returns the requests that depend on the duration, which a slow machine may cause in any kind, and
/// the counts of all other requests.
async fn count_kind(kind: &Kind) -> (Vec<CountedRequest>, Turn) {
    let (seen, turn) = Box::pin(run(kind)).await;
    let (of_time, others) = separate_by_duration(seen);
    let mut requests: Vec<Request> = others.into_iter().map(|seen| seen.request).collect();
    requests.sort_by(|one, other| one.partial_cmp(other).expect("units are numbers"));
    (of_time, Turn { requests, ..turn })
}

/// Separates the requests that depend on the duration from the rest. The end of a log is part of the transaction that
/// stores the answer.
fn separate_by_duration(seen: Vec<CountedRequest>) -> (Vec<CountedRequest>, Vec<CountedRequest>) {
    let (mut of_time, mut others): (Vec<_>, Vec<_>) =
        seen.into_iter().partition(|seen| seen.request.depends_on_duration());
    of_time.extend(others.iter_mut().filter_map(CountedRequest::split_off_log_end));
    (of_time, others)
}

async fn run(kind: &Kind) -> (Vec<CountedRequest>, Turn) {
    let mut product = Product::start().await;
    product.search.respond_with(script::search_response);
    let conversation = run_earlier_turns(&product, kind).await;
    if kind.new_instance {
        product.restart().await;
    }
    product.tables.take();
    product.take_log();
    let before = product.outgoing_totals();
    let body = run_turn(&product, kind, kind.replies, conversation.as_deref()).await;
    let seen = product.tables.take();
    let turn = Turn {
        bytes_stored: seen
            .iter()
            .flat_map(|seen| &seen.written_items)
            .map(|item| to_float(item.permanent_bytes()))
            .sum(),
        searches: to_float(product.search.requests().len() - before.searches),
        bytes_requested: to_float(product.outgoing_totals().bytes - before.bytes),
        bytes_out: to_float(body.len()),
        ..Turn::from_log(&product.take_log())
    };
    (seen, turn)
}

/// Runs the turns before the counted one; returns their conversation.
async fn run_earlier_turns(product: &Product, kind: &Kind) -> Option<String> {
    let mut conversation = None;
    match kind.earlier_turns {
        EarlierTurns::Nothing => {}
        EarlierTurns::Other(replies) => _ = run_turn(product, kind, replies, None).await,
        EarlierTurns::Turns(turns, replies) => {
            for _ in 0..turns {
                let response = run_turn(product, kind, replies, conversation.as_deref()).await;
                conversation = Some(conversation_id(&response));
            }
        }
    }
    conversation
}

/// Runs a turn to its end and returns the response body.
async fn run_turn(product: &Product, kind: &Kind, replies: &[ScriptedReply], conversation: Option<&str>) -> Vec<u8> {
    let gate = Gate::new();
    product.model.queue_replies(replies.iter().map(|reply| script::reply(*reply, &gate)));
    let message = json!({ "role": "user", "content": script::QUESTION });
    let (path, body) = if kind.stored {
        ("/api/chat", json!({ "message": script::QUESTION, "conversationId": conversation }))
    } else {
        ("/v1/chat/completions", json!({ "model": "openai", "stream": true, "messages": [message] }))
    };
    let key = kind.has_key.then_some(IDEMPOTENCY_KEY);
    let waiting = async {
        if replies.iter().any(|reply| matches!(reply, ScriptedReply::SlowPieces(_))) {
            product.tables.wait_for(|request| request.depends_on_duration() && request.operation == "UpdateItem").await;
            product
                .tables
                .wait_for(|request| request.depends_on_duration() && request.operation == "BatchWriteItem")
                .await;
        }
        gate.open();
    };
    let (answer, ()) = tokio::join!(product.post(path, &body, key), waiting);
    answer.body
}

/// Returns the conversation id of an event stream.
fn conversation_id(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let start = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("a turn has a first event");
    let start: Value = serde_json::from_str(start).expect("events are JSON");
    start["conversationId"].as_str().expect("a start names its conversation").to_owned()
}

fn count_duration_requests(seen: &[CountedRequest]) -> DurationCounts {
    let first = |operation: &str| {
        let found = seen.iter().find(|seen| seen.request.operation == operation);
        found.expect("a slow turn makes it").request.clone()
    };
    let logs: Vec<_> = seen.iter().flat_map(|seen| log_items(&seen.body)).collect();
    let events: Vec<usize> = logs.iter().flat_map(|(_, events)| events).copied().collect();
    let mean = |sizes: &[usize]| {
        assert!(!sizes.is_empty(), "a slow turn is logged, and pieces of its answer are found there");
        (to_float(sizes.iter().sum()) / to_float(sizes.len())).round()
    };
    DurationCounts {
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

    fn committed_requests(name: &str) -> Vec<Request> {
        let mut counts: Counts = serde_json::from_str(include_str!("../counts.json")).expect("the counts are JSON");
        counts.turns.remove(name).expect("it was counted").requests
    }

    #[tokio::test]
    async fn slow_turn_counts_like_a_quick_one() {
        for name in [crate::DEFAULT_KIND, "tenth turn"] {
            let kind = KINDS.iter().find(|kind| kind.name == name).expect("it is a kind");
            let (of_time, turn) =
                Box::pin(count_kind(&Kind { replies: &[ScriptedReply::SlowPieces(300)], ..*kind })).await;
            assert_eq!(turn.requests, committed_requests(name), "{name}");
            let logs: Vec<_> = of_time.iter().filter(|seen| seen.request.is_log_write()).collect();
            let ends = logs.iter().filter(|seen| seen.request.operation == "TransactWriteItems").count();
            assert!(ends == 1 && logs.len() > 1, "{name}: {logs:?}");
        }
    }
}
