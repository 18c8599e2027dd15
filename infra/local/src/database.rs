//! The embedded database, and the routes by which this process and others on this machine reach it.

mod answer;
mod bulk_put;
mod calls;
mod connector;
pub(crate) mod copy;
mod file;
mod folder;
mod health;
mod http;
mod operations;
mod reserve;
mod socket;
#[cfg(test)]
mod tests;
mod trouble;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aws_types::SdkConfig;
use calls::{CallSender, DatabaseCall};
use connector::Route;
use dynoxide::Database;
use folder::{DataFolder, OpenDatabase, unusable};
use health::Health;
use http::Guard;
use platform::settings::{SettingError, Settings};
use socket::SocketName;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::runtime::Builder;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::StartError;

pub(crate) use folder::{is_open_to_others, movable_in};

/// Interval for removing expired items; readers check the expiry themselves in between.
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Placeholder endpoint that resolves to nothing: requests take another route.
const EMBEDDED_ENDPOINT: &str = "http://embedded.invalid";

/// Storage of the embedded database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// In memory: items are lost when the process ends.
    Memory,
    /// In a file in this folder, which is created if needed.
    Folder(PathBuf),
}

/// Retry interval and number of retries of a command for a folder that another command uses.
const JOIN_RETRY: (Duration, u32) = (Duration::from_millis(100), 50);

/// The embedded database, in this process or in the server that has its folder open.
///
/// In this process it has its own thread, so that no response waits while it writes to its file.
pub(crate) struct EmbeddedDatabase {
    route: Route,
    /// The address given with `--dynamodb`, if any.
    address: Option<SocketAddr>,
    is_new: bool,
    // These are dropped in this order. The socket's name goes before the lock, so that no command connects to a dead socket.
    _socket_name: Option<SocketName>,
    _server_thread: Option<ServerThread>,
    /// Held while the folder is in use.
    _folder: Option<DataFolder>,
}

/// The database thread; when this is dropped, it stops and has closed the file.
struct ServerThread {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.stop.cancel();
        // A panic of the thread was already logged.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// Returns the client configuration: for the embedded database, at which the settings then point, or for the one that
/// they name.
pub(crate) fn sdk_config(
    embedded: Option<&EmbeddedDatabase>,
    settings: &mut Settings,
) -> Result<SdkConfig, SettingError> {
    match embedded {
        Some(embedded) => embedded.sdk_config(settings),
        None => store::sdk_config(settings),
    }
}

impl EmbeddedDatabase {
    /// Opens the database for a server: for this process, for commands on the same folder, and on `address` for other
    /// programs on this machine.
    pub(crate) fn start(data: &Data, address: Option<SocketAddr>) -> Result<Self, StartError> {
        let tcp = address.map(listen).transpose()?;
        let Data::Folder(path) = data else { return Self::serve(None, tcp, None) };
        let folder = DataFolder::lock(path)?.ok_or_else(|| unusable(path, &"another server uses it"))?;
        Self::serve(Some(folder), tcp, Some(path))
    }

    /// Connects a command to the database of a folder: through the server that has it open, else by opening it.
    pub(crate) async fn join(path: &Path) -> Result<Self, StartError> {
        let (pause, times) = JOIN_RETRY;
        for _ in 0..times {
            if let Some(folder) = DataFolder::lock(path)? {
                return Self::serve(Some(folder), None, None);
            }
            if socket::is_served(path) {
                return Ok(Self::in_server_process(path));
            }
            tokio::time::sleep(pause).await;
        }
        Err(unusable(path, &"another command uses it"))
    }

    /// The database that another process has open in a folder.
    fn in_server_process(path: &Path) -> Self {
        let route = Route::Socket(path.to_owned());
        Self { route, address: None, is_new: false, _socket_name: None, _server_thread: None, _folder: None }
    }

