use futures_util::{FutureExt, StreamExt};

use super::*;

fn text(events: &EventLog, delta: &str) {
    events.send(Event::Delta(AnswerDelta::Text(delta.into())));
}

async fn all(subscriber: Subscriber) -> String {
    let batches: Vec<_> = subscriber.into_stream().collect().await;
    let deltas = batches.iter().flatten().map(|event| match event {
        Event::Delta(AnswerDelta::Text(delta)) => delta.as_str(),
        _ => "?",
    });
    deltas.collect()
}

#[tokio::test]
async fn subscribers_read_from_any_position_after_the_end() {
    let events = EventLog::default();
    let closing = events.close_guard();
    let early = tokio::spawn(all(events.subscribe(0)));
    for delta in ["a", "b", "c"] {
        text(&events, delta);
        tokio::task::yield_now().await;
    }
    let second = events.subscribe(1);
    drop(closing);
    assert_eq!(early.await.unwrap(), "abc");
    assert_eq!(all(second).await, "bc");
    assert_eq!(all(events.subscribe(0)).await, "abc");
    assert_eq!(all(events.subscribe(9)).await, "");
}

#[tokio::test]
async fn new_events_are_visited_once_until_the_end() {
    let events = EventLog::default();
    let (closing, mut subscriber, mut seen) = (events.close_guard(), events.subscribe(1), String::new());
    text(&events, "a");
    let mut visit = |subscriber: &mut Subscriber| {
        let visited = subscriber.for_each_new(|event| {
            let Event::Delta(AnswerDelta::Text(delta)) = event else { return };
            seen.push_str(delta);
        });
        (visited.now_or_never(), seen.clone())
    };
    assert_eq!(visit(&mut subscriber), (None, String::new()));
    text(&events, "b");
    text(&events, "c");
    assert_eq!(visit(&mut subscriber), (Some(Some(())), "bc".to_owned()));
    assert_eq!(visit(&mut subscriber), (None, "bc".to_owned()));
    text(&events, "d");
    drop(closing);
    assert_eq!(visit(&mut subscriber), (Some(Some(())), "bcd".to_owned()));
    assert_eq!(visit(&mut subscriber), (Some(None), "bcd".to_owned()));
}

#[tokio::test]
async fn ready_events_come_in_one_batch() {
    let events = EventLog::default();
    let mut subscriber = events.subscribe(0);
    text(&events, "a");
    text(&events, "b");
    assert_eq!(subscriber.next().await.unwrap().len(), 2);
}

#[tokio::test]
async fn f096_dropped_subscriber_does_not_stop_the_turn() {
    let events = EventLog::default();
    drop(events.subscribe(0));
    text(&events, "kept");
    assert_eq!(events.turn_state().answer.content, "kept");
}

#[tokio::test]
async fn text_beyond_the_limit_is_dropped() {
    let events = EventLog::default();
    let full = || events.wait_until_full().now_or_never();
    text(&events, &"é".repeat(MAX_ANSWER_BYTES / 2 - 1));
    text(&events, "a");
    assert_eq!(full(), None);
    text(&events, "é");
    assert_eq!((full(), events.turn_state().answer.content.len()), (Some(()), MAX_ANSWER_BYTES - 1));
    events.send(Event::Delta(AnswerDelta::Thinking("x".repeat(MAX_THINKING_BYTES + 1))));
    assert_eq!(events.turn_state().answer.thinking.len(), MAX_THINKING_BYTES);
    assert_eq!(events.count(), 3);
}

#[test]
fn excess_reasoning_does_not_end_the_answer() {
    let events = EventLog::default();
    for _ in 0..3 {
        events.send(Event::Delta(AnswerDelta::Thinking("é".repeat(MAX_THINKING_BYTES / 2))));
    }
    text(&events, "and the answer");
    assert_eq!((events.is_full(), events.turn_state().answer.content.as_str()), (false, "and the answer"));
    assert_eq!(events.turn_state().answer.thinking.len(), MAX_THINKING_BYTES);
}

#[tokio::test]
async fn f097_unread_subscriber_does_not_delay_the_turn() {
    let events = EventLog::default();
    let _unread = events.subscribe(0);
    (0..10_000).for_each(|_| text(&events, "x"));
    assert_eq!(events.turn_state().answer.content.len(), 10_000);
}
