//! Unix socket in the data folder, by which commands in other processes reach the database of a running server.
//!
//! Only the owner of the folder is admitted: the socket is in a folder of mode 0700, and peers of other users are
//! rejected.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use commands::private_files;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::UnixStream;

use super::answer::Answer;
use super::file;

/// Folder of the socket inside the data folder; only its owner may access it.
const SOCKET_FOLDER: &str = "private";

const SOCKET_FILE: &str = "dynamodb.sock";

/// Length limit of a socket path that every system accepts, in bytes.
const MAX_PATH_BYTES: usize = 100;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Removes the name of a socket and its folder when dropped.
pub(super) struct SocketName(PathBuf);

impl Drop for SocketName {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.0);
        let _gone = self.0.parent().map(fs::remove_dir);
    }
}

/// Listens in a data folder that is locked for this process; the name is for the server to drop when it ends.
pub(super) fn listen(data: &Path) -> io::Result<(std::os::unix::net::UnixListener, SocketName)> {
    let folder = data.join(SOCKET_FOLDER);
    file::check_folder(&folder)?;
    private_files::create_folder(&folder)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
    let path = folder.join(SOCKET_FILE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = with_short_path(&path, |path| std::os::unix::net::UnixListener::bind(path))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((listener, SocketName(path)))
}

/// Whether a peer may use the database; a rejected one is logged.
pub(super) fn admits(stream: &UnixStream) -> bool {
    let is_owner = is_owner(stream);
    if !is_owner {
        tracing::warn!("another user tried to reach the database");
    }
    is_owner
}

pub(super) fn is_served(data: &Path) -> bool {
    connect(data).is_ok()
}

/// Sends an SDK request to the server of a data folder.
pub(super) async fn send(data: &Path, request: HttpRequest) -> Result<Answer, Error> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(connect(data)?)).await?;
    let exchange = async move {
        let response = sender.send_request(to_hyper_request(request)?).await?;
        let status = response.status().as_u16();
        Ok(Answer::new(status, response.into_body().collect().await?.to_bytes().to_vec()))
    };
    // The connection ends after the exchange, which owns its sender.
    let (answer, _ended) = futures_util::future::join(exchange, connection).await;
    answer
}

/// Converts the request; its body is in memory, as for every SDK request.
fn to_hyper_request(request: HttpRequest) -> Result<Request<Full<Bytes>>, Error> {
    let (mut head, body) = request.try_into_http1x()?.into_parts();
    head.uri = hyper::Uri::from_static("/");
    head.headers.insert(HOST, hyper::header::HeaderValue::from_static("localhost"));
    let body = Bytes::copy_from_slice(body.bytes().unwrap_or_default());
    Ok(Request::from_parts(head, Full::new(body)))
}

fn connect(data: &Path) -> io::Result<UnixStream> {
    let path = data.join(SOCKET_FOLDER).join(SOCKET_FILE);
    let stream = with_short_path(&path, |path| std::os::unix::net::UnixStream::connect(path))?;
    stream.set_nonblocking(true)?;
    let stream = UnixStream::from_std(stream)?;
    // Make sure that no other user's process answers instead of the server.
    if is_owner(&stream) { Ok(stream) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Calls `act` with a path to the socket that is short enough for the system.
///
/// If the path is too long, it goes through a link in a temporary folder of mode 0700.
fn with_short_path<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), true) = (path.parent(), path.as_os_str().len() > MAX_PATH_BYTES) else { return act(path) };
    let temporary: TempDir = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir()?;
    let link = temporary.path().join("l");
    symlink(std::path::absolute(folder)?, &link)?;
    act(&link.join(SOCKET_FILE))
}

/// Whether a peer is the user of this process, or root.
fn is_owner(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_is_reachable_by_long_path() {
        let folder = TempDir::new().unwrap();
        let deep = folder.path().join("d".repeat(120));
        fs::create_dir(&deep).unwrap();
        for data in [folder.path(), &deep] {
            let (_listener, name) = listen(data).unwrap();
            let connected = with_short_path(&name.0, |path| std::os::unix::net::UnixStream::connect(path));
            assert!(connected.is_ok());
        }
    }

    #[test]
    fn link_instead_of_socket_folder_is_rejected() {
        let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        symlink(other.path(), folder.path().join(SOCKET_FOLDER)).unwrap();
        let refused = listen(folder.path()).err().unwrap();
        assert!(refused.to_string().contains("is not a folder"), "{refused}");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn socket_folder_is_private() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join(SOCKET_FOLDER)).unwrap();
        fs::write(folder.path().join(SOCKET_FOLDER).join(SOCKET_FILE), "left behind").unwrap();
        let (_listener, name) = listen(folder.path()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join(SOCKET_FOLDER)), 0o700);
        assert_eq!(mode(&name.0), 0o600);
        let path = name.0.clone();
        drop(name);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{}", path.display());
    }
}
