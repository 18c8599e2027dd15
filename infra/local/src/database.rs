use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dynoxide::Database;
use settings::Settings;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::StartError;

/// How often items whose time to live is over are removed; readers check it themselves in between.
const SWEEP: Duration = Duration::from_secs(600);

/// Where the embedded database keeps its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nowhere: they are gone with the process.
    Memory,
    /// In a file in this folder, which is made if need be.
    Folder(PathBuf),
}

/// The database in this process, served to the SDK over loopback like any other DynamoDB.
pub(crate) struct Embedded {
    address: SocketAddr,
    /// Held for as long as the folder is in use.
    _lock: Option<File>,
}

impl Embedded {
    /// Opens the database and serves it on `address`, or on a free loopback port, until `stop`.
    pub(crate) async fn start(
        data: &Data,
        address: Option<SocketAddr>,
        stop: CancellationToken,
    ) -> Result<Self, StartError> {
        let (database, lock) = open(data)?;
        let address = address.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let listener = TcpListener::bind(address).await;
        let listener =
            listener.map_err(|source| StartError::Listen { address, option: "--dynamodb", source })?;
        let address = listener.local_addr()?;
        tokio::spawn(sweep(database.clone(), stop.clone()));
        tokio::spawn(async move {
            tokio::select! {
                () = dynoxide::server::serve_on(listener, database) => {}
                () = stop.cancelled() => {}
            }
        });
        Ok(Self { address, _lock: lock })
    }

    /// Points settings at this database; nothing in them may lead to a real one.
    pub(crate) fn point(&self, settings: &mut Settings) {
        settings.set("AWS_ENDPOINT_URL_DYNAMODB", format!("http://{}", self.address));
        for (name, value) in [
            ("AWS_REGION", "local"),
            ("AWS_ACCESS_KEY_ID", "local"),
            ("AWS_SECRET_ACCESS_KEY", "local"),
            ("AWS_SESSION_TOKEN", ""),
        ] {
            settings.set(name, value);
        }
    }
}

fn open(data: &Data) -> Result<(Database, Option<File>), StartError> {
    let Data::Folder(folder) = data else {
        let database = Database::memory().map_err(|error| unusable(Path::new("memory"), error.to_string()))?;
        return Ok((database, None));
    };
    let lock = lock(folder).map_err(|reason| unusable(folder, reason))?;
    let file = folder.join("dynamodb.sqlite");
    let file = file.to_str().ok_or_else(|| unusable(folder, "its name is not Unicode".to_owned()))?;
    let database = Database::new(file).map_err(|error| unusable(folder, error.to_string()))?;
    Ok((database, Some(lock)))
}

/// Makes the folder and takes it for this process: two servers over one file would not see each other's writes.
fn lock(folder: &Path) -> Result<File, String> {
    make(folder).map_err(|error| error.to_string())?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join("lock"));
    let file = file.map_err(|error| error.to_string())?;
    file.try_lock().map_err(|_| "another server uses it".to_owned())?;
    Ok(file)
}

/// Conversations are nobody else's to read.
fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn unusable(folder: &Path, reason: String) -> StartError {
    StartError::Folder { folder: folder.to_owned(), reason }
}

async fn sweep(database: Database, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = stop.cancelled() => return,
        }
        let database = database.clone();
        let swept = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
        if !matches!(swept, Ok(Ok(_))) {
            tracing::warn!("expired items could not be removed; they are tried again later");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_database_leaves_nothing_that_leads_to_a_real_one() {
        let embedded = Embedded { address: SocketAddr::from(([127, 0, 0, 1], 9)), _lock: None };
        let mut settings = Settings::from_pairs([("AWS_ACCESS_KEY_ID", "AKIAREAL"), ("AWS_SESSION_TOKEN", "real")]);
        embedded.point(&mut settings);
        assert_eq!(settings.var("AWS_ENDPOINT_URL_DYNAMODB"), Some("http://127.0.0.1:9"));
        assert_eq!(settings.var("AWS_ACCESS_KEY_ID"), Some("local"));
        assert_eq!(settings.var("AWS_SESSION_TOKEN"), None);
    }
}
