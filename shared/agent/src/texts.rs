//! All texts that this crate writes, in each language. They are in `prompts/LANGUAGE/NAME.txt`.

/// A language of the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

impl Language {
    /// The language of a user message: Chinese if it contains a Han character.
    pub(crate) fn of(text: &str) -> Self {
        let is_han = |character| ('\u{4E00}'..='\u{9FFF}').contains(&character);
        if text.chars().any(is_han) { Self::Zh } else { Self::En }
    }

    /// The texts in this language.
    pub(crate) fn texts(self) -> &'static Texts {
        match self {
            Self::Zh => &ZH,
            Self::En => &EN,
        }
    }
}

/// Declares the texts and reads them from the files of their names, without the line break at the end.
macro_rules! declare_texts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The texts in one language. Placeholders are in braces.
        #[derive(Debug)]
        pub(crate) struct Texts {
            $($(#[$doc])* pub(crate) $name: &'static str,)*
        }

        static ZH: Texts = Texts {
            $($name: include_str!(concat!("../prompts/zh/", stringify!($name), ".txt")).trim_ascii_end(),)*
        };

        static EN: Texts = Texts {
            $($name: include_str!(concat!("../prompts/en/", stringify!($name), ".txt")).trim_ascii_end(),)*
        };

        #[cfg(test)]
        impl Texts {
            fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

declare_texts! {
    /// The system prompt of agents that have none.
    default_system,
    /// States the date `{today}` in the system prompt.
    current_date,
    /// States in the system prompt that tool results are untrusted.
    untrusted_tools,
    /// States in the system prompt when tools should be called.
    tools_available,
    /// Requires any tool call.
    any_tool_required,
    /// Requires a call of the tool `{name}`.
    named_tool_required,
    /// Follows a reply whose call could not be parsed because of `{reason}`.
    correction,
    /// The reason of a correction after a call was truncated by the output limit.
    truncated_call,
    /// Requests the continuation of an interrupted answer.
    continuation,
    /// Requests an immediate answer without tools.
    time_is_short,
    /// The system prompt for summaries.
    summarise,
    /// Precedes the conversation to summarise with an earlier `{summary}`.
    previous_summary,
    /// Precedes the messages to summarise.
    conversation,
    /// A user message `{text}` to summarise.
    user_line,
    /// A reply `{text}` to summarise.
    assistant_line,
    /// A tool result `{text}` to summarise.
    tool_line,
    /// Represents the oldest turns by their `{summary}`.
    summary,
    /// Search `{results}` as a user message. `{nonce}` marks the instruction that no page can forge.
    search_results,
    /// Tool `{results}` as a user message. `{nonce}` marks the instruction that no result can forge.
    tool_results,
    /// Follows truncated text.
    truncated,
    /// For users: an answer without text or sources.
    no_answer,
    /// For users: precedes the sources if the model wrote no text.
    empty_reply,
    /// For users: precedes the sources if time ran out.
    out_of_time,
}

/// Replaces the placeholders of a text. Braces in the values remain as they are.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let placeholder = after.split_once('}').and_then(|(name, tail)| Some((value_of(name, values)?, tail)));
        if let Some((value, tail)) = placeholder {
            filled.push_str(value);
            rest = tail;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

fn value_of<'a>(name: &str, values: &[(&str, &'a str)]) -> Option<&'a str> {
    values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
    }

    #[test]
    fn languages_have_same_placeholders_and_no_empty_text() {
        let (zh, en) = (ZH.all(), EN.all());
        for ((name, chinese), (_, english)) in zh.into_iter().zip(en) {
            assert_eq!(placeholders(chinese), placeholders(english), "{name}");
            assert!(!chinese.is_empty() && !english.is_empty(), "{name}");
            assert_eq!([chinese, english].map(Language::of), [Language::Zh, Language::En], "{name}");
        }
    }

    #[test]
    fn every_text_file_is_declared() {
        for (language, texts) in [("zh", &ZH), ("en", &EN)] {
            let folder = format!("{}/prompts/{language}", env!("CARGO_MANIFEST_DIR"));
            let files: BTreeSet<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            let declared: BTreeSet<String> = texts.all().iter().map(|(name, _)| format!("{name}.txt")).collect();
            assert_eq!(files, declared, "{language}");
        }
    }

    #[test]
    fn placeholders_inside_values_are_not_filled() {
        assert_eq!(fill("{a} {b} {c}{", &[("a", "{b}"), ("b", "2")]), "{b} 2 {c}{");
    }
}
