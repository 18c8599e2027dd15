use domain::Language;
use platform::settings::{SettingError, Settings};
use tools::TimeZone;

/// The language and the time zone in which models are prompted.
#[derive(Clone, Debug)]
pub struct PromptLocale {
    /// `None` for the language of the conversation's first message.
    pub language: Option<Language>,
    /// The zone of the date in the prompt, and of times without another zone.
    pub time_zone: TimeZone,
}

impl PromptLocale {
    /// Reads `PROMPT_LANGUAGE` (`auto`, `zh` or `en`) and `TIME_ZONE` (an IANA name).
    ///
    /// # Errors
    /// The first setting that cannot be parsed.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let language = settings.parse("PROMPT_LANGUAGE", "auto, zh or en", |text| match text {
            "auto" => Some(None),
            code => Language::from_code(code).map(Some),
        })?;
        let accepted = "an IANA time zone such as Asia/Shanghai";
        let time_zone = settings.parse("TIME_ZONE", accepted, TimeZone::find)?;
        Ok(Self { language: language.flatten(), time_zone: time_zone.unwrap_or(TimeZone::UTC) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<PromptLocale, String> {
        PromptLocale::from_settings(&Settings::from_pairs([(name, value)])).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_choose_language_and_time_zone() {
        assert_eq!(read("PROMPT_LANGUAGE", "auto").unwrap().language, None);
        assert_eq!(read("PROMPT_LANGUAGE", "en").unwrap().language, Some(Language::En));
        let zone = read("TIME_ZONE", "Asia/Shanghai").unwrap().time_zone;
        assert_eq!(zone.name(), "Asia/Shanghai");
        assert_eq!(read("TIME_ZONE", "").unwrap().time_zone, TimeZone::UTC);
    }

    #[test]
    fn unknown_values_name_what_is_accepted() {
        assert_eq!(read("PROMPT_LANGUAGE", "fr").unwrap_err(), "PROMPT_LANGUAGE: expected auto, zh or en");
        let expected = "TIME_ZONE: expected an IANA time zone such as Asia/Shanghai";
        assert_eq!(read("TIME_ZONE", "Mars/Olympus").unwrap_err(), expected);
    }
}
