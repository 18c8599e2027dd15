/// The cost of a character or a run of each class, in hundredths of a token.
pub(super) type Weights = [u16; 19];

/// Models with the same vocabulary, or similar ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    O200k,
    Cl100k,
    DeepSeek,
    Qwen,
    Llama3,
    Gemini,
    Claude,
    /// The vocabulary is not known: the estimate tends to be too high.
    #[default]
    Unknown,
}

/// Families by a part of a model's id in lower case; the first match wins.
const FAMILIES: &[(&str, Family)] = &[
    // Distilled models keep the vocabulary of the student model.
    ("distill-llama", Family::Llama3),
    ("distill-qwen", Family::Qwen),
    ("deepseek", Family::DeepSeek),
    ("qwen", Family::Qwen),
    ("qwq", Family::Qwen),
    ("gpt-oss", Family::O200k),
    ("gpt-4o", Family::O200k),
    ("gpt-4.", Family::O200k),
    ("gpt-5", Family::O200k),
    ("chatgpt-4o", Family::O200k),
    ("gpt-4", Family::Cl100k),
    ("gpt-3.5", Family::Cl100k),
    ("llama-4", Family::Unknown),
    ("llama", Family::Llama3),
    ("gemini", Family::Gemini),
    ("gemma", Family::Gemini),
    ("claude", Family::Claude),
];

/// Families by the beginning of the id, for parts that also occur inside other ids.
const PREFIXES: &[(&str, Family)] = &[("o1", Family::O200k), ("o3", Family::O200k), ("o4", Family::O200k)];

impl Family {
    /// The family of a model, by the endpoint's id for it.
    pub(crate) fn of(model: &str) -> Self {
        let model = model.to_lowercase();
        let own_name = model.rsplit('/').next().unwrap_or_default();
        let by_prefix = PREFIXES.iter().find(|(prefix, _)| own_name.starts_with(prefix));
        let found = by_prefix.or_else(|| FAMILIES.iter().find(|(part, _)| model.contains(part)));
        found.map_or(Self::Unknown, |(_, family)| *family)
    }

    pub(super) fn weights(self) -> &'static Weights {
        match self {
            Self::O200k => &[97, 13, 24, 47, 27, 119, 43, 69, 16, 80, 52, 80, 87, 33, 87, 40, 38, 46, 166],
            Self::Cl100k => &[101, 12, 15, 58, 33, 130, 10, 55, 29, 114, 189, 92, 143, 58, 195, 89, 111, 118, 267],
            Self::DeepSeek => &[99, 17, 59, 22, 46, 112, 111, 77, 13, 55, 90, 70, 97, 40, 183, 47, 49, 206, 147],
            Self::Qwen => &[99, 13, 0, 103, 18, 125, 126, 62, 21, 60, 92, 64, 100, 42, 178, 45, 74, 107, 112],
            Self::Llama3 => &[100, 13, 20, 51, 36, 123, 42, 60, 21, 85, 58, 69, 89, 37, 177, 47, 58, 113, 262],
            Self::Gemini => &[97, 11, 0, 108, 102, 90, 39, 104, 5, 64, 79, 50, 96, 31, 46, 42, 42, 52, 85],
            Self::Claude => &[101, 12, 96, 6, 0, 116, 0, 95, 18, 96, 214, 93, 157, 65, 240, 113, 143, 182, 251],
            Self::Unknown => &[100, 17, 0, 108, 102, 125, 126, 104, 21, 85, 92, 80, 100, 42, 183, 47, 74, 206, 262],
        }
    }
}
