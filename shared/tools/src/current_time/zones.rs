//! Time zones by the names that people and models give them.

use jiff::tz::Offset;

use crate::TimeZone;

/// Zones with the cities and countries that they are not named after, and with names in Chinese.
const ALIASES: [(&str, &[&str]); 15] = [
    ("Asia/Shanghai", &["beijing", "shenzhen", "guangzhou", "china", "北京", "上海", "中国"]),
    ("Asia/Hong_Kong", &["香港"]),
    ("Asia/Taipei", &["台北"]),
    ("Asia/Tokyo", &["东京", "日本"]),
    ("Asia/Seoul", &["首尔"]),
    ("Asia/Singapore", &["新加坡"]),
    ("Asia/Kolkata", &["delhi", "mumbai", "india"]),
    ("Europe/London", &["伦敦"]),
    ("Europe/Paris", &["巴黎"]),
    ("Europe/Berlin", &["柏林"]),
    ("Europe/Moscow", &["莫斯科"]),
    ("Australia/Sydney", &["悉尼"]),
    ("America/New_York", &["纽约", "washington", "boston"]),
    ("America/Los_Angeles", &["洛杉矶", "san_francisco", "seattle"]),
    ("UTC", &[""]),
];

/// Longest accepted name, in bytes.
const MAX_NAME: usize = 64;

/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 5;

/// Shortest part of a name for which similar names are suggested, in characters.
const MIN_PART_CHARS: usize = 3;

/// Finds a time zone; the error lists similar names.
pub(super) fn find(input: &str) -> Result<TimeZone, Vec<&'static str>> {
    if input.len() > MAX_NAME {
        return Err(Vec::new());
    }
    let wanted = input.trim().replace(' ', "_").to_lowercase();
    if let Some(zone) = parse_offset(&wanted) {
        return Ok(zone);
    }
    let city = last_part(&wanted);
    let alias = ALIASES.iter().find(|(_, aliases)| aliases.contains(&city)).map(|(name, _)| *name);
    let zone = [Some(&*wanted), alias, only_city(&wanted)].into_iter().flatten().find_map(TimeZone::find);
    zone.ok_or_else(|| similar_names(city))
}

/// Returns the name of a city's zone if only one zone has this city name.
fn only_city(wanted: &str) -> Option<&'static str> {
    let mut cities = TimeZone::names().filter(|name| name.contains('/') && last_part(&name.to_lowercase()) == wanted);
    cities.next().filter(|_| cities.next().is_none())
}

fn similar_names(city: &str) -> Vec<&'static str> {
    if city.chars().count() < MIN_PART_CHARS {
        return Vec::new();
    }
    TimeZone::names().filter(|name| last_part(&name.to_lowercase()).contains(city)).take(MAX_SUGGESTIONS).collect()
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Parses an offset from UTC in small letters: `utc+8`, `gmt-03:30`, `+05:30`.
fn parse_offset(name: &str) -> Option<TimeZone> {
    let offset = name.strip_prefix("utc").or_else(|| name.strip_prefix("gmt")).unwrap_or(name);
    let sign = offset.chars().next().filter(|sign| "+-".contains(*sign))?;
    let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "0"));
    let (hours, minutes) = (hours.parse::<i8>().ok()?.unsigned_abs(), minutes.parse::<u8>().ok()?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    let seconds = i32::from(hours) * 3600 + i32::from(minutes) * 60;
    let offset = Offset::from_seconds(if sign == '-' { -seconds } else { seconds }).ok()?;
    Some(TimeZone::fixed(format!("UTC{sign}{hours:02}:{minutes:02}"), offset))
}
