use std::time::Duration;

use runtime_api::HttpEvent;
use support::{Completion, Gate};

use crate::instance::{Instance, events, only};

/// What Lambda tells an instance that may have two invocations at once.
const TWO: [(&str, &str); 1] = [("AWS_LAMBDA_MAX_CONCURRENCY", "2")];

#[tokio::test]
async fn a_managed_instance_serves_a_second_turn_while_the_first_one_waits() {
    let instance = Instance::with(&TWO).await;
    let gate = Gate::new();
    instance.model.queue_replies([Completion::new().text("慢").wait(&gate).text("了").end(), Completion::of(["快"])]);
    let mut slow = instance.ask("等").await.expect_streamed();
    assert_eq!(slow.prelude().await.status, 200);
    slow.read_until("慢").await;

    let mut quick = instance.ask("走").await.expect_streamed();
    assert_eq!(quick.prelude().await.status, 200);
    assert_eq!(only(&events(&quick.rest().await), "content")["content"], "快");
    drop(quick);
    // Its worker asks for the next event although the first turn has not ended.
    instance.api.wait_for_next_requests(3).await;
    let mut next = instance.call(&HttpEvent::get("/healthz")).await.expect_streamed();
    assert_eq!(next.prelude().await.status, 200);

    gate.open();
    assert!(slow.rest().await.contains(r#""content":"了""#));
}

#[tokio::test]
async fn by_itself_an_instance_serves_one_after_the_other() {
    let instance = Instance::start().await;
    let gate = Gate::new();
    instance.model.queue_replies([Completion::new().text("慢").wait(&gate).end()]);
    let mut slow = instance.ask("等").await.expect_streamed();
    slow.read_until("慢").await;
    let waiting = instance.api.invoke(&HttpEvent::get("/healthz"), Duration::from_mins(5));
    assert_eq!(instance.api.next_request_count(), 1);
    gate.open();
    slow.rest().await;
    drop(slow);
    assert_eq!(waiting.answer().await.expect_streamed().prelude().await.status, 200);
}
