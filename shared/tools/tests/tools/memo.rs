//! Repeated and prefetched calls of a turn.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;

use crate::support::{Probe, call, named, session};

#[tokio::test]
async fn f051_coerced_arguments_equal_exact_ones() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    session.run(&named("probe", "1", json!({"behaviour": "answer", "count": "1"}))).await.unwrap();
    session.run(&named("probe", "2", json!({"behaviour": "answer", "count": 1}))).await.unwrap();
    assert_eq!(probe.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn f049_repeated_call_uses_memo_and_adds_note() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    session.run(&named("probe", "1", json!({"behaviour": "answer", "count": 1}))).await.unwrap();
    let again = session.run(&named("probe", "2", json!({"count": 1, "behaviour": "answer"}))).await.unwrap();
    assert_eq!(probe.runs.load(Ordering::SeqCst), 1);
    assert_eq!((again.report.id.as_str(), again.report.cached, again.credits), ("2", true, 0));
    assert!(
        again.result.content.starts_with("run 1 for ada\n（本轮已经用相同的参数调用过"),
        "{}",
        again.result.content
    );
}

#[tokio::test]
async fn f049_equal_concurrent_calls_share_one_run() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    probe.gate.notify_one();
    let (one, two) = (call("1", "wait"), call("2", "wait"));
    let (first, second) = tokio::join!(session.run(&one), session.run(&two));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(probe.runs.load(Ordering::SeqCst), 1);
    assert_eq!((first.report.cached, second.report.cached), (false, true));
    assert_eq!((first.credits, second.credits), (2, 0));
}

#[tokio::test]
async fn only_first_call_owns_the_prefetched_result() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    let (ahead, first, second) = (call("", "answer"), call("1", "answer"), call("2", "answer"));
    let (price, running) = session.prefetch(&ahead).unwrap();
    assert_eq!((price, running.await), (7, 2));
    let (first, second) = (session.run(&first).await.unwrap(), session.run(&second).await.unwrap());
    assert_eq!((first.prefetched, first.report.cached, first.credits), (true, false, 2));
    assert_eq!(first.result.content, "run 1 for ada");
    assert_eq!((second.prefetched, second.report.cached, second.credits), (false, true, 0));
    assert_eq!(probe.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn call_waits_for_its_running_prefetch() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    let wait = call("1", "wait");
    let (_, running) = session.prefetch(&wait).unwrap();
    let opening = async { probe.gate.notify_one() };
    let (credits, ran, ()) = tokio::join!(running, session.run(&wait), opening);
    let ran = ran.unwrap();
    assert_eq!((credits, ran.credits, ran.prefetched, probe.runs.load(Ordering::SeqCst)), (2, 2, true, 1));
}

#[tokio::test]
async fn failed_prefetch_is_retried_finished_call_is_not() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    let (fail, answer) = (call("1", "fail"), call("2", "answer"));
    assert_eq!(session.prefetch(&fail).unwrap().1.await, 0);
    assert!(!session.run(&fail).await.unwrap().prefetched);
    assert_eq!(session.run(&answer).await.unwrap().credits, 2);
    assert_eq!(session.prefetch(&answer).unwrap().1.await, 0, "its cost is counted already");
    assert_eq!(probe.runs.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn only_valid_calls_are_prefetched() {
    let session = session(&Arc::default(), 60);
    assert!(session.prefetch(&named("nobody", "", json!({}))).is_none());
    assert!(session.prefetch(&named("probe", "", json!({}))).is_none());
}

#[tokio::test]
async fn different_arguments_are_a_different_call() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    session.run(&named("probe", "1", json!({"behaviour": "answer", "count": 1}))).await.unwrap();
    session.run(&named("probe", "2", json!({"behaviour": "answer", "count": 2}))).await.unwrap();
    assert_eq!(probe.runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn failed_call_can_be_retried() {
    let probe = Arc::new(Probe::default());
    let session = session(&probe, 60);
    session.run(&call("1", "fail")).await.unwrap();
    let again = session.run(&call("2", "fail")).await.unwrap();
    assert_eq!(probe.runs.load(Ordering::SeqCst), 2);
    assert!(!again.report.cached);
}
