/// Declares a group of texts and reads them from the files of their names.
macro_rules! declare_texts {
    ($(#[$group_doc:meta])* $group:ident in $folder:literal: $($(#[$doc:meta])* $name:ident,)*) => {
        $(#[$group_doc])*
        #[derive(Debug)]
        pub struct $group {
            $($(#[$doc])* pub $name: &'static str,)*
        }

        impl $group {
            /// The texts in a language.
            pub fn of(language: domain::Language) -> &'static Self {
                match language {
                    domain::Language::Zh => &Self::ZH,
                    domain::Language::En => &Self::EN,
                }
            }

            const ZH: Self = Self {
                $($name: $crate::group::without_line_break(
                    include_str!(concat!("../zh/", $folder, "/", stringify!($name), ".txt")),
                ),)*
            };

            const EN: Self = Self {
                $($name: $crate::group::without_line_break(
                    include_str!(concat!("../en/", $folder, "/", stringify!($name), ".txt")),
                ),)*
            };
        }

        #[cfg(test)]
        mod tests {
            use super::$group;

            #[test]
            fn files_and_languages_agree() {
                let texts = |group: &$group| vec![$((stringify!($name), group.$name)),*];
                $crate::group::tests::check($folder, &texts(&$group::ZH), &texts(&$group::EN));
            }
        }
    };
}

pub(crate) use declare_texts;

/// The content of a file without the line break at its end.
pub(crate) const fn without_line_break(text: &'static str) -> &'static str {
    match text.as_bytes() {
        [.., b'\n'] => text.split_at(text.len() - 1).0,
        _ => text,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    type Texts = [(&'static str, &'static str)];

    fn placeholders(text: &str) -> BTreeSet<&str> {
        let parts = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
        parts
            .map(|(name, _)| name)
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
            .collect()
    }

    /// Whether a text has letters outside its placeholders.
    fn has_letters(text: &str) -> bool {
        let names = placeholders(text);
        let values: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        crate::fill(text, &values).contains(char::is_alphabetic)
    }

    pub(crate) fn is_han(character: char) -> bool {
        ('\u{4E00}'..='\u{9FFF}').contains(&character)
    }

    /// Checks that both languages have the same placeholders and no empty text, and that every file is declared.
    pub(crate) fn check(folder: &str, zh: &Texts, en: &Texts) {
        for ((name, chinese), (_, english)) in zh.iter().zip(en) {
            assert_eq!(placeholders(chinese), placeholders(english), "{name}");
            assert!(!chinese.is_empty() && !english.is_empty(), "{name}");
            assert!(!english.contains(is_han), "{name}: {english}");
            assert!(chinese.contains(is_han) || !has_letters(chinese), "{name}: {chinese}");
        }
        for (language, texts) in [("zh", zh), ("en", en)] {
            let folder = format!("{}/{language}/{folder}", env!("CARGO_MANIFEST_DIR"));
            let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
            let files = names.filter_map(|name| name.strip_suffix(".txt").map(str::to_owned));
            let declared: BTreeSet<String> = texts.iter().map(|(name, _)| (*name).to_owned()).collect();
            assert_eq!(files.collect::<BTreeSet<_>>(), declared, "{language}");
        }
    }
}
