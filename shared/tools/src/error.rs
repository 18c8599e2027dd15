use domain::{Language, ToolFailure};
use prompts::{ToolTexts, fill};

/// Longest part of an unknown tool name that is repeated to the model, in characters.
const MAX_NAME_CHARS: usize = 64;

/// A failed call as a result: the failure for the user and the text for the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCallError {
    /// For the user.
    pub failure: ToolFailure,
    /// For the model.
    pub content: String,
}

impl ToolCallError {
    /// The failure of this code with an English sentence for the user.
    pub fn new(code: &str, message: &str, content: String) -> Self {
        Self { failure: ToolFailure { code: code.to_owned(), message: message.to_owned() }, content }
    }

    /// The model named a tool that is not available to it.
    pub fn unknown_tool<'a>(name: &str, names: impl Iterator<Item = &'a str>, language: Language) -> Self {
        let texts = ToolTexts::of(language);
        let names: Vec<&str> = names.collect();
        let names = if names.is_empty() { texts.no_tools.to_owned() } else { names.join(", ") };
        let name: String = name.chars().take(MAX_NAME_CHARS).collect();
        let values = [("name", &*name), ("names", &names)];
        let [content, message] = [texts, ToolTexts::of(Language::En)].map(|texts| fill(texts.unknown_tool, &values));
        Self::new("unknown_tool", &message, content)
    }

    /// The arguments are invalid for `reason`, which the model reads. It may quote an external schema.
    pub fn invalid_arguments(reason: &str, language: Language) -> Self {
        let reason = tool_calls::escape(reason);
        let content = fill(ToolTexts::of(language).invalid_arguments, &[("reason", &reason)]);
        let message = "The model called the tool with arguments that do not fit.";
        Self::new("invalid_arguments", message, content)
    }

    /// One reply made more calls than the limit: this call and all after it are not run.
    pub(crate) fn too_many_calls(limit: usize, language: Language) -> Self {
        let content = fill(ToolTexts::of(language).too_many_calls, &[("limit", &limit.to_string())]);
        Self::new("too_many_calls", "The model made too many calls at once.", content)
    }
}
