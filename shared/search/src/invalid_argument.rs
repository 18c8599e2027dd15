use domain::Language;
use prompts::{SearchTexts, fill};
use tools::ToolCallError;

/// Maximum number of host names in one list.
pub(crate) const MAX_DOMAINS: usize = 10;

/// Why the arguments of a call are not accepted, although they fit the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidArgument {
    BlankQuery,
    /// The list of this name is too long.
    TooManyDomains(&'static str),
    /// The list of this name has something that is no host name.
    InvalidDomain(&'static str),
    /// The address is not one of a public page.
    InvalidUrl,
    /// The address did not appear in the conversation.
    UnknownUrl,
    /// The address contains personal data.
    PersonalUrl,
}

impl InvalidArgument {
    /// The failure; the model reads what is accepted.
    pub(crate) fn to_call_error(self, language: Language) -> ToolCallError {
        let texts = SearchTexts::of(language);
        let reason = match self {
            Self::BlankQuery => texts.blank_query.to_owned(),
            Self::TooManyDomains(field) => {
                fill(texts.too_many_domains, &[("field", field), ("count", &MAX_DOMAINS.to_string())])
            }
            Self::InvalidDomain(field) => fill(texts.invalid_domain, &[("field", field)]),
            Self::InvalidUrl => texts.invalid_url.to_owned(),
            Self::UnknownUrl => texts.unknown_url.to_owned(),
            Self::PersonalUrl => texts.personal_url.to_owned(),
        };
        ToolCallError::invalid_arguments(&reason, language)
    }
}
