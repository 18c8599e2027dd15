//! Distinguishes public addresses from all others.
//!
//! The ranges are those of IANA's registries of special-purpose addresses that are not globally reachable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocked IPv4 networks: the first address and the prefix length.
const NON_PUBLIC_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // The anycast address of 6to4 relays, which no longer exist.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // A cloud provider's own services at an address that seems public.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Blocked networks within `2000::/3`.
const NON_PUBLIC_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments, including Teredo.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !NON_PUBLIC_V4.iter().any(|(network, length)| (bits ^ network.to_bits()).leading_zeros() >= *length)
}

/// Whether an IPv6 address is public. Global unicast addresses are `2000::/3`; others are local, multicast, or embed an
/// IPv4 address.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = address.to_bits();
    let global = bits >> 125 == 1;
    let refused = NON_PUBLIC_V6.iter().any(|(network, length)| (bits ^ network.to_bits()).leading_zeros() >= *length);
    global && !refused && tunnelled_ipv4(address).is_none_or(is_public_v4)
}

/// The IPv4 address to which an ISATAP interface would tunnel the packet.
fn tunnelled_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., flags, marker, high, low] = address.segments();
    let isatap = flags & 0xfdff == 0 && marker == 0x5efe;
    isatap.then(|| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

#[cfg(test)]
mod tests;
