use super::*;
use crate::providers::{ModelListApi, UNKNOWN};

const LISTED: Provider = Provider { model_list: Some(ModelListApi::Ark), ..UNKNOWN };

fn new_cache(tools: Option<ToolMode>, model: &str, provider: &Provider) -> ToolSupportCache {
    let config = ModelConfig { tools, ..ModelConfig::new("x", "http://localhost", model, Wire::Openai) };
    ToolSupportCache::new(&config, provider)
}

fn at(hours: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000 + hours)
}

fn support(mode: ToolMode, source: ToolSupportSource) -> ToolSupport {
    ToolSupport { mode, source }
}

fn listed(mode: ToolMode, until: SystemTime) -> CachedToolSupport {
    CachedToolSupport { tools: support(mode, ToolSupportSource::Provider), context_tokens: None, expires_at: until }
}

#[test]
fn settings_precede_list_family_and_default() {
    use ToolMode::{Native, Prompted};
    for (mode, model, provider, expected) in [
        (Some(ToolMode::Native), "o1-mini", &LISTED, support(Native, ToolSupportSource::Settings)),
        (Some(ToolMode::Prompted), "gpt-5", &LISTED, support(Prompted, ToolSupportSource::Settings)),
        (None, "gpt-5", &LISTED, support(Native, ToolSupportSource::Table)),
        (None, "gpt-5", &UNKNOWN, support(Native, ToolSupportSource::Table)),
        (None, "o1-mini", &UNKNOWN, support(Prompted, ToolSupportSource::Table)),
        (None, "other", &UNKNOWN, support(Prompted, ToolSupportSource::Table)),
    ] {
        let cache = new_cache(mode, model, provider);
        assert_eq!(cache.get(at(0)), expected, "{mode:?} {model}");
        cache.store(listed(Native, at(24)));
        let is_configured = mode.is_some();
        let expected = if is_configured { expected } else { support(Native, ToolSupportSource::Provider) };
        assert_eq!(cache.get(at(0)), expected, "{mode:?} {model} with a list");
    }
}

#[test]
fn listed_tool_support_expires() {
    let cache = new_cache(None, "other", &LISTED);
    cache.store(listed(ToolMode::Native, at(24)));
    let mode = |now| cache.get(now).mode;
    assert_eq!((mode(at(23)), mode(at(24))), (ToolMode::Native, ToolMode::Prompted));
}

#[test]
fn rejection_overrides_for_a_week_or_a_day() {
    for (mode, model, hours) in [(None, "gpt-5", 168), (None, "other", 168), (Some(ToolMode::Native), "m", 24)] {
        let cache = new_cache(mode, model, &LISTED);
        cache.store(listed(ToolMode::Native, at(1_000)));
        let before = cache.get(at(0));
        cache.record_rejection(at(0));
        assert_eq!(cache.get(at(hours - 1)), support(ToolMode::Prompted, ToolSupportSource::Rejection));
        assert_eq!(cache.get(at(hours)), before);
        assert_eq!(before.mode, ToolMode::Native);
    }
}

#[test]
fn rejection_is_published_once() {
    let cache = new_cache(Some(ToolMode::Native), "m", &UNKNOWN);
    assert_eq!(cache.take_unpublished(), None);
    cache.record_rejection(at(0));
    let tools = support(ToolMode::Prompted, ToolSupportSource::Rejection);
    let rejection = CachedToolSupport { tools, context_tokens: None, expires_at: at(24) };
    assert_eq!((cache.take_unpublished(), cache.take_unpublished()), (Some(rejection), None));
    assert_eq!(cache.get(at(0)), rejection.tools);
}

#[test]
fn stored_rejection_is_not_published_again() {
    let cache = new_cache(Some(ToolMode::Native), "m", &UNKNOWN);
    cache.store(CachedToolSupport {
        tools: support(ToolMode::Prompted, ToolSupportSource::Rejection),
        context_tokens: None,
        expires_at: at(1),
    });
    assert_eq!(cache.take_unpublished(), None);
    assert_eq!(cache.get(at(0)), support(ToolMode::Prompted, ToolSupportSource::Rejection));
}

#[test]
fn prompted_mode_needs_no_probe() {
    for (mode, model, provider, settled) in [
        (Some(ToolMode::Prompted), "gpt-5", &LISTED, true),
        (None, "m", &UNKNOWN, true),
        (None, "m", &LISTED, false),
        (None, "gpt-5", &UNKNOWN, false),
        (Some(ToolMode::Native), "m", &UNKNOWN, false),
    ] {
        assert_eq!(new_cache(mode, model, provider).can_change(), !settled, "{mode:?}");
    }
}

#[test]
fn probe_is_valid_for_a_day_despite_clock() {
    let last_probe = Some(at(100));
    assert_eq!([0, 100, 123, 124].map(|hours| is_recent(last_probe, at(hours))), [true, true, true, false]);
    assert!(!is_recent(None, at(0)));
}
