use std::time::Duration;

use store::{AuditEntry, AuditTrail, Day, ReadError};

use crate::support::{at, database, rows, store, store_at};

const DAY: u64 = 24 * 3600;

fn entry(id: usize) -> AuditEntry {
    AuditEntry {
        caller: "key:ann".to_owned(),
        action: "agent.replace".to_owned(),
        target: Some(id.to_string()),
        route: Some("/api/admin/agents/{id}".to_owned()),
        status: Some(200),
        request_id: format!("{id:026}"),
        count: None,
    }
}

/// The targets of all entries from a day to another, page by page.
async fn targets(trail: &AuditTrail, first: u64, last: u64) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = trail.list(Day::of(at(first * DAY)), Day::of(at(last * DAY)), cursor.as_deref()).await.unwrap();
        found.extend(page.items.into_iter().filter_map(|listed| listed.entry.target));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return found;
        }
    }
}

#[tokio::test]
async fn entries_are_listed_newest_first_by_day() {
    let trail = store().await.audit;
    for id in 0..230 {
        trail.record(&entry(id), at(if id < 115 { 0 } else { DAY })).await.unwrap();
    }
    let numbers = |range: std::ops::Range<usize>| range.rev().map(|id| id.to_string()).collect::<Vec<_>>();
    assert_eq!(targets(&trail, 0, 1).await, numbers(0..230));
    assert_eq!(targets(&trail, 1, 1).await, numbers(115..230));
    assert_eq!(targets(&trail, 0, 0).await, numbers(0..115));
    let listed = &trail.list(Day::of(at(DAY)), Day::of(at(DAY)), None).await.unwrap().items[0];
    assert_eq!(listed.entry, entry(229));
    let bad = trail.list(Day::of(at(0)), Day::of(at(0)), Some("x")).await;
    assert_eq!(bad.unwrap_err(), ReadError::BadCursor);
    let cursor = trail.list(Day::of(at(0)), Day::of(at(DAY)), None).await.unwrap().next_cursor;
    let of_other_days = trail.list(Day::of(at(0)), Day::of(at(0)), cursor.as_deref()).await;
    assert_eq!(of_other_days.unwrap_err(), ReadError::BadCursor);
}

#[tokio::test]
async fn entries_expire_after_ninety_days() {
    let endpoint = database().await;
    let trail = store_at(&endpoint).await.audit;
    trail.record(&entry(1), at(0)).await.unwrap();
    trail.record_command("key.revoke", "2", at(1)).await.unwrap();
    let items = rows(&endpoint, "ephemeral").await;
    let start = at(0).duration_since(std::time::UNIX_EPOCH).unwrap() + Duration::from_hours(90 * 24);
    let mut expiries: Vec<u64> = items.iter().map(|item| item["expires"].as_n().unwrap().parse().unwrap()).collect();
    expiries.sort_unstable();
    assert_eq!(expiries, [start.as_secs(), start.as_secs() + 1]);
}
