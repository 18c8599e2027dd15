//! Ids of frames as positions: a stream continues from memory, the log or the answer, at any of them.

use serde_json::{Value, json};
use support::{Completion, Gate};

use crate::resume::{TwoInstances, gated_answer, read_frames, resume_frames};
use crate::search_call;

/// What a client has received, however it was divided: the texts, the calls, and the other events.
fn received(frames: &[(String, Value)]) -> (String, String, Vec<Value>) {
    let text = |kind: &str| frames.iter().filter_map(|(_, event)| event[kind].as_str()).collect();
    let others = frames.iter().map(|(_, event)| event).filter(|event| event["content"].is_null());
    let mut others: Vec<Value> = others.filter(|event| event["thinking"].is_null()).cloned().collect();
    for event in &mut others {
        if event["type"] == "tool_result" {
            // The stored answer does not hold when a result arrived, and which pages it found.
            (event["cached"], event["durationMs"], event["sources"]) = (true.into(), 0.into(), Value::Null);
        }
    }
    others.sort_by_key(|event| (event["type"] == "tool_result").then(|| event["id"].to_string()));
    (text("thinking"), text("content"), others)
}

#[tokio::test]
async fn rebuilt_turn_continues_at_any_position() {
    let two = TwoInstances::start().await;
    let calls = || Completion::of([search_call("茶"), search_call("水")]);
    let (gate, answer) = (Gate::new(), || Completion::new().thinking("想🍵").text("一。").text("\"二\n"));
    two.first.model.queue_replies([calls(), answer().end(), calls(), answer().wait(&gate).text("三").end()]);
    let short = read_frames(two.first.open(&json!({ "message": "说" })).await).await;
    assert_eq!(two.database.event_writes(), 0, "only the answer has it");
    let id = short[0].1["conversationId"].as_str().unwrap().to_owned();
    let long = two.first.open(&json!({ "message": "再", "conversationId": id })).await;
    gate.wait_until_reached().await;
    two.database.wait_for_event_writes(1).await;
    gate.open();
    let long = read_frames(long).await;
    for all in [short, long] {
        for (at, (last, _)) in all.iter().enumerate() {
            for app in [&two.first, &two.second] {
                let (before, rest) = (&all[..=at], resume_frames(app, &id, Some(last)).await);
                assert_eq!(received(&[before, &rest].concat()), received(&all), "{last}");
            }
        }
    }
}

#[tokio::test]
async fn earlier_ids_continue_what_memory_and_log_hold() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    let (turn, id) = two.start_turn(gated_answer(&gate), &gate).await;
    let start = turn.last_id();
    two.database.wait_for_event_writes(1).await;
    gate.open();
    turn.read_to_end().await;
    let all = resume_frames(&two.first, &id, Some(&start)).await;
    let turn_id = start.rsplit_once('-').unwrap().0;
    for seen in 1..=all.len() {
        for app in [&two.first, &two.second] {
            let rest = resume_frames(app, &id, Some(&format!("{turn_id}-{seen}"))).await;
            assert_eq!(rest, all[seen - 1..], "{seen}");
        }
    }
    two.first.model.queue_replies([Completion::of(["短"])]);
    let short = read_frames(two.first.open(&json!({ "message": "短", "conversationId": id })).await).await;
    let seen = format!("{}-2", short[0].0.rsplit_once('-').unwrap().0);
    assert!(two.second.resume(&id, Some(&seen)).await.is_none(), "the client reads the conversation");
    assert_eq!(resume_frames(&two.first, &id, Some(&seen)).await, short[2..]);
}
