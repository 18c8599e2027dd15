use store::{Outage, Outages};

use crate::support::{at, database, names, rows, store, store_at};

fn down(changed: u64, until: u64) -> Outage {
    Outage { changed: at(changed), until: Some(at(until)) }
}

fn over(changed: u64) -> Outage {
    Outage { changed: at(changed), until: None }
}

async fn known(outages: &Outages, now: u64) -> Option<Outage> {
    outages.get("Openai http://a", at(now)).await.unwrap()
}

#[tokio::test]
async fn last_breaker_state_is_valid_for_ten_minutes() {
    let outages = store().await.outages;
    assert_eq!(known(&outages, 0).await, None);
    for outage in [down(5, 15), over(20), down(30, 40), down(3, 13), over(29)] {
        outages.put("Openai http://a", &outage).await.unwrap();
    }
    assert_eq!(known(&outages, 31).await, Some(down(30, 40)), "what comes late is older");
    outages.put("Openai http://a", &over(41)).await.unwrap();
    assert_eq!([known(&outages, 640).await, known(&outages, 641).await], [Some(over(41)), None]);
    assert_eq!(outages.get("Openai http://b", at(41)).await.unwrap(), None);
}

#[tokio::test]
async fn breaker_state_is_shared_and_expires() {
    let endpoint = database().await;
    let (one, other) = (store_at(&endpoint).await, store_at(&endpoint).await);
    one.outages.put("Openai http://a", &down(0, 10)).await.unwrap();
    assert_eq!(known(&other.outages, 1).await, Some(down(0, 10)));
    let rows = rows(&endpoint, &names().ephemeral).await;
    let expires: u64 = rows[0]["expires"].as_n().unwrap().parse().unwrap();
    assert_eq!(at(600), std::time::UNIX_EPOCH + std::time::Duration::from_secs(expires));
    assert!(!rows[0]["pk"].as_s().unwrap().contains("http"), "addresses are hashed");
}
