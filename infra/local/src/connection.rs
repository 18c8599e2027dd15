//! Connections to clients, each written to in one piece.
//!
//! A frame of a word is three pieces for HTTP: its length, itself, a line end. To hand the kernel a list of them costs more
//! than to copy a hundred bytes, so a connection says that it takes no lists, and HTTP puts them together. The memory for
//! that is as large as the largest of a connection's answers so far, and some 400 KB at most where a client does not read.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Where clients connect.
pub(crate) struct Listening(pub(crate) TcpListener);

/// A client's connection.
pub(crate) struct Connection(TcpStream);

impl Connection {
    /// Has what is written leave at once.
    pub(crate) fn set_nodelay(&self) -> io::Result<()> {
        self.0.set_nodelay(true)
    }

    fn stream(self: Pin<&mut Self>) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.get_mut().0)
    }
}

impl Listener for Listening {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        (Connection(stream), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_read(context, into)
    }
}

/// Lists of pieces it does not take, which is what a writer says unless it says otherwise.
impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_connection_takes_no_lists_of_pieces_and_passes_on_what_it_takes() {
        let mut listening = Listening(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let mut client = TcpStream::connect(listening.local_addr().unwrap()).await.unwrap();
        let (mut connection, address) = listening.accept().await;
        assert_eq!(address, client.local_addr().unwrap());
        connection.set_nodelay().unwrap();
        assert!(connection.0.nodelay().unwrap() && !connection.is_write_vectored());
        client.write_all(b"asked").await.unwrap();
        connection.read_exact(&mut [0; 5]).await.unwrap();
        connection.write_all(b"told").await.unwrap();
        connection.shutdown().await.unwrap();
        let mut told = String::new();
        client.read_to_string(&mut told).await.unwrap();
        assert_eq!(told, "told");
    }
}
