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
pub(crate) struct Names {
    answers: Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>,
    asked: Arc<Mutex<Vec<String>>>,
    ways: Arc<Mutex<HashMap<IpAddr, SocketAddr>>>,
}

impl Names {
    pub(crate) fn with(self, name: &str, answers: &[&[&str]]) -> Self {
        let parsed = answers.iter().map(|answer| answer.iter().map(|address| address.parse().unwrap()).collect());
        self.answers.lock().unwrap().insert(name.to_owned(), parsed.collect());
        self
    }

    /// Routes connections to this address to a server of the test.
    pub(crate) fn leading(self, address: &str, server: &Server) -> Self {
        self.ways.lock().unwrap().insert(address.parse().unwrap(), server.address);
        self
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn egress(&self, policy: Policy) -> Egress {
        Egress::new(policy, self.clone())
    }
}

#[async_trait]
impl Network for Names {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut names = self.answers.lock().unwrap();
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        if answers.len() > 1 { Ok(answers.remove(0)) } else { Ok(answers[0].clone()) }
    }

    /// Without a route the address itself is used, as in production.
    fn way(&self, checked: SocketAddr) -> SocketAddr {
        self.ways.lock().unwrap().get(&checked.ip()).copied().unwrap_or(checked)
    }
}

/// Answers every connection with the same bytes and records the requests.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        Self::with(answer.into(), true).await
    }

    /// Answers and never closes the connection.
    pub(crate) async fn hanging(answer: impl Into<Vec<u8>>) -> Self {
        Self::with(answer.into(), false).await
    }

    async fn with(answer: Vec<u8>, closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = received.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, seen) = (answer.clone(), seen.clone());
                tokio::spawn(async move {
                    let mut request = vec![0; 65536];
                    let read = stream.read(&mut request).await.unwrap_or(0);
                    seen.lock().unwrap().push(String::from_utf8_lossy(&request[..read]).into_owned());
                    let _ = stream.write_all(&answer).await;
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

pub(crate) fn to(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

pub(crate) fn get(url: &str) -> Request {
    let limits = Limits { total: Duration::from_secs(5), ..Limits::default() };
    Request::new(Method::GET, url.parse().unwrap()).limits(limits)
}

/// Sends a request; returns the status and the text of the response.
pub(crate) async fn answer(egress: &Egress, request: Request) -> Result<(u16, String), EgressError> {
    let response = egress.send(request).await?;
    Ok((response.status.as_u16(), response.text().into_owned()))
}
