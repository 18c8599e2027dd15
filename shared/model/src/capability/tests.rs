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
fn the_settings_decide_then_the_table_then_the_list_and_else_it_goes_by_text() {
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
fn what_the_list_said_holds_for_its_time_only() {
    let capability = capability(ToolsMode::Auto, "other", &LISTED);
    capability.note(listed(ToolPath::Native, at(24)));
    let path = |now| capability.tools(now).path;
    assert_eq!((path(at(23)), path(at(24))), (ToolPath::Native, ToolPath::Text));
}

#[test]
fn a_refusal_counts_over_all_for_a_week_and_for_a_day_against_an_operators_wish() {
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
fn a_refusal_is_told_once() {
    let capability = capability(ToolsMode::Native, "m", &OTHER);
    assert_eq!(capability.take_lesson(), None);
    capability.learn_refusal(at(0));
    let lesson = Finding { tools: known(ToolPath::Text, ToolsFrom::Learned), until: at(24) };
    assert_eq!((capability.take_lesson(), capability.take_lesson()), (Some(lesson), None));
    assert_eq!(capability.tools(at(0)), lesson.tools);
}

#[test]
fn a_refusal_that_another_process_remembers_is_no_lesson_of_this_one() {
    let capability = capability(ToolsMode::Native, "m", &OTHER);
    capability.note(Finding { tools: known(ToolPath::Text, ToolsFrom::Learned), until: at(1) });
    assert_eq!(capability.take_lesson(), None);
    assert_eq!(capability.tools(at(0)), known(ToolPath::Text, ToolsFrom::Learned));
}

#[test]
fn where_text_is_settled_nothing_is_looked_for() {
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
fn a_look_counts_for_a_day_and_a_clock_that_goes_back_repeats_none() {
    let looked = Some(at(100));
    assert_eq!([0, 100, 123, 124].map(|hours| is_of_today(looked, at(hours))), [true, true, true, false]);
    assert!(!is_of_today(None, at(0)));
}
