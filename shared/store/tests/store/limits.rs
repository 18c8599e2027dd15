use std::time::Duration;

use store::{Admission, RateLimit};

use crate::support::{at, store};

#[tokio::test]
async fn f089_a_burst_passes_and_then_one_request_for_each_interval() {
    let limiter = store().await.rate_limiter;
    let limit = RateLimit::parse("3/30s").unwrap();
    for _ in 0..3 {
        assert_eq!(limiter.admit("search:alice", limit, at(0)).await.unwrap(), Admission::Admitted);
    }
    let denied = Admission::Denied { retry_after: Duration::from_secs(10) };
    assert_eq!(limiter.admit("search:alice", limit, at(0)).await.unwrap(), denied);
    assert_eq!(limiter.admit("search:bob", limit, at(0)).await.unwrap(), Admission::Admitted);
    assert_eq!(limiter.admit("search:alice", limit, at(10)).await.unwrap(), Admission::Admitted);
    assert_eq!(limiter.admit("search:alice", limit, at(10)).await.unwrap(), denied);
}
