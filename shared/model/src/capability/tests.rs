use super::*;
use crate::Wire;
use crate::listing::Listing;
use crate::providers::OTHER;

const LISTED: Provider = Provider { listing: Some(Listing::Ark), ..OTHER };
const NAMED: Provider = Provider { tools: &[("m", ToolPath::Native), ("t", ToolPath::Text)], ..LISTED };

fn capability(tools: ToolsMode, model: &str, provider: &Provider) -> Capability {
    let config = ModelConfig {
        name: "x".to_owned(),
        base_url: "http://localhost".to_owned(),
        api_key: None,
        model: model.to_owned(),
        wire: Wire::Openai,
        tools,
        fallback: None,
        only_for: None,
        options: crate::Options::default(),
        demo: false,
    };
    Capability::new(&config, provider)
}

fn at(hours: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000 + hours)
}

fn known(path: ToolPath, from: ToolsFrom) -> ToolUse {
    ToolUse { path, from }
}

fn listed(path: ToolPath, until: SystemTime) -> Finding {
    Finding { tools: known(path, ToolsFrom::Provider), until }
}

#[test]
fn settings_precede_table_list_and_default() {
    use ToolPath::{Native, Text};
    for (mode, model, provider, expected) in [
        (ToolsMode::Native, "t", &NAMED, known(Native, ToolsFrom::Settings)),
        (ToolsMode::Prompt, "m", &NAMED, known(Text, ToolsFrom::Settings)),
        (ToolsMode::Auto, "m-1", &NAMED, known(Native, ToolsFrom::Table)),
        (ToolsMode::Auto, "t-1", &NAMED, known(Text, ToolsFrom::Table)),
        (ToolsMode::Auto, "other", &NAMED, known(Native, ToolsFrom::Provider)),
        (ToolsMode::Auto, "m", &OTHER, known(Text, ToolsFrom::Table)),
    ] {
        let capability = capability(mode, model, provider);
        capability.note(listed(Native, at(24)));
        assert_eq!(capability.tools(at(0)), expected, "{mode:?} {model}");
    }
}

#[test]
fn listed_tool_support_expires() {
    let capability = capability(ToolsMode::Auto, "other", &LISTED);
    capability.note(listed(ToolPath::Native, at(24)));
    let path = |now| capability.tools(now).path;
    assert_eq!((path(at(23)), path(at(24))), (ToolPath::Native, ToolPath::Text));
}

#[test]
fn rejection_overrides_for_a_week_or_a_day() {
    for (mode, model, hours) in
        [(ToolsMode::Auto, "m", 168), (ToolsMode::Auto, "other", 168), (ToolsMode::Native, "m", 24)]
    {
        let capability = capability(mode, model, &NAMED);
        capability.note(listed(ToolPath::Native, at(1_000)));
        let before = capability.tools(at(0));
        capability.learn_refusal(at(0));
        assert_eq!(capability.tools(at(hours - 1)), known(ToolPath::Text, ToolsFrom::Learned));
        assert_eq!(capability.tools(at(hours)), before);
        assert_eq!(before.path, ToolPath::Native);
    }
}

#[test]
fn rejection_is_published_once() {
    let capability = capability(ToolsMode::Native, "m", &OTHER);
    assert_eq!(capability.take_lesson(), None);
    capability.learn_refusal(at(0));
    let lesson = Finding { tools: known(ToolPath::Text, ToolsFrom::Learned), until: at(24) };
    assert_eq!((capability.take_lesson(), capability.take_lesson()), (Some(lesson), None));
    assert_eq!(capability.tools(at(0)), lesson.tools);
}

#[test]
fn stored_rejection_is_not_published_again() {
    let capability = capability(ToolsMode::Native, "m", &OTHER);
    capability.note(Finding { tools: known(ToolPath::Text, ToolsFrom::Learned), until: at(1) });
    assert_eq!(capability.take_lesson(), None);
    assert_eq!(capability.tools(at(0)), known(ToolPath::Text, ToolsFrom::Learned));
}

#[test]
fn prompted_mode_needs_no_probe() {
    for (mode, provider, settled) in [
        (ToolsMode::Prompt, &NAMED, true),
        (ToolsMode::Auto, &OTHER, true),
        (ToolsMode::Auto, &LISTED, false),
        (ToolsMode::Native, &OTHER, false),
    ] {
        assert_eq!(capability(mode, "m", provider).is_settled(at(0)), settled, "{mode:?}");
    }
}

#[test]
fn probe_is_valid_for_a_day_despite_clock() {
    let looked = Some(at(100));
    assert_eq!([0, 100, 123, 124].map(|hours| is_of_today(looked, at(hours))), [true, true, true, false]);
    assert!(!is_of_today(None, at(0)));
}
