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
