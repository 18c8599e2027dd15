use std::net::IpAddr;

use url::{Host, Url};

use crate::address::is_public;

/// The longest URL, in bytes.
const LONGEST_URL: usize = 8 * 1024;

/// Ends of names that only a local network knows.
const LOCAL_SUFFIXES: [&str; 8] =
    [".localhost", ".local", ".internal", ".localdomain", ".lan", ".intranet", ".home.arpa", ".onion"];

/// Why nothing is sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no URL, or a very long one.
    #[error("it is not a URL")]
    NotAUrl,
    /// Another scheme than the policy's.
    #[error("its scheme is not allowed")]
    Scheme,
    /// A user name or a password stands in it.
    #[error("it holds a user or a password")]
    UserInfo,
    /// It names no host.
    #[error("it has no host")]
    NoHost,
    /// Another port than the policy's.
    #[error("its port is not allowed")]
    Port,
    /// The name is one of a local network, or written so that it may be.
    #[error("its host is not a public name")]
    Name,
    /// The host is an address that is not public, or a name that has such an address.
    #[error("its host is not at a public address")]
    Address,
    /// A redirect leads from `https` to `http`.
    #[error("a redirect leads to an unencrypted address")]
    Downgrade,
}

/// Where requests may go; a value of the code, never of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    http: bool,
    any_port: bool,
    loopback: bool,
}

/// A host that was checked as far as it can be without asking for its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Name(String),
    Address(IpAddr),
}

impl Policy {
    /// Public hosts by `https` on port 443.
    pub const fn public() -> Self {
        Self { http: false, any_port: false, loopback: false }
    }

    /// Also by `http`, on port 80.
    #[must_use]
    pub const fn with_http(self) -> Self {
        Self { http: true, ..self }
    }

    /// Also on other ports.
    #[must_use]
    pub const fn with_any_port(self) -> Self {
        Self { any_port: true, ..self }
    }

    /// Also this machine itself, by either scheme on any port, if it is named as such: for development, where somebody
    /// asked for it, and never in a deployed function.
    #[must_use]
    pub const fn with_loopback(self) -> Self {
        Self { loopback: true, ..self }
    }

    /// Parses a URL and checks what can be checked without asking for the addresses of its host.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn parse(self, text: &str) -> Result<Url, Refusal> {
        let short = text.len() <= LONGEST_URL;
        let url = Some(text).filter(|_| short).and_then(|text| Url::parse(text).ok()).ok_or(Refusal::NotAUrl)?;
        self.check(&url)?;
        Ok(url)
    }

    /// Checks what can be checked of a parsed URL without asking for the addresses of its host.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(self, url: &Url) -> Result<(), Refusal> {
        self.target(url).map(|_| ())
    }

    pub(crate) fn target(self, url: &Url) -> Result<Target, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let target = Target::of(url)?;
        if self.loopback && target.is_loopback() {
            return Ok(target);
        }
        self.check_way(url)?;
        match &target {
            Target::Address(address) if !is_public(*address) => Err(Refusal::Address),
            Target::Name(name) if !is_public_name(name) => Err(Refusal::Name),
            _ => Ok(target),
        }
    }

    fn check_way(self, url: &Url) -> Result<(), Refusal> {
        if url.scheme() == "http" && !self.http {
            return Err(Refusal::Scheme);
        }
        // A URL keeps a port only if it is not its scheme's own one.
        if url.port().is_some() && !self.any_port {
            return Err(Refusal::Port);
        }
        Ok(())
    }

    /// Checks what a name was resolved to: one bad address spoils all.
    pub(crate) fn check_addresses(self, target: &Target, addresses: &[IpAddr]) -> Result<(), Refusal> {
        let local = self.loopback && target.is_loopback();
        let good = |address: &IpAddr| if local { address.is_loopback() } else { is_public(*address) };
        if addresses.iter().all(good) { Ok(()) } else { Err(Refusal::Address) }
    }
}

impl Target {
    fn of(url: &Url) -> Result<Self, Refusal> {
        match url.host() {
            Some(Host::Domain(name)) if !name.is_empty() => Ok(Self::Name(name.to_owned())),
            Some(Host::Ipv4(address)) => Ok(Self::Address(address.into())),
            Some(Host::Ipv6(address)) => Ok(Self::Address(address.into())),
            _ => Err(Refusal::NoHost),
        }
    }

    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Self::Address(address) => address.is_loopback(),
        }
    }
}

/// A name with a dot inside and none at its end, outside of what local networks use.
fn is_public_name(name: &str) -> bool {
    name.contains('.') && !name.ends_with('.') && !LOCAL_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests;
