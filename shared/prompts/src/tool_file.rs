use domain::Language;

/// The declaration of a built-in tool to models: the file `LANGUAGE/tools/NAME.json`.
///
/// Its form is `{"description": "…", "parameters": {"FIELD": "…"}, "examples": [{"question": "…", "arguments": {…}}]}`.
/// `{today}` in an argument represents the date of the turn.
#[derive(Debug)]
pub struct ToolFile {
    /// The name of the tool.
    pub name: &'static str,
    zh: &'static str,
    en: &'static str,
}

impl ToolFile {
    /// The JSON text in a language.
    pub fn text(&self, language: Language) -> &'static str {
        match language {
            Language::Zh => self.zh,
            Language::En => self.en,
        }
    }
}

macro_rules! declare_tool_files {
    ($($constant:ident = $name:literal,)*) => {
        impl ToolFile {
            $(
                #[doc = concat!("The declaration of `", $name, "`.")]
                pub const $constant: Self = Self {
                    name: $name,
                    zh: include_str!(concat!("../zh/tools/", $name, ".json")),
                    en: include_str!(concat!("../en/tools/", $name, ".json")),
                };
            )*
        }

        #[cfg(test)]
        const ALL: &[ToolFile] = &[$(ToolFile::$constant),*];
    };
}

declare_tool_files! {
    CALCULATOR = "calculator",
    CURRENT_TIME = "current_time",
    GLOB_SEARCH = "glob_search",
    GREP_SEARCH = "grep_search",
    LIST_DIRECTORY = "list_directory",
    READ_ATTACHMENT = "read_attachment",
    READ_FILE = "read_file",
    READ_URL = "read_url",
    SEARCH_ARTICLES = "search_articles",
    SEARCH_ATTACHMENTS = "search_attachments",
    SEARCH_WEB = "search_web",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::texts::tests::is_han;

    #[test]
    fn declarations_are_in_their_language() {
        for file in ALL {
            assert!(file.zh.contains(is_han), "{}", file.name);
            assert!(!file.en.contains(is_han), "{}", file.name);
        }
    }

    #[test]
    fn every_declaration_has_its_constant() {
        let declared: BTreeSet<String> = ALL.iter().map(|file| file.name.to_owned()).collect();
        for language in ["zh", "en"] {
            let folder = format!("{}/{language}/tools", env!("CARGO_MANIFEST_DIR"));
            let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
            let files = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned));
            assert_eq!(files.collect::<BTreeSet<_>>(), declared, "{language}");
        }
    }
}
