use std::net::SocketAddr;
use std::path::PathBuf;

use platform::settings::SettingError;

/// Why the server cannot start; each is one line for the person who started it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting cannot be parsed.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {}; choose another one with {option}", reason(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The option that sets it.
        option: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// Anyone in the network could use the server.
    #[error(
        "--host {0}: without authentication the server listens on loopback only, such as 127.0.0.1; AUTH=api_key requires a key of callers"
    )]
    Exposed(std::net::IpAddr),
    /// Other machines could use the embedded database.
    #[error(
        "--dynamodb {0}: the database requires no credentials, so it listens on loopback only, such as 127.0.0.1:{port}",
        port = .0.port()
    )]
    ExposedDatabase(SocketAddr),
    /// The data folder cannot be used.
    #[error("cannot keep data in {}: {reason}; choose another folder with --data, or none with --ephemeral", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No recording can be made in the folder.
    #[error("cannot record turns in {}: {source}; choose another folder with --record", folder.display())]
    Recordings {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The database failed.
    #[error("the database cannot be used: {0}")]
    Store(#[from] store::StoreError),
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Transport(#[from] platform::transport::TransportError),
    /// The system refuses something that a server needs.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => "something else listens there already".to_owned(),
        std::io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
