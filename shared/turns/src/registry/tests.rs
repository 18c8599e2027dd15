use std::time::Duration;

use domain::EventBatch;
use tokio::time::timeout;

use super::*;

#[test]
fn stored_turn_is_not_stopped_and_spares_successor() {
    let (registry, owner) = (TurnRegistry::default(), Owner::new("ada"));
    let register = |turn: &str| registry.guard(&owner, "c", turn, &EventLog::default());
    let first = register("1");
    assert!(registry.stop(&owner, "c", None) && first.stop.is_cancelled());
    first.mark_stored();
    assert!(!registry.stop(&owner, "c", None));
    let second = register("2");
    assert!(!registry.stop(&owner, "c", Some("1")) && !second.stop.is_cancelled());
    first.mark_stored();
    drop(first);
    assert!(registry.stop(&owner, "c", None) && second.stop.is_cancelled());
    drop(second);
    assert!(!registry.stop(&owner, "c", None));
}

/// The events of a turn that runs on its own task, read by a subscriber that waits for each.
async fn run(turn: impl FnOnce(EventLog) -> futures_util::future::BoxFuture<'static, ()>) -> Vec<Event> {
    let (registry, events) = (TurnRegistry::default(), EventLog::default());
    let mut subscriber = events.subscribe(0);
    registry.spawn(turn(events.clone()), events);
    let all = async {
        let mut all = EventBatch::new();
        while let Some(batch) = subscriber.next().await {
            all.extend(batch);
        }
        all.to_vec()
    };
    timeout(Duration::from_secs(20), all).await.unwrap()
}

fn done() -> Event {
    Event::End(Ok(domain::FinishReason::Stop))
}

#[tokio::test]
async fn f096_turn_runs_to_its_end_without_a_subscriber() {
    let (registry, events) = (TurnRegistry::default(), EventLog::default());
    drop(events.subscribe(0));
    let turn = {
        let events = events.clone();
        async move { events.send(done()) }
    };
    registry.spawn(turn, events.clone());
    timeout(Duration::from_secs(20), registry.shut_down()).await.unwrap();
    assert!(events.has_ended());
}

#[tokio::test]
async fn panic_before_the_end_is_one_error_event() {
    let all = run(|_| Box::pin(async { panic!("a panic in a turn") })).await;
    assert_eq!(all, [Event::End(Err(Box::new(ErrorCode::Internal.into())))]);
}

#[tokio::test]
async fn panic_after_the_end_adds_no_event() {
    let all = run(|events| {
        Box::pin(async move {
            events.send(done());
            panic!("a panic after the end");
        })
    });
    assert_eq!(all.await, [done()]);
}
