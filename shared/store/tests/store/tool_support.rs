use std::time::Duration;

use domain::{CachedToolSupport, ToolMode, ToolSupport, ToolSupportSource};
use store::ToolSupportTable;

use crate::support::{at, database, names, rows, store, store_at};

const HOUR: u64 = 3600;

fn listed(hours: u64) -> CachedToolSupport {
    let tools = ToolSupport { mode: ToolMode::Native, source: ToolSupportSource::Provider };
    CachedToolSupport { tools, context_tokens: None, expires_at: at(hours * HOUR) }
}

fn observed(hours: u64) -> CachedToolSupport {
    let tools = ToolSupport { mode: ToolMode::Prompted, source: ToolSupportSource::Rejection };
    CachedToolSupport { tools, ..listed(hours) }
}

async fn read_record(facts: &ToolSupportTable, hours: u64) -> Option<CachedToolSupport> {
    facts.get("model", at(hours * HOUR)).await.unwrap()
}

#[tokio::test]
async fn record_is_valid_until_expiry_for_its_model() {
    let facts = store().await.tool_support;
    assert_eq!(read_record(&facts, 0).await, None);
    let listed = listed(24);
    facts.put("model", listed, at(0)).await.unwrap();
    assert_eq!(
        [read_record(&facts, 0).await, read_record(&facts, 23).await, read_record(&facts, 24).await],
        [Some(listed), Some(listed), None]
    );
    assert_eq!(facts.get("other", at(0)).await.unwrap(), None);
}

#[tokio::test]
async fn listed_support_never_replaces_valid_observed_support() {
    let facts = store().await.tool_support;
    let (listed, shown, later) = (listed(24), observed(168), listed(192));
    for put in [listed, shown, listed] {
        facts.put("model", put, at(0)).await.unwrap();
    }
    assert_eq!(read_record(&facts, 1).await, Some(shown));
    facts.put("model", later, at(168 * HOUR)).await.unwrap();
    assert_eq!(read_record(&facts, 168).await, Some(later));
}

#[tokio::test]
async fn rejection_keeps_the_listed_context_window() {
    let facts = store().await.tool_support;
    let listed = CachedToolSupport { context_tokens: Some(40_960), ..listed(24) };
    facts.put("model", listed, at(0)).await.unwrap();
    assert_eq!(read_record(&facts, 1).await, Some(listed));
    let shown = observed(168);
    facts.put("model", shown, at(0)).await.unwrap();
    assert_eq!(read_record(&facts, 1).await, Some(CachedToolSupport { context_tokens: Some(40_960), ..shown }));
}

#[tokio::test]
async fn tool_support_is_shared_and_expires() {
    let endpoint = database().await;
    let (one, other) = (store_at(&endpoint).await, store_at(&endpoint).await);
    let shown = observed(168);
    one.tool_support.put("model", shown, at(0)).await.unwrap();
    assert_eq!(read_record(&other.tool_support, 1).await, Some(shown));
    let rows = rows(&endpoint, &names().ephemeral).await;
    let expires: u64 = rows[0]["expires"].as_n().unwrap().parse().unwrap();
    assert_eq!(at(168 * HOUR), std::time::UNIX_EPOCH + Duration::from_secs(expires));
    assert!(!rows[0]["pk"].as_s().unwrap().contains("model"), "identities are hashed");
}

#[tokio::test]
async fn refusal_of_pictures_is_stored_apart_from_tools() {
    let facts = store().await.tool_support;
    let refusal = async |hours: u64| facts.image_refusal("model", at(hours * HOUR)).await.unwrap();
    assert_eq!(refusal(0).await, None);
    facts.put_image_refusal("model", at(168 * HOUR)).await.unwrap();
    assert_eq!([refusal(167).await, refusal(168).await], [Some(at(168 * HOUR)), None]);
    assert_eq!(read_record(&facts, 1).await, None);
    let listed = listed(24);
    facts.put("model", listed, at(0)).await.unwrap();
    assert_eq!((read_record(&facts, 1).await, refusal(1).await), (Some(listed), Some(at(168 * HOUR))));
}
