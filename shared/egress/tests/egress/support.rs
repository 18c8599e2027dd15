//! A network without internet: tests define the addresses of names, and public addresses lead to loopback.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use egress::{Egress, EgressError, Limits, Network, Policy, Request};
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Public hosts over either scheme and any port, because the tests use no TLS.
pub(crate) const OPEN: Policy = Policy::public().with_http().with_any_port();

/// The names of a test, each with the results of successive lookups; the last one repeats.
#[derive(Clone, Default)]
pub(crate) struct FakeNetwork {
    records: Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>,
    lookups: Arc<Mutex<Vec<String>>>,
    routes: Arc<Mutex<HashMap<IpAddr, SocketAddr>>>,
}

impl FakeNetwork {
    pub(crate) fn with(self, name: &str, results: &[&[&str]]) -> Self {
        let parsed = results.iter().map(|answer| answer.iter().map(|address| address.parse().unwrap()).collect());
        self.records.lock().unwrap().insert(name.to_owned(), parsed.collect());
        self
    }

    /// Routes connections to this address to a server of the test.
    pub(crate) fn with_route(self, address: &str, server: &Server) -> Self {
        self.routes.lock().unwrap().insert(address.parse().unwrap(), server.address);
        self
    }

    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }

    pub(crate) fn egress(&self, policy: Policy) -> Egress {
        Egress::new(policy, self.clone())
    }
}

#[async_trait]
impl Network for FakeNetwork {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.lock().unwrap().push(name.to_owned());
        let mut names = self.records.lock().unwrap();
        let results = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        if results.len() > 1 { Ok(results.remove(0)) } else { Ok(results[0].clone()) }
    }

    /// Without a route the address itself is used, as in production.
    fn connect_address(&self, checked: SocketAddr) -> SocketAddr {
        self.routes.lock().unwrap().get(&checked.ip()).copied().unwrap_or(checked)
    }
}

/// Answers every connection with the same bytes and records the requests.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(response: impl Into<Vec<u8>>) -> Self {
        Self::serve(response.into(), true).await
    }

    /// Answers and never closes the connection.
    pub(crate) async fn start_hanging(response: impl Into<Vec<u8>>) -> Self {
        Self::serve(response.into(), false).await
    }

    async fn serve(response: Vec<u8>, closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = received.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (response, seen) = (response.clone(), seen.clone());
                tokio::spawn(async move {
                    let mut request = vec![0; 65536];
                    let read = stream.read(&mut request).await.unwrap_or(0);
                    seen.lock().unwrap().push(String::from_utf8_lossy(&request[..read]).into_owned());
                    let _ = stream.write_all(&response).await;
                    if !closes {
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        Self { address, received }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn redirect_to(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

pub(crate) fn get(url: &str) -> Request {
    let limits = Limits { total_timeout: Duration::from_secs(5), ..Limits::default() };
    Request::new(Method::GET, url.parse().unwrap()).limits(limits)
}

/// Sends a request; returns the status and the text of the response.
pub(crate) async fn fetch(egress: &Egress, request: Request) -> Result<(u16, String), EgressError> {
    let response = egress.send(request).await?;
    Ok((response.status.as_u16(), response.text().into_owned()))
}
