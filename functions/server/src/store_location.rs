use std::path::{Path, PathBuf};
use std::sync::Arc;

use articles::ArticlesConfig;
use attachments::{Attachments, Blobs, Bucket, Reader};
use clap::Args;
use commands::CommandError;
use local_dynamodb::EmbeddedDatabase;
use platform::settings::Settings;
use store::{Store, TableNames};

/// Setting that names a DynamoDB other than the embedded one.
const ENDPOINT_SETTING: &str = "AWS_ENDPOINT_URL_DYNAMODB";

/// Whose store a command works on.
///
/// With `--aws` the tables of the environment's account and region; else those at `AWS_ENDPOINT_URL_DYNAMODB` where it is
/// set; else the ones in the data folder, also while a server uses them.
#[derive(Args, Debug)]
pub(crate) struct StoreLocation {
    /// The folder of the local server.
    #[arg(long, value_name = "DIR", default_value = ".data")]
    pub(crate) data: PathBuf,
    /// Works on the tables of a deployed function instead: `DATA_TABLE`, `EPHEMERAL_TABLE`, `AWS_REGION` and
    /// credentials are taken from the environment.
    #[arg(long, conflicts_with = "data")]
    pub(crate) aws: bool,
}

pub(crate) struct OpenStore {
    pub(crate) store: Store,
    /// The content of files; `None` for a function without a bucket for them.
    pub(crate) files: Option<Attachments>,
    _embedded: Option<EmbeddedDatabase>,
}

impl StoreLocation {
    /// Opens the store, with the vector index of its articles. Missing tables are created, except in an AWS account.
    pub(crate) async fn open(&self, mut settings: Settings) -> Result<OpenStore, CommandError> {
        let names = TableNames::from_settings(&settings)?;
        let is_external = self.aws || settings.var(ENDPOINT_SETTING).is_some();
        let embedded = if is_external { None } else { Some(EmbeddedDatabase::join(&self.data).await?) };
        if self.aws {
            settings.set(ENDPOINT_SETTING, "");
        }
        let aws = local_dynamodb::sdk_config(embedded.as_ref(), &mut settings)?;
        if !self.aws {
            store::create_tables(&aws, &names).await?;
        }
        let store = with_article_index(Store::new(&aws, names), &settings)?;
        let bucket = Bucket::from_settings(&settings, &platform::transport::build_client()?)?;
        let folder = (!self.aws).then(|| attachments_folder(&self.data));
        let blobs = bucket.map(|bucket| Blobs::Bucket(Arc::new(bucket))).or(folder);
        let files = blobs.map(|blobs| Attachments::new(blobs, store.files.clone(), Reader::for_attachments()));
        Ok(OpenStore { store, files, _embedded: embedded })
    }
}

/// Where a data folder has the content of files.
pub(crate) fn attachments_folder(data: &Path) -> Blobs {
    Blobs::Folder(data.join("attachments").into())
}

/// Keeps the vector index of the settings in step, also for commands that delete a user.
fn with_article_index(store: Store, settings: &Settings) -> Result<Store, CommandError> {
    let http = platform::transport::build_client()?;
    let index = ArticlesConfig::from_settings(settings)?.index(&http);
    Ok(match index {
        Some(index) => store.with_article_index(Arc::new(index)),
        None => store,
    })
}

pub(crate) fn user(text: &str) -> Result<String, String> {
    if store::is_user_name(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 256 characters are accepted, not blank".to_owned())
    }
}
