use std::convert::Infallible;
use std::sync::Arc;

use domain::Language;
use platform::settings::{SettingError, Settings};
use tools::Tool;
use web::Caller;

use super::{DOCUMENT_GROUPS, DOCUMENTS_DIR, DOCUMENTS_HIDDEN};
use crate::Result;

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
        settings.parse(DOCUMENT_GROUPS, accepted, |_| None::<Self>)?;
        settings.parse(DOCUMENTS_DIR, accepted, |_| None)
    }

    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        match self.0 {}
    }

    pub(crate) fn system_prompt(_: Language) -> &'static str {
        ""
    }

    #[expect(clippy::unused_async, reason = "it has the signature of the other build")]
    pub(crate) async fn read(&self, _: &Caller, _: &str, _: Option<&str>) -> Result<String> {
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
        for name in ["DOCUMENTS_DIR", "DOCUMENT_GROUPS"] {
            let error = root(&[(name, "{}")]).unwrap_err().to_string();
            let expected =
                "expected no value: this build has no document tools, which the Cargo feature `documents` adds";
            assert_eq!(error, format!("{name}: {expected}"));
        }
    }
}
