use std::fmt;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::http::Uri;
use platform::secrets::Secret;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// How a check ended, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    Ok,
    /// It works, but could be better.
    Note,
    Failed,
}

/// The result of one check, for the operator; it contains no key and no text of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) status: Status,
    pub(super) subject: &'static str,
    pub(super) text: String,
}

/// Reads a key where it is stored; a finding only if that fails. `secret` names it.
pub(super) async fn check_key(key: Option<&Secret>, secret: &str, limit: Duration) -> Option<Finding> {
    match timeout(limit, key?.get()).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(Finding::failed("key", format!("{error}{}", advice_on(&error.reason)))),
        Err(_elapsed) => Some(Finding::failed("key", format!("{secret} could not be read in time"))),
    }
}

/// What to do about a secret that cannot be read, after a colon; empty if the reason does not show it.
fn advice_on(reason: &str) -> &'static str {
    match reason.rsplit(' ').next() {
        Some("ParameterNotFound" | "ResourceNotFoundException") => {
            ": nothing is stored under this name in this region, store the key there"
        }
        Some("AccessDeniedException") => {
            ": allow ssm:GetParameter on it (of Secrets Manager secretsmanager:GetSecretValue), and kms:Decrypt on a key of \
             your own"
        }
        _ => "",
    }
}

impl Finding {
    pub(super) fn ok(subject: &'static str, text: impl Into<String>) -> Self {
        Self { status: Status::Ok, subject, text: text.into() }
    }

    pub(super) fn note(subject: &'static str, text: impl Into<String>) -> Self {
        Self { status: Status::Note, subject, text: text.into() }
    }

    pub(super) fn failed(subject: &'static str, text: impl Into<String>) -> Self {
        Self { status: Status::Failed, subject, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match self.status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Failed => "FAILED",
        };
        write!(f, "  {label:<8}{:<11}{}", self.subject, self.text)
    }
}

/// Why no request reaches a server.
struct Obstacle {
    cause: &'static str,
    /// Whether the server is on this machine or in a private network.
    is_private: bool,
}

/// Host and port of an address, without a user, a path or a query.
pub(super) fn host_of(address: &str) -> String {
    let uri: Option<Uri> = address.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or("its address");
    match uri.as_ref().and_then(Uri::port_u16) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Returns why `host` of an address cannot be reached and what to do; `None` if it accepts connections.
/// `setting` names the address.
pub(super) async fn unreachable(address: &str, host: &str, setting: &str, limit: Duration) -> Option<String> {
    let Obstacle { cause, is_private } = obstacle(&address.parse().ok()?, limit).await?;
    let advice = if is_private { "start the server" } else { "check the network and the name" };
    Some(format!("{host} cannot be reached, {cause}: {advice}, or set {setting}"))
}

async fn obstacle(uri: &Uri, limit: Duration) -> Option<Obstacle> {
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let host = uri.host()?.trim_matches(['[', ']']);
    let found = timeout(limit, lookup_host((host, port))).await.ok().and_then(Result::ok);
    let addresses: Vec<SocketAddr> = found.into_iter().flatten().collect();
    let is_private = addresses.iter().any(|address| match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    });
    let cause = match timeout(limit, TcpStream::connect(&*addresses)).await {
        _ if addresses.is_empty() => "its name has no address (DNS)",
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => "the connection is refused",
        Ok(Err(_)) => "there is no route to it",
        Err(_elapsed) => "it does not answer",
        Ok(Ok(_)) if !is_tls => return None,
        Ok(Ok(_)) => {
            match timeout(limit, platform::transport::build_client().ok()?.get(uri.to_string()).send()).await {
                Ok(Err(_)) => "TLS fails, for example because of its certificate",
                Ok(Ok(_)) | Err(_) => return None,
            }
        }
    };
    Some(Obstacle { cause, is_private })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_has_no_user_path_or_query() {
        assert_eq!(host_of("https://user:canary@h.example/canary?key=canary"), "h.example");
        assert_eq!(host_of("http://127.0.0.1:11434/v1"), "127.0.0.1:11434");
        assert_eq!(host_of("http://[::1]:80"), "[::1]:80");
        assert_eq!(host_of("not an address"), "its address");
    }
}
