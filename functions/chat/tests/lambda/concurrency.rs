use std::time::Duration;

use runtime_api::HttpEvent;
use support::{Completion, Gate};

use crate::instance::{Instance, events, only};

/// The setting by which Lambda allows an instance two concurrent invocations.
const TWO_INVOCATIONS: [(&str, &str); 1] = [("AWS_LAMBDA_MAX_CONCURRENCY", "2")];

#[tokio::test]
async fn managed_instance_serves_two_turns_concurrently() {
    let instance = Instance::start_with(&TWO_INVOCATIONS).await;
    let gate = Gate::new();
    instance.model.queue_replies([Completion::new().text("慢").wait(&gate).text("了").end(), Completion::of(["快"])]);
    let mut slow = instance.send_message("等").await.expect_streamed();
    assert_eq!(slow.prelude().await.status, 200);
    slow.read_until("慢").await;

    let mut quick = instance.send_message("走").await.expect_streamed();
    assert_eq!(quick.prelude().await.status, 200);
    assert_eq!(only(&events(&quick.rest().await), "content")["content"], "快");
    drop(quick);
    // Its worker requests the next event although the first turn has not ended.
    instance.api.wait_for_next_requests(3).await;
    let mut next = instance.call(&HttpEvent::get("/healthz")).await.expect_streamed();
    assert_eq!(next.prelude().await.status, 200);

    gate.open();
    assert!(slow.rest().await.contains(r#""content":"了""#));
}

#[tokio::test]
async fn other_instances_serve_one_invocation_at_a_time() {
    let instance = Instance::start().await;
    let gate = Gate::new();
    instance.model.queue_replies([Completion::new().text("慢").wait(&gate).end()]);
    let mut slow = instance.send_message("等").await.expect_streamed();
    slow.read_until("慢").await;
    let waiting = instance.api.invoke(&HttpEvent::get("/healthz"), Duration::from_mins(5));
    assert_eq!(instance.api.next_request_count(), 1);
    gate.open();
    slow.rest().await;
    drop(slow);
    assert_eq!(waiting.answer().await.expect_streamed().prelude().await.status, 200);
}
