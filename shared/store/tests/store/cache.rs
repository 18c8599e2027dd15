use std::time::Duration;

use store::Claim;

use crate::support::{at, store};

const LEASE: Duration = Duration::from_secs(12);
const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn a_miss_leads_others_follow_and_then_all_get_the_value() {
    let cache = store().await.search_cache;
    let Claim::Lead { lead, stale: None } = cache.claim("k", LEASE, at(0)).await.unwrap() else { panic!("no lead") };
    assert!(matches!(cache.claim("k", LEASE, at(1)).await.unwrap(), Claim::Follow { stale: None }));
    cache.put(lead, "value", HOUR, at(2)).await.unwrap();
    assert!(matches!(cache.claim("k", LEASE, at(3)).await.unwrap(), Claim::Fresh(value) if value == "value"));
}
