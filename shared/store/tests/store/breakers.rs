use domain::EndpointHealth;
use store::BreakerTable;

use crate::support::{at, database, names, rows, store, store_at};

fn open_record(changed: u64, until: u64) -> EndpointHealth {
    EndpointHealth { changed_at: at(changed), down_until: Some(at(until)) }
}

fn closed_record(changed: u64) -> EndpointHealth {
    EndpointHealth { changed_at: at(changed), down_until: None }
}

async fn read_record(outages: &BreakerTable, now: u64) -> Option<EndpointHealth> {
    outages.get("Openai http://a", at(now)).await.unwrap()
}

#[tokio::test]
async fn last_breaker_state_is_valid_for_ten_minutes() {
    let outages = store().await.breakers;
    assert_eq!(read_record(&outages, 0).await, None);
    for outage in [open_record(5, 15), closed_record(20), open_record(30, 40), open_record(3, 13), closed_record(29)] {
        outages.put("Openai http://a", outage).await.unwrap();
    }
    assert_eq!(read_record(&outages, 31).await, Some(open_record(30, 40)), "what comes late is older");
    outages.put("Openai http://a", closed_record(41)).await.unwrap();
    assert_eq!([read_record(&outages, 640).await, read_record(&outages, 641).await], [Some(closed_record(41)), None]);
    assert_eq!(outages.get("Openai http://b", at(41)).await.unwrap(), None);
}

#[tokio::test]
async fn breaker_state_is_shared_and_expires() {
    let endpoint = database().await;
    let (one, other) = (store_at(&endpoint).await, store_at(&endpoint).await);
    one.breakers.put("Openai http://a", open_record(0, 10)).await.unwrap();
    assert_eq!(read_record(&other.breakers, 1).await, Some(open_record(0, 10)));
    let rows = rows(&endpoint, &names().ephemeral).await;
    let expires: u64 = rows[0]["expires"].as_n().unwrap().parse().unwrap();
    assert_eq!(at(600), std::time::UNIX_EPOCH + std::time::Duration::from_secs(expires));
    assert!(!rows[0]["pk"].as_s().unwrap().contains("http"), "addresses are hashed");
}
