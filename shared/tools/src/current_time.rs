//! `current_time`: the date and the time of day in any time zone.

mod zones;

use std::time::SystemTime;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use jiff::{Timestamp, Zoned};
use prompts::{CallTexts, CurrentTimeTexts, ToolFile, fill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::error::ToolCallError;
use crate::{Tool, ToolContext, ToolError, ToolOutput, arguments, schema};

/// Returns the current time.
pub struct CurrentTime;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// An IANA name, a common name or an offset; the turn's time zone if omitted.
    #[serde(default)]
    zone: Option<String>,
}

#[async_trait]
impl Tool for CurrentTime {
    fn spec(&self, language: Language) -> ToolSpec {
        schema::localised_spec::<Arguments>(&ToolFile::CURRENT_TIME, language)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { zone } = arguments::parse(arguments, context.language)?;
        let zone = zone.as_deref().unwrap_or(context.time_zone.name());
        format_time(zone, SystemTime::now(), context.language)
    }
}

fn format_time(zone: &str, now: SystemTime, language: Language) -> Result<ToolOutput, ToolError> {
    let zone = zones::find(zone).map_err(|near| unknown(&near, language))?;
    let now = Timestamp::try_from(now).map_err(anyhow::Error::from)?.to_zoned(zone.rule());
    Ok(ToolOutput {
        content: content(zone.name(), &now, language),
        summary: summary(zone.name(), &now),
        ..ToolOutput::default()
    })
}

fn content(name: &str, now: &Zoned, language: Language) -> String {
    let texts = CurrentTimeTexts::of(language);
    let weekday = usize::try_from(now.weekday().to_monday_zero_offset()).unwrap_or_default();
    let values = [
        ("zone", name),
        ("offset", &now.strftime("%:z").to_string()),
        ("date", &now.strftime("%Y-%m-%d").to_string()),
        ("weekday", texts.weekdays.split(' ').nth(weekday).unwrap_or_default()),
        ("time", &now.strftime("%H:%M:%S").to_string()),
        ("timestamp", &now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()),
    ];
    fill(texts.content, &values)
}

fn summary(name: &str, now: &Zoned) -> String {
    format!("{} {name}", now.strftime("%a %Y-%m-%d %H:%M"))
}

fn unknown(near: &[&str], language: Language) -> ToolError {
    let texts = CurrentTimeTexts::of(language);
    let names = near.join(CallTexts::of(language).list_separator);
    let text = if near.is_empty() { texts.unknown_zone } else { texts.similar_zones };
    ToolCallError::invalid_arguments(&fill(text, &[("names", &names)]), language).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// 2027-01-15T08:00:05Z, a Friday.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_005)
    }

    fn content_of(zone: &str) -> String {
        format_time(zone, now(), Language::Zh).unwrap().content
    }

    fn refusal(zone: &str, language: Language) -> String {
        match format_time(zone, now(), language) {
            Err(ToolError::Model(ToolCallError { failure, content })) => {
                assert_eq!(failure.code, "invalid_arguments");
                content
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn result_has_date_time_weekday_and_offset() {
        let expected = ToolOutput {
            content: "时区：Asia/Tokyo（UTC+09:00）\n日期：2027-01-15（星期五）\n时间：17:00:05\n\
                ISO 8601：2027-01-15T17:00:05+09:00"
                .to_owned(),
            summary: "Fri 2027-01-15 17:00 Asia/Tokyo".to_owned(),
            ..ToolOutput::default()
        };
        assert_eq!(format_time("Asia/Tokyo", now(), Language::Zh).unwrap(), expected);
        assert!(content_of("America/New_York").ends_with("2027-01-15T03:00:05-05:00"));
        assert!(content_of("UTC").starts_with("时区：UTC（UTC+00:00）\n"));
    }

    #[test]
    fn a_zone_follows_its_rules_through_the_year() {
        let summer = now() + Duration::from_hours(24 * 180);
        assert!(format_time("Europe/Berlin", summer, Language::Zh).unwrap().content.contains("UTC+02:00"));
        assert!(content_of("Europe/Berlin").contains("UTC+01:00"));
    }

    #[test]
    fn common_zone_names_are_accepted() {
        let cases = [
            ("Beijing", "Asia/Shanghai"),
            ("北京", "Asia/Shanghai"),
            ("Asia/Beijing", "Asia/Shanghai"),
            ("东京", "Asia/Tokyo"),
            ("tokyo", "Asia/Tokyo"),
            ("asia/tokyo", "Asia/Tokyo"),
            ("New York", "America/New_York"),
            ("San Francisco", "America/Los_Angeles"),
            (" utc ", "UTC"),
            ("", "UTC"),
            ("UTC+8", "UTC+08:00"),
            ("GMT-03:30", "UTC-03:30"),
            ("+05:30", "UTC+05:30"),
        ];
        for (input, name) in cases {
            assert!(content_of(input).starts_with(&format!("时区：{name}（")), "{input}: {}", content_of(input));
        }
    }

    #[test]
    fn english_result_has_english_labels_and_weekday() {
        let content = |now| format_time("Asia/Tokyo", now, Language::En).unwrap().content;
        let expected = "Time zone: Asia/Tokyo (UTC+09:00)\nDate: 2027-01-15 (Friday)\nTime: 17:00:05\n\
            ISO 8601: 2027-01-15T17:00:05+09:00";
        assert_eq!(content(now()), expected);
        let weekdays = ["Saturday", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
        for (day, weekday) in (1..).zip(weekdays) {
            let content = content(now() + Duration::from_hours(24 * day));
            assert!(content.contains(&format!("({weekday})")), "{content}");
        }
    }

    #[test]
    fn f051_unknown_zone_lists_format_and_similar_names() {
        let expected = "参数不符合要求：`zone` 必须是 IANA 时区名（地区/城市），\
            相近的有：America/Argentina/Buenos_Aires、America/Buenos_Aires。请改正参数后重新调用。";
        assert_eq!(refusal("Argentina/Buenos", Language::Zh), expected);
        let expected = "The arguments are invalid: `zone` must be an IANA time zone (Area/City); similar ones are \
            America/Argentina/Buenos_Aires, America/Buenos_Aires. Correct them and call the tool again.";
        assert_eq!(refusal("Argentina/Buenos", Language::En), expected);
        let chinese =
            "参数不符合要求：`zone` 必须是 IANA 时区名（地区/城市），例如 Asia/Shanghai。请改正参数后重新调用。";
        let english = "The arguments are invalid: `zone` must be an IANA time zone (Area/City), e.g. Europe/London. \
            Correct them and call the tool again.";
        for zone in ["Mars/Olympus", "火星", "UTC+25", "+5:99", "\u{0}", &"x".repeat(5000)] {
            assert_eq!(refusal(zone, Language::Zh), chinese, "{zone}");
            assert_eq!(refusal(zone, Language::En), english, "{zone}");
        }
    }

    #[test]
    fn the_schema_is_plain() {
        let description = "IANA time zone, such as Europe/London; the conversation's by default";
        let expected = serde_json::json!({
            "type": "object",
            "properties": {"zone": {"type": "string", "description": description}},
            "additionalProperties": false,
        });
        let spec = CurrentTime.spec(Language::En);
        assert_eq!((spec.name.as_str(), spec.parameters), ("current_time", expected));
    }
}
