//! Fuzz test: every URL that passes is public, in any spelling.

use fuzz::{ensure, run_text};
use url::Host;

use super::*;
use crate::address::is_public;

const SAMPLES: [&str; 12] = [
    "https://example.com/a?b=c#d",
    "https://EXAMPLE.com:443/%2e%2e/",
    "http://127.0.0.1/",
    "https://0x7f.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]:8443/",
    "https://user:password@example.com/",
    "https://例え.jp/路径",
    "https://１２７.0.0.1/",
    "https://localhost./",
    "https://a.internal/",
    "https:\\\\example.com\\x",
];

const FRAGMENTS: [&str; 24] = [
    "https://",
    "http://",
    "://",
    "@",
    ":443",
    ":80",
    "localhost",
    ".local",
    ".internal",
    "127.0.0.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "[::1]",
    "[fd00:ec2::254]",
    "169.254.169.254",
    "xn--",
    "。",
    "．",
    "%00",
    "%2e",
    "\t",
    "\u{ad}",
    "①",
];

#[test]
fn fuzz_only_public_addresses_pass() {
    let policies = [Policy::public(), Policy::public().with_http(), Policy::public().with_any_port().with_http()];
    run_text("addresses", &SAMPLES, &FRAGMENTS, |text| {
        for policy in policies {
            let Ok(url) = policy.parse(text) else { continue };
            let public = match url.host() {
                Some(Host::Ipv4(address)) => is_public(address.into()),
                Some(Host::Ipv6(address)) => is_public(address.into()),
                Some(Host::Domain(name)) => {
                    !LOCAL_SUFFIXES.iter().any(|end| name.ends_with(end)) && name != "localhost"
                }
                None => false,
            };
            ensure(public, || format!("{url} is let through"))?;
            let plain = url.username().is_empty() && url.password().is_none();
            ensure(plain && ["http", "https"].contains(&url.scheme()), || format!("{url} is let through"))?;
            if url.as_str().len() > MAX_URL_BYTES {
                continue;
            }
            ensure(policy.parse(url.as_str()).as_ref() == Ok(&url), || format!("{url} is not read as it is written"))?;
        }
        Ok(())
    });
}
