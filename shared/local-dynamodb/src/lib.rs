//! The embedded database, and the routes by which this process and others on this machine reach it.

mod answer;
mod bulk_put;
mod calls;
mod copy;
mod file;
mod folder;
mod health;
mod http;
mod operations;
mod socket;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aws_types::SdkConfig;
use calls::{DatabaseThread, Route};
use commands::CommandError;
use dynoxide::Database;
use folder::{DataFolder, OpenDatabase, unusable};
use health::Health;
use http::Guard;
use platform::settings::{SettingError, Settings};
use socket::SocketName;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use copy::{back_up, restore};
pub use folder::{is_open_to_others, movable_in};

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
pub struct EmbeddedDatabase {
    route: Route,
    /// The address given with `--dynamodb`, if any.
    pub address: Option<SocketAddr>,
    /// Whether the store was created by this start.
    pub is_new: bool,
    // These are dropped in this order. The socket's name goes before the lock, so that no command connects to a dead socket.
    _socket_name: Option<SocketName>,
    /// Ends the routes for other processes.
    _serving: Option<DropGuard>,
    _thread: Option<DatabaseThread>,
    /// Held while the folder is in use.
    _folder: Option<DataFolder>,
}

/// Returns the client configuration: for the embedded database, at which the settings then point, or for the one that
/// they name.
pub fn sdk_config(embedded: Option<&EmbeddedDatabase>, settings: &mut Settings) -> Result<SdkConfig, SettingError> {
    let Some(EmbeddedDatabase { route, .. }) = embedded else { return store::sdk_config(settings) };
    override_settings(settings);
    Ok(route.configure(store::sdk_config(settings)?))
}

impl EmbeddedDatabase {
    /// Opens the database for a server: for this process, for commands on the same folder, and on `address` for other
    /// programs on this machine.
    pub fn start(data: &Data, address: Option<SocketAddr>) -> Result<Self, CommandError> {
        let tcp = address.map(listen).transpose()?;
        let Data::Folder(path) = data else { return Self::serve(None, tcp, None) };
        let folder = DataFolder::lock(path)?.ok_or_else(|| unusable(path, &"another server uses it"))?;
        Self::serve(Some(folder), tcp, Some(path))
    }

    /// Connects a command to the database of a folder: through the server that has it open, else by opening it.
    pub async fn join(path: &Path) -> Result<Self, CommandError> {
        let (pause, times) = JOIN_RETRY;
        for _ in 0..times {
            if let Some(folder) = DataFolder::lock(path)? {
                return Self::serve(Some(folder), None, None);
            }
            if socket::is_served(path) {
                let route = Route::Socket(path.to_owned());
                return Ok(Self {
                    route,
                    address: None,
                    is_new: false,
                    _socket_name: None,
                    _serving: None,
                    _thread: None,
                    _folder: None,
                });
            }
            tokio::time::sleep(pause).await;
        }
        Err(unusable(path, &"another command uses it"))
    }

    fn serve(
        mut folder: Option<DataFolder>,
        tcp: Option<std::net::TcpListener>,
        commands_at: Option<&Path>,
    ) -> Result<Self, CommandError> {
        let opened = folder.as_mut().map(DataFolder::open).transpose()?;
        let (database, file, is_new) = match opened {
            Some(OpenDatabase { database, file, is_new }) => (database, Some(file), is_new),
            None => (Database::memory().map_err(|error| unusable(Path::new("memory"), &error))?, None, true),
        };
        let address = tcp.as_ref().map(std::net::TcpListener::local_addr).transpose()?;
        let listen = |path: &Path| socket::listen(path).map_err(|error| unusable(path, &error));
        let (socket, socket_name) = commands_at.map(listen).transpose()?.unzip();
        let (thread, stop) = (DatabaseThread::start(database, Health::of(file.as_deref()))?, CancellationToken::new());
        if let Some(listener) = tcp {
            let admits = |stream: &TcpStream| stream.set_nodelay(true).is_ok();
            let listener = TcpListener::from_std(listener)?;
            let serving = http::serve(listener, thread.calls(), Guard::NoBrowsers, admits, stop.clone());
            tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        }
        if let Some(listener) = socket {
            let listener = UnixListener::from_std(listener)?;
            let serving = http::serve(listener, thread.calls(), Guard::OwnerOnly, socket::admits, stop.clone());
            tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        }
        Ok(Self {
            route: Route::Channel(thread.calls()),
            address,
            is_new,
            _socket_name: socket_name,
            _serving: Some(stop.drop_guard()),
            _thread: Some(thread),
            _folder: folder,
        })
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

fn listen(address: SocketAddr) -> Result<std::net::TcpListener, CommandError> {
    if !address.ip().is_loopback() {
        return Err(CommandError::wrong_use(format!(
            "--dynamodb {address}: the database requires no credentials, so it listens on loopback only, such as 127.0.0.1:{}",
            address.port()
        )));
    }
    let listener = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(CommandError::of_listener(address, "--dynamodb"))
}