    fn serve(
        mut folder: Option<DataFolder>,
        tcp: Option<std::net::TcpListener>,
        commands_at: Option<&Path>,
    ) -> Result<Self, StartError> {
        let opened = folder.as_mut().map(DataFolder::open).transpose()?;
        let (database, file, is_new) = match opened {
            Some(OpenDatabase { database, file, is_new }) => (database, Some(file), is_new),
            None => (Database::memory().map_err(|error| unusable(Path::new("memory"), &error))?, None, true),
        };
        let address = tcp.as_ref().map(std::net::TcpListener::local_addr).transpose()?;
        let (calls, receiver) = CallSender::channel();
        let listen = |path: &Path| socket::listen(path).map_err(|error| unusable(path, &error));
        let (socket, socket_name) = commands_at.map(listen).transpose()?.unzip();
        let health = Health::of(file.as_deref());
        let serving = serve_clients(database, health, calls.clone(), receiver, tcp, socket);
        let thread = ServerThread::start(serving)?;
        Ok(Self {
            route: Route::Channel(calls),
            address,
            is_new,
            _socket_name: socket_name,
            _server_thread: Some(thread),
            _folder: folder,
        })
    }

    /// The address for programs on this machine, if `--dynamodb` was given.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Whether the store was created by this start.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Points the settings at this database and returns the configuration of its clients.
    fn sdk_config(&self, settings: &mut Settings) -> Result<SdkConfig, SettingError> {
        override_settings(settings);
        Ok(self.route.configure(store::sdk_config(settings)?))
    }
}

/// Overrides all settings that could lead to a real database.
fn override_settings(settings: &mut Settings) {
    for (name, value) in [
        ("AWS_ENDPOINT_URL_DYNAMODB", EMBEDDED_ENDPOINT),
        ("AWS_REGION", "local"),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_SESSION_TOKEN", ""),
    ] {
        settings.set(name, value);
    }
}

fn listen(address: SocketAddr) -> Result<std::net::TcpListener, StartError> {
    if !address.ip().is_loopback() {
        return Err(StartError::ExposedDatabase(address));
    }
    let listener = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|source| StartError::Listen { address, option: "--dynamodb", source })
}

impl ServerThread {
    /// Runs `serving` on a thread of its own until this is dropped; calls that have not started by then fail.
    fn start(serving: impl Future<Output = std::io::Result<()>> + Send + 'static) -> Result<Self, StartError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let stop = CancellationToken::new();
        let until = stop.clone();
        let thread = thread::Builder::new().name("dynamodb".to_owned()).spawn(move || {
            if let Some(Err(error)) = runtime.block_on(until.run_until_cancelled(serving)) {
                tracing::error!(%error, "the database cannot be served");
            }
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

/// Serves the database to this process, to programs at a TCP port, and to commands at a socket.
async fn serve_clients(
    database: Database,
    health: Health,
    calls: CallSender,
    receiver: UnboundedReceiver<DatabaseCall>,
    tcp: Option<std::net::TcpListener>,
    socket: Option<std::os::unix::net::UnixListener>,
) -> std::io::Result<()> {
    if let Some(listener) = tcp {
        let admits = |stream: &TcpStream| stream.set_nodelay(true).is_ok();
        tokio::spawn(http::serve(TcpListener::from_std(listener)?, calls.clone(), Guard::NoBrowsers, admits));
    }
    if let Some(listener) = socket {
        tokio::spawn(http::serve(UnixListener::from_std(listener)?, calls.clone(), Guard::OwnerOnly, socket::admits));
    }
    drop(calls);
    tokio::spawn(sweep(database.clone()));
    calls::run_calls(receiver, database, health).await;
    Ok(())
}

async fn sweep(database: Database) {
    let mut ticks = tokio::time::interval(SWEEP_INTERVAL);
    loop {
        ticks.tick().await;
        let database = database.clone();
        let swept = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
        if !matches!(swept, Ok(Ok(_))) {
            tracing::warn!("expired items could not be removed; they are tried again later");
        }
    }
}
