use std::time::{Duration, SystemTime, UNIX_EPOCH};

use store::{SearchCredits, SpentCredits};

use crate::support::{database, names, rows, store, store_at};

const DAY: u64 = 24 * 3600;

/// Noon of a day of January 2027, and of the months after it.
fn noon(day: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_798_761_600 + DAY * (day - 1) + DAY / 2)
}

async fn read_spent(credits: &SearchCredits, now: SystemTime) -> (u64, u64) {
    let SpentCredits { month, day, .. } = credits.spent("provider", now).await.unwrap();
    (month, day)
}

#[tokio::test]
async fn credits_are_counted_per_day_month_and_provider() {
    let credits = store().await.search_credits;
    for (day, count) in [(1, 2), (1, 1), (31, 2), (32, 5)] {
        credits.add("provider", count, noon(day)).await.unwrap();
    }
    credits.add("other", 7, noon(1)).await.unwrap();
    let mut seen = Vec::new();
    for day in [1, 2, 31, 32, 33] {
        seen.push(read_spent(&credits, noon(day)).await);
    }
    assert_eq!(seen, [(5, 3), (5, 0), (5, 2), (5, 5), (5, 0)]);
}

#[tokio::test]
async fn instances_count_together_concurrently() {
    let endpoint = database().await;
    let (one, other) = (store_at(&endpoint).await.search_credits, store_at(&endpoint).await.search_credits);
    let adding = (0..20).map(|number| {
        let credits = if number % 2 == 0 { &one } else { &other };
        credits.add("provider", 2, noon(1))
    });
    for added in futures_util::future::join_all(adding).await {
        added.unwrap();
    }
    assert_eq!(read_spent(&one, noon(1)).await, (40, 40));
    let rows = rows(&endpoint, &names().ephemeral).await;
    let expires: u64 = rows[0]["expires"].as_n().unwrap().parse().unwrap();
    assert_eq!(UNIX_EPOCH + Duration::from_secs(expires), noon(41), "the database may drop it when nobody asks");
}

#[tokio::test]
async fn f064_pause_is_shared_and_ends_with_month() {
    let endpoint = database().await;
    let (one, other) = (store_at(&endpoint).await.search_credits, store_at(&endpoint).await.search_credits);
    one.add("provider", 3, noon(30)).await.unwrap();
    one.pause("provider", noon(31), noon(30)).await.unwrap();
    let known = SpentCredits { month: 3, day: 3, paused_until: Some(noon(31)) };
    assert_eq!(other.spent("provider", noon(30)).await.unwrap(), known);
    assert_eq!(other.spent("provider", noon(32)).await.unwrap(), SpentCredits::default());
    assert_eq!(other.spent("other", noon(30)).await.unwrap(), SpentCredits::default());
}
