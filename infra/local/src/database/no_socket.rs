//! Replaces the Unix socket on systems without one, where commands cannot run while a server runs.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::path::Path;

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;

use super::answer::Answer;
use super::calls::CallSender;

/// Stub of the listening socket.
pub(super) struct Socket;

/// Stub of the socket's name.
pub(super) struct SocketName;

impl Socket {
    pub(super) fn listen(_data: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn name_guard(&self) -> SocketName {
        SocketName
    }

    pub(super) async fn serve(self, _calls: CallSender) -> io::Result<Infallible> {
        std::future::pending().await
    }
}

pub(super) fn is_served(_data: &Path) -> bool {
    false
}

pub(super) async fn send(_data: &Path, _request: HttpRequest) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    Err(Box::new(io::Error::from(io::ErrorKind::Unsupported)))
}
