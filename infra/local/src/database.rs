mod direct;
mod operations;
mod puts;
#[cfg(test)]
mod tests;
mod tokens;

use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aws_types::SdkConfig;
use direct::{Call, Calls};
use dynoxide::Database;
use settings::{SettingError, Settings};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::StartError;

/// How often items whose time to live is over are removed; readers check it themselves in between.
const SWEEP: Duration = Duration::from_mins(10);

/// Where the embedded database keeps its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nowhere: they are gone with the process.
    Memory,
    /// In a file in this folder, which is made if need be.
    Folder(PathBuf),
}

/// Where a server in a folder says at which address it serves the database; only its user may read it.
const ADDRESS: &str = "dynamodb.address";

/// How often, and how many times, a command looks whether it can have a folder that another command uses.
const WAIT: (Duration, u32) = (Duration::from_millis(100), 50);

/// The database in this process, served to its SDK through a channel, and to other processes over loopback like any
/// other DynamoDB.
///
/// It has a thread of its own, as it would have a machine: while it writes to its file, no answer waits.
pub(crate) struct Embedded {
    address: SocketAddr,
    /// Until this is dropped; the thread has let the file go when it ends.
    serving: Option<Serving>,
    /// Held for as long as the folder is in use.
    lock: Option<File>,
    /// The file that says the address, until this is over.
    published: Option<PathBuf>,
}

/// The thread that serves, and what ends it.
struct Serving {
    calls: Calls,
    until: DropGuard,
    thread: JoinHandle<()>,
}

/// The configuration of clients of the embedded database, to which the settings then point, or of the one that they name.
pub(crate) fn sdk_config(embedded: Option<&Embedded>, settings: &mut Settings) -> Result<SdkConfig, SettingError> {
    match embedded {
        Some(embedded) => embedded.sdk_config(settings),
        None => store::sdk_config(settings),
    }
}

impl Embedded {
    /// Opens the database and serves it on `address`, or on a free loopback port, until this is dropped.
    pub(crate) fn start(data: &Data, address: Option<SocketAddr>) -> Result<Self, StartError> {
        let lock = match data {
            Data::Memory => None,
            Data::Folder(folder) => Some(lock(folder)?.ok_or_else(|| unusable(folder, &"another server uses it"))?),
        };
        let mut embedded = Self::serve(data, lock, address)?;
        if let Data::Folder(folder) = data {
            embedded.published = Some(publish(folder, embedded.address).map_err(|error| unusable(folder, &error))?);
        }
        Ok(embedded)
    }

    /// Reaches the database of a folder for a command: the one that a server serves there, else opened here.
    pub(crate) async fn join(folder: &Path) -> Result<Self, StartError> {
        let (pause, times) = WAIT;
        for _ in 0..times {
            if let Some(lock) = lock(folder)? {
                return Self::serve(&Data::Folder(folder.to_owned()), Some(lock), None);
            }
            if let Some(address) = published(folder) {
                return Ok(Self { address, serving: None, lock: None, published: None });
            }
            tokio::time::sleep(pause).await;
        }
        Err(unusable(folder, &"another command uses it"))
    }

    fn serve(data: &Data, lock: Option<File>, address: Option<SocketAddr>) -> Result<Self, StartError> {
        let database = open(data)?;
        let address = address.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let listener = std::net::TcpListener::bind(address);
        let listener = listener.map_err(|source| StartError::Listen { address, option: "--dynamodb", source })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let until = stop.clone();
        let (calls, called) = Calls::channel();
        let thread = thread::Builder::new().name("dynamodb".to_owned()).spawn(move || {
            if let Err(error) = serve(listener, called, database, &until) {
                tracing::error!(%error, "the database cannot be served");
            }
        })?;
        let serving = Serving { calls, until: stop.drop_guard(), thread };
        Ok(Self { address, serving: Some(serving), lock, published: None })
    }

    /// Points settings at this database, and gives the configuration of clients of it: their requests need no connection
    /// where it is in this process.
    fn sdk_config(&self, settings: &mut Settings) -> Result<SdkConfig, SettingError> {
        self.point(settings);
        let config = store::sdk_config(settings)?;
        Ok(match &self.serving {
            Some(serving) => serving.calls.carry(config),
            None => config,
        })
    }

    /// Nothing in settings may lead to a real database.
    fn point(&self, settings: &mut Settings) {
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

/// The address goes first, and then the lock, so that nobody takes it for a living one.
impl Drop for Embedded {
    fn drop(&mut self) {
        if let Some(file) = &self.published {
            let _gone = fs::remove_file(file);
        }
        if let Some(Serving { until, thread, .. }) = self.serving.take() {
            drop(until);
            // A panic in it was told where it happened.
            let _ended = thread.join();
        }
        drop(self.lock.take());
    }
}

/// Serves the database on this thread until `stop`; calls that it has not begun by then fail.
fn serve(
    listener: std::net::TcpListener,
    calls: UnboundedReceiver<Call>,
    database: Database,
    stop: &CancellationToken,
) -> std::io::Result<()> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        tokio::spawn(direct::perform(calls, database.clone()));
        tokio::select! {
            () = dynoxide::server::serve_on(listener, database.clone()) => {}
            () = sweep(database) => {}
            () = stop.cancelled() => {}
        }
        Ok(())
    })
}

fn open(data: &Data) -> Result<Database, StartError> {
    let Data::Folder(folder) = data else {
        return Database::memory().map_err(|error| unusable(Path::new("memory"), &error));
    };
    let file = folder.join("dynamodb.sqlite");
    let file = file.to_str().ok_or_else(|| unusable(folder, &"its name is not Unicode"))?;
    let database = Database::new(file).map_err(|error| unusable(folder, &error))?;
    // Each write is in the file when it is answered, and outlives the process; the disk is waited for now and then only, so
    // that a power failure may cost what was written last, and nothing more.
    database.disable_bulk_loading().map_err(|error| unusable(folder, &error))?;
    Ok(database)
}

/// Makes the folder and takes it for this process: two servers over one file would not see each other's writes. `None`
/// when another process has it.
fn lock(folder: &Path) -> Result<Option<File>, StartError> {
    make(folder).map_err(|error| unusable(folder, &error))?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join("lock"));
    let file = file.map_err(|error| unusable(folder, &error))?;
    match file.try_lock() {
        Ok(()) => {
            // Whoever had said it did not come to take it back.
            let _gone = fs::remove_file(folder.join(ADDRESS));
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(unusable(folder, &error)),
    }
}

/// Says in the folder where the database is served; gives the file. It appears whole or not at all.
fn publish(folder: &Path, address: SocketAddr) -> std::io::Result<PathBuf> {
    let (draft, file) = (folder.join(format!("{ADDRESS}.new")), folder.join(ADDRESS));
    let _gone = fs::remove_file(&draft);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&draft)?.write_all(address.to_string().as_bytes())?;
    fs::rename(&draft, &file)?;
    Ok(file)
}

fn published(folder: &Path) -> Option<SocketAddr> {
    fs::read_to_string(folder.join(ADDRESS)).ok()?.parse().ok()
}

/// Conversations are nobody else's to read.
fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn unusable(folder: &Path, reason: &dyn Display) -> StartError {
    StartError::Folder { folder: folder.to_owned(), reason: reason.to_string() }
}

async fn sweep(database: Database) {
    let mut ticks = tokio::time::interval(SWEEP);
    loop {
        ticks.tick().await;
        let database = database.clone();
        let swept = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
        if !matches!(swept, Ok(Ok(_))) {
            tracing::warn!("expired items could not be removed; they are tried again later");
        }
    }
}
