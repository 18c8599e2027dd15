//! Time zones by the names that people and models give them.

use jiff::tz::{self, Offset, TimeZone};

/// Cities that have no zone of their own name, and names in Chinese.
const ALIASES: &[(&str, &str)] = &[
    ("beijing", "Asia/Shanghai"),
    ("shenzhen", "Asia/Shanghai"),
    ("guangzhou", "Asia/Shanghai"),
    ("china", "Asia/Shanghai"),
    ("北京", "Asia/Shanghai"),
    ("上海", "Asia/Shanghai"),
    ("中国", "Asia/Shanghai"),
    ("香港", "Asia/Hong_Kong"),
    ("台北", "Asia/Taipei"),
    ("东京", "Asia/Tokyo"),
    ("日本", "Asia/Tokyo"),
    ("首尔", "Asia/Seoul"),
    ("新加坡", "Asia/Singapore"),
    ("delhi", "Asia/Kolkata"),
    ("mumbai", "Asia/Kolkata"),
    ("india", "Asia/Kolkata"),
    ("伦敦", "Europe/London"),
    ("巴黎", "Europe/Paris"),
    ("柏林", "Europe/Berlin"),
    ("莫斯科", "Europe/Moscow"),
    ("悉尼", "Australia/Sydney"),
    ("纽约", "America/New_York"),
    ("washington", "America/New_York"),
    ("boston", "America/New_York"),
    ("洛杉矶", "America/Los_Angeles"),
    ("san_francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
];

/// Longest accepted name, in bytes.
const MAX_NAME: usize = 64;

/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 5;

/// Shortest part of a name for which similar names are suggested, in characters.
const MIN_PART_CHARS: usize = 3;

/// Finds a time zone and its IANA name; the error lists similar names.
pub(super) fn find(input: &str) -> Result<(String, TimeZone), Vec<String>> {
    let input = input.trim().replace(' ', "_");
    if input.is_empty() {
        return Ok(("UTC".to_owned(), TimeZone::UTC));
    }
    if input.len() > MAX_NAME {
        return Err(Vec::new());
    }
    if let Some(zone) = parse_offset(&input) {
        return Ok(zone);
    }
    let wanted = input.to_lowercase();
    let city = last_part(&wanted);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == city).map(|(_, name)| (*name).to_owned());
    let known = named(|name| name.to_lowercase() == wanted).or(alias).or_else(|| only_city(&wanted));
    let zone = known.and_then(|name| TimeZone::get(&name).ok().map(|zone| (name, zone)));
    zone.ok_or_else(|| similar_names(&wanted))
}

fn names() -> impl Iterator<Item = String> {
    tz::db().available().map(|name| name.to_string())
}

fn named(is_it: impl Fn(&str) -> bool) -> Option<String> {
    names().find(|name| is_it(name))
}

/// Returns the zone of a city if only one zone has this city name.
fn only_city(wanted: &str) -> Option<String> {
    let mut cities = names().filter(|name| name.contains('/') && last_part(&name.to_lowercase()) == wanted);
    cities.next().filter(|_| cities.next().is_none())
}

fn similar_names(wanted: &str) -> Vec<String> {
    let city = last_part(wanted);
    if city.chars().count() < MIN_PART_CHARS {
        return Vec::new();
    }
    names().filter(|name| last_part(&name.to_lowercase()).contains(city)).take(MAX_SUGGESTIONS).collect()
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Parses an offset from UTC: `UTC+8`, `GMT-03:30`, `+05:30`.
fn parse_offset(input: &str) -> Option<(String, TimeZone)> {
    let upper = input.to_uppercase();
    let distance = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT")).unwrap_or(&upper);
    let (sign, distance) = match distance.split_at_checked(1)? {
        ("+", distance) => (1, distance),
        ("-", distance) => (-1, distance),
        _ => return None,
    };
    let (hours, minutes) = distance.split_once(':').unwrap_or((distance, "0"));
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    let offset = Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?;
    let name = format!("UTC{}{hours:02}:{minutes:02}", if sign < 0 { '-' } else { '+' });
    Some((name, TimeZone::fixed(offset)))
}

/// Parses one or two digits.
fn digits(text: &str) -> Option<i32> {
    let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
