use std::net::IpAddr;

use url::{Host, Url};

use crate::address::is_public;

const MAX_URL_BYTES: usize = 8 * 1024;

/// Name suffixes that only local networks use.
const LOCAL_SUFFIXES: [&str; 8] =
    [".localhost", ".local", ".internal", ".localdomain", ".lan", ".intranet", ".home.arpa", ".onion"];

/// Why an address is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyViolation {
    /// It is not a URL, or is too long.
    #[error("it is not a URL")]
    NotAUrl,
    /// Its scheme is not allowed.
    #[error("its scheme is not allowed")]
    Scheme,
    /// It holds a user name or a password.
    #[error("it holds a user or a password")]
    UserInfo,
    /// It names no host.
    #[error("it has no host")]
    NoHost,
    /// Its port is not allowed.
    #[error("its port is not allowed")]
    Port,
    /// The name is local, or written so that it may be local.
    #[error("its host is not a public name")]
    Name,
    /// The host is a non-public address, or a name that resolves to one.
    #[error("its host is not at a public address")]
    Address,
    /// A redirect leads from `https` to `http`.
    #[error("a redirect leads to an unencrypted address")]
    Downgrade,
}

/// The hosts, schemes and ports that requests may use; set by code, never by data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    http: bool,
    any_port: bool,
    loopback: bool,
}

/// A host after all checks that need no name resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Name(String),
    Address(IpAddr),
}

impl Policy {
    /// Allows public hosts by `https` on port 443.
    pub const fn public() -> Self {
        Self { http: false, any_port: false, loopback: false }
    }

    /// Also allows `http` on port 80.
    #[must_use]
    pub const fn with_http(self) -> Self {
        Self { http: true, ..self }
    }

    /// Also allows other ports.
    #[must_use]
    pub const fn with_any_port(self) -> Self {
        Self { any_port: true, ..self }
    }

    /// Also allows this machine by its loopback names, with either scheme on any port. For development on request,
    /// never in a deployed function.
    #[must_use]
    pub const fn with_loopback(self) -> Self {
        Self { loopback: true, ..self }
    }

    /// Parses a URL and makes all checks that need no name resolution.
    ///
    /// # Errors
    /// The first rule that the URL violates.
    pub fn parse(self, text: &str) -> Result<Url, PolicyViolation> {
        let is_short = text.len() <= MAX_URL_BYTES;
        let url =
            Some(text).filter(|_| is_short).and_then(|text| Url::parse(text).ok()).ok_or(PolicyViolation::NotAUrl)?;
        self.check(&url)?;
        Ok(url)
    }

    /// Makes all checks of a parsed URL that need no name resolution.
    ///
    /// # Errors
    /// The first rule that the URL violates.
    pub fn check(self, url: &Url) -> Result<(), PolicyViolation> {
        self.check_target(url).map(|_| ())
    }

    pub(crate) fn check_target(self, url: &Url) -> Result<Target, PolicyViolation> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PolicyViolation::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PolicyViolation::UserInfo);
        }
        let target = Target::from_url(url)?;
        if self.loopback && target.is_loopback() {
            return Ok(target);
        }
        self.check_scheme_and_port(url)?;
        match &target {
            Target::Address(address) if !is_public(*address) => Err(PolicyViolation::Address),
            Target::Name(name) if !is_public_name(name) => Err(PolicyViolation::Name),
            _ => Ok(target),
        }
    }

    fn check_scheme_and_port(self, url: &Url) -> Result<(), PolicyViolation> {
        if url.scheme() == "http" && !self.http {
            return Err(PolicyViolation::Scheme);
        }
        // A parsed URL keeps a port only if it is not its scheme's default.
        if url.port().is_some() && !self.any_port {
            return Err(PolicyViolation::Port);
        }
        Ok(())
    }

    /// Checks all addresses that a name resolved to; one bad address fails the check.
    pub(crate) fn check_addresses(self, target: &Target, addresses: &[IpAddr]) -> Result<(), PolicyViolation> {
        let allows_loopback = self.loopback && target.is_loopback();
        let is_allowed = |address: &IpAddr| if allows_loopback { address.is_loopback() } else { is_public(*address) };
        if addresses.iter().all(is_allowed) { Ok(()) } else { Err(PolicyViolation::Address) }
    }
}

impl Target {
    fn from_url(url: &Url) -> Result<Self, PolicyViolation> {
        match url.host() {
            Some(Host::Domain(name)) if !name.is_empty() => Ok(Self::Name(name.to_owned())),
            Some(Host::Ipv4(address)) => Ok(Self::Address(address.into())),
            Some(Host::Ipv6(address)) => Ok(Self::Address(address.into())),
            _ => Err(PolicyViolation::NoHost),
        }
    }

    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Self::Address(address) => address.is_loopback(),
        }
    }
}

/// Whether a name has a dot inside and none at its end, and no suffix of local networks.
fn is_public_name(name: &str) -> bool {
    name.contains('.') && !name.ends_with('.') && !LOCAL_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests;
