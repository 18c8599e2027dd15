use std::path::Path;
use std::sync::Arc;

use documents::{
    BucketAddress, BucketMirror, DocumentError, DocumentGroups, DocumentSource, HiddenFiles, LineRange, MirrorLimits,
};
use domain::{ErrorCode, Language};
use platform::aws::Service;
use platform::settings::{SettingError, Settings};
use platform::transport::Client;
use tools::Tool;
use web::{ApiError, Caller};

use super::{DOCUMENT_GROUPS, DOCUMENTS_DIR, DOCUMENTS_HIDDEN};
use crate::Result;

/// The folder of documents, or their prefix in S3.
#[derive(Clone, Debug)]
pub struct DocumentRoot(DocumentSource);

impl DocumentRoot {
    /// Opens the folder of the settings; `None` if they name none. A prefix in S3 is read at the first call of a tool.
    ///
    /// # Errors
    /// A setting that cannot be parsed, a folder that cannot be opened, and a prefix without region or credentials.
    pub fn from_settings(settings: &Settings, http: &Client) -> Result<Option<Self>, SettingError> {
        let hidden = if settings.is_yes(DOCUMENTS_HIDDEN)? { HiddenFiles::Show } else { HiddenFiles::Skip };
        let accepted = "a JSON object of paths below the folder, each once in any case of letters, with arrays of groups, such as \
                        {\"legal/\":[\"legal\"]}";
        let groups = settings.parse(DOCUMENT_GROUPS, accepted, DocumentGroups::parse)?.unwrap_or_default();
        let source = if settings.var(DOCUMENTS_DIR).is_some_and(BucketAddress::is_address) {
            bucket(settings, http, hidden)?
        } else {
            let open =
                |path: &str| documents::DocumentRoot::open(Path::new(path), hidden).ok().map(DocumentSource::from);
            let accepted = "the path of a folder that exists and can be read, or s3://BUCKET/PREFIX";
            settings.parse(DOCUMENTS_DIR, accepted, open)?
        };
        Ok(source.map(|source| Self(source.with_groups(groups))))
    }

    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        documents::tools(&self.0)
    }

    /// The system prompt of the agent that answers from documents.
    pub(crate) fn system_prompt(language: Language) -> &'static str {
        documents::system_prompt(language)
    }

    /// Reads lines of a document: those of a range such as `3-12`, or the first 2,000.
    ///
    /// # Errors
    /// `not_found` for every path that tools skip for the caller; `invalid_request` for another range and for a file that is
    /// not text.
    pub(crate) async fn read(&self, caller: &Caller, path: &str, lines: Option<&str>) -> Result<String> {
        let range = match lines {
            Some(lines) => LineRange::parse(lines).ok_or_else(|| ApiError::invalid_request(INVALID_LINES))?,
            None => LineRange::default(),
        };
        documents::read_lines(&self.0, (&caller.owner, &caller.membership), path, range).await.map_err(|error| {
            match error {
                DocumentError::Binary => ApiError::invalid_request("This document is not text"),
                DocumentError::OutOfTime => ErrorCode::Deadline.into(),
                DocumentError::Loading | DocumentError::Unavailable => {
                    ApiError::new(ErrorCode::UpstreamUnavailable, "The documents cannot be loaded now")
                }
                DocumentError::Unreadable => ApiError::caused_by(ErrorCode::Internal, "a document is unreadable"),
                _ => ErrorCode::NotFound.into(),
            }
        })
    }
}

/// The documents below a prefix in S3.
fn bucket(settings: &Settings, http: &Client, hidden: HiddenFiles) -> Result<Option<DocumentSource>, SettingError> {
    let address = settings.parse(DOCUMENTS_DIR, "s3://BUCKET/PREFIX", BucketAddress::parse)?;
    let Some(address) = address else { return Ok(None) };
    let service = Service::of_bucket(settings, address.bucket())?;
    let mirror = BucketMirror::new(http.clone(), service, address, hidden, MirrorLimits::default());
    Ok(Some(mirror.into()))
}

const INVALID_LINES: &str = "`lines` must be A-B or A: the first and the last line, from 1, at most 2000 lines";
