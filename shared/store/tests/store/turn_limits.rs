//! The rate limit of turns, which one request takes together with the reading of the owner's instructions.

use domain::Owner;
use store::{Admission, RateLimit, Store};

use crate::support::{alice, at, config, database, names, rows, store, store_at};
use crate::wire::Wire;

const ADMITTED: Admission = Admission::Admitted;

fn limit(text: &str) -> RateLimit {
    RateLimit::parse(text).unwrap()
}

/// The instructions with which a turn is admitted; `None` if it is denied.
async fn instructions(store: &Store, owner: &Owner, text: &str, seconds: u64) -> Option<String> {
    match store.rate_limiter.admit_turn(owner, limit(text), at(seconds)).await.unwrap() {
        (Admission::Admitted, instructions) => Some(instructions.unwrap()),
        (Admission::Denied { .. }, instructions) => {
            assert_eq!(instructions, None);
            None
        }
    }
}

#[tokio::test]
async fn admitted_turn_reads_instructions_in_one_request() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    store.instructions.set(&alice(), "Be brief.").await.unwrap();
    wire.seen();
    assert_eq!(instructions(&store, &alice(), "2/60s", 0).await.as_deref(), Some("Be brief."));
    assert_eq!(instructions(&store, &Owner::new("bob"), "2/60s", 0).await.as_deref(), Some(""));
    assert_eq!(wire.seen(), ["UpdateItem"; 2]);
}

#[tokio::test]
async fn instructions_of_other_instances_apply_at_once() {
    let endpoint = database().await;
    let (own, other) = (store_at(&endpoint).await, Store::new(&config(&endpoint), names()));
    for text in ["", "Be brief.", "In Norwegian.", ""] {
        other.instructions.set(&alice(), text).await.unwrap();
        assert_eq!(instructions(&own, &alice(), "9/60s", 0).await.as_deref(), Some(text));
        assert_eq!(own.instructions.get(&alice()).await.unwrap(), text);
    }
}

#[tokio::test]
async fn f089_turns_are_limited_whatever_instructions_change() {
    let endpoint = database().await;
    let (own, other) = (store_at(&endpoint).await, Store::new(&config(&endpoint), names()));
    assert_eq!(instructions(&own, &alice(), "2/60s", 0).await.as_deref(), Some(""));
    own.instructions.set(&alice(), "A").await.unwrap();
    assert_eq!(instructions(&other, &alice(), "2/60s", 0).await.as_deref(), Some("A"));
    own.instructions.set(&alice(), "").await.unwrap();
    for store in [&own, &other] {
        assert_eq!(instructions(store, &alice(), "2/60s", 1).await, None);
    }
    assert_eq!(instructions(&own, &alice(), "3/60s", 1).await.as_deref(), Some(""), "another limit counts by itself");
    assert_eq!(instructions(&own, &alice(), "2/60s", 30).await.as_deref(), Some(""));
    assert_eq!(instructions(&other, &Owner::new("bob"), "2/60s", 1).await.as_deref(), Some(""));
}

#[tokio::test]
async fn limit_of_turns_never_expires_with_instructions() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    assert_eq!(
        store.rate_limiter.admit_turn(&alice(), limit("9/60s"), at(0)).await.unwrap(),
        (ADMITTED, Some(String::new()))
    );
    let item = rows(&endpoint, "data").await.remove(0);
    let mut names: Vec<&str> = item.keys().map(String::as_str).collect();
    names.sort_unstable();
    // An earlier release needs `wishes`, and deletes nothing without `expires`.
    assert_eq!(names, ["pk", "sk", "tat@9/60000000", "v", "wishes"]);
    assert_eq!(rows(&endpoint, "ephemeral").await, []);
}

#[tokio::test]
async fn turn_without_burst_is_denied_without_request() {
    let store = store().await;
    let zero = RateLimit { burst: 0, ..limit("1/60s") };
    let (admission, instructions) = store.rate_limiter.admit_turn(&alice(), zero, at(0)).await.unwrap();
    assert_eq!((admission, instructions), (Admission::Denied { retry_after: zero.window }, None));
}
