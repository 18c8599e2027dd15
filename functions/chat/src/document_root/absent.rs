use std::convert::Infallible;
use std::sync::Arc;

use domain::{Language, Owner};
use platform::settings::{SettingError, Settings};
use tools::Tool;
use web::ApiError;

use super::{DOCUMENTS_DIR, DOCUMENTS_HIDDEN};

/// The folder of documents, which does not exist in this build.
#[derive(Clone, Debug)]
pub struct DocumentRoot(Infallible);

impl DocumentRoot {
    /// Returns `None`.
    ///
    /// # Errors
    /// Settings that name a folder.
    pub fn from_settings(settings: &Settings, _: &platform::transport::Client) -> Result<Option<Self>, SettingError> {
        settings.is_yes(DOCUMENTS_HIDDEN)?;
        let accepted = "no value: this build has no document tools, which the Cargo feature `documents` adds";
        settings.parse(DOCUMENTS_DIR, accepted, |_| None)
    }

    /// The tools over the folder.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        match self.0 {}
    }

    /// The system prompt of the agent that answers from documents.
    pub(crate) fn system_prompt(_: Language) -> &'static str {
        ""
    }

    /// Reads lines of a document.
    #[expect(clippy::unused_async, reason = "it has the signature of the other build")]
    pub(crate) async fn read(&self, _: &Owner, _: &str, _: Option<&str>) -> Result<String, ApiError> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_need_their_feature() {
        let http = platform::transport::build_client().unwrap();
        let root =
            |pairs: &[(&str, &str)]| DocumentRoot::from_settings(&Settings::from_pairs(pairs.iter().copied()), &http);
        assert!(root(&[("DOCUMENTS_HIDDEN", "yes")]).unwrap().is_none());
        let error = root(&[("DOCUMENTS_DIR", "/tmp")]).unwrap_err().to_string();
        let expected = "DOCUMENTS_DIR: expected no value: this build has no document tools, which the Cargo feature \
            `documents` adds";
        assert_eq!(error, expected);
    }
}
