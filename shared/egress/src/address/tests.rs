use proptest::prelude::*;

use super::*;

/// The ranges as the registries list them, independent of the tested table.
const REFUSED: [&str; 33] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "168.63.129.16/32",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "::1/128",
    "::/96",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/32",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "fc00::/7",
    "fd00:ec2::254/128",
    "fe80::/10",
    "ff00::/8",
];

/// First and last address of a range, as numbers.
fn bounds(range: &str) -> (IpAddr, u128, u128) {
    let (first, length) = range.split_once('/').unwrap();
    let (first, length): (IpAddr, u32) = (first.parse().unwrap(), length.parse().unwrap());
    let (bits, width) = match first {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let size = 1_u128.checked_shl(width - length).map_or(u128::MAX, |size| size - 1);
    (first, bits, bits + size)
}

fn address(like: IpAddr, bits: u128) -> Option<IpAddr> {
    match like {
        IpAddr::V4(_) => u32::try_from(bits).ok().map(|bits| Ipv4Addr::from_bits(bits).into()),
        IpAddr::V6(_) => Some(Ipv6Addr::from_bits(bits).into()),
    }
}

fn is_refused(address: IpAddr) -> bool {
    let bits = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let within = REFUSED.iter().any(|range| {
        let (first, low, high) = bounds(range);
        first.is_ipv4() == address.is_ipv4() && (low..=high).contains(&bits)
    });
    within || matches!(address, IpAddr::V6(address) if !(0x2000..0x4000).contains(&address.segments()[0]))
}

#[test]
fn f125_range_bounds_are_refused_and_adjacent_addresses_checked() {
    for range in REFUSED {
        let (first, low, high) = bounds(range);
        for bits in [low, low + (high - low) / 2, high] {
            assert!(!is_public(address(first, bits).unwrap()), "{bits:x} of {range}");
        }
        for bits in [low.checked_sub(1), high.checked_add(1)].into_iter().flatten() {
            let Some(adjacent) = address(first, bits) else { continue };
            assert_eq!(is_public(adjacent), !is_refused(adjacent), "{adjacent} next to {range}");
        }
    }
}

#[test]
fn f125_isatap_tunnel_to_private_host_is_refused() {
    for private in ["2600::5efe:10.0.0.1", "2600::200:5efe:127.0.0.1", "2600::5efe:169.254.169.254"] {
        assert!(!is_public(private.parse().unwrap()), "{private}");
    }
    assert!(is_public("2600::5efe:8.8.8.8".parse().unwrap()));
}

proptest! {
    #[test]
    fn f125_addresses_within_a_range_are_refused(range in prop::sample::select(&REFUSED[..]), at in any::<u128>()) {
        let (first, low, high) = bounds(range);
        let bits = (high - low).checked_add(1).map_or(at, |size| low + at % size);
        prop_assert!(!is_public(address(first, bits).unwrap()));
    }

    #[test]
    fn f125_addresses_near_a_range_match_the_registries(
        range in prop::sample::select(&REFUSED[..]), off in -70_000_i128..70_000,
    ) {
        let (first, low, high) = bounds(range);
        for end in [low, high] {
            if let Some(near) = end.checked_add_signed(off).and_then(|bits| address(first, bits)) {
                prop_assert_eq!(is_public(near), !is_refused(near), "{}", near);
            }
        }
    }

    #[test]
    fn f125_any_address_matches_the_registries(v4 in any::<u32>(), v6 in any::<u128>()) {
        let four = IpAddr::from(Ipv4Addr::from_bits(v4));
        prop_assert_eq!(is_public(four), !is_refused(four));
        // Half of the samples are in the range that may be public.
        for bits in [v6, v6 >> 3 | 1 << 125] {
            let six = Ipv6Addr::from_bits(bits);
            prop_assert_eq!(is_public(six.into()), !is_refused(six.into()) && tunnelled_ipv4(six).is_none_or(is_public_v4));
        }
    }

    #[test]
    fn f125_ipv4_embedded_in_ipv6_is_refused(v4 in any::<u32>()) {
        let [high, low] = [(v4 >> 16) as u16, (v4 & 0xffff) as u16];
        for bits in [
            [0, 0, 0, 0, 0, 0, high, low],
            [0, 0, 0, 0, 0, 0xffff, high, low],
            [0, 0, 0, 0, 0xffff, 0, high, low],
            [0x64, 0xff9b, 0, 0, 0, 0, high, low],
            [0x64, 0xff9b, 1, 0, 0, 0, high, low],
            [0x2002, high, low, 0, 0, 0, 0, 1],
            [0x2001, 0, 0, 0, 0, 0, !high, !low],
        ] {
            prop_assert!(!is_public(Ipv6Addr::from(bits).into()));
        }
    }
}
