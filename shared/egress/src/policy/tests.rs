use super::*;

mod random;
mod written;

const LOCAL: Policy = Policy::public().with_loopback();

#[test]
fn f125_f126_f129_no_spelling_of_non_public_urls_passes() {
    let allowed: Vec<&str> = written::REFUSED.into_iter().filter(|url| Policy::public().parse(url).is_ok()).collect();
    assert_eq!(allowed, [""; 0]);
}

#[test]
fn f125_f126_f129_public_urls_pass() {
    let refused: Vec<&str> = written::PUBLIC.into_iter().filter(|url| Policy::public().parse(url).is_err()).collect();
    assert_eq!(refused, [""; 0]);
}

#[test]
fn f125_literal_address_is_refused_as_an_address() {
    let open = Policy::public().with_http().with_any_port();
    for host in ["127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "１２７.0.0.1"]
    {
        assert_eq!(
            open.parse(&format!("http://{host}:9001/2018-06-01/runtime")),
            Err(PolicyViolation::Address),
            "{host}"
        );
    }
}

#[test]
fn f129_lambda_runtime_api_is_unreachable() {
    for url in ["https://127.0.0.1:9001/2018-06-01/runtime/invocation/next", "https://169.254.100.1:9001/"] {
        assert!(Policy::public().parse(url).is_err());
        assert_eq!(Policy::public().with_any_port().parse(url), Err(PolicyViolation::Address));
    }
}

#[test]
fn f129_each_rule_has_its_own_error() {
    let refused = |url: &str| Policy::public().parse(url).unwrap_err();
    assert_eq!(refused("https:"), PolicyViolation::NotAUrl);
    assert_eq!(refused("ftp://example.com"), PolicyViolation::Scheme);
    assert_eq!(refused("http://example.com"), PolicyViolation::Scheme);
    assert_eq!(refused("https://u@example.com"), PolicyViolation::UserInfo);
    assert_eq!(refused("https://example.com:444"), PolicyViolation::Port);
    assert_eq!(refused("https://example"), PolicyViolation::Name);
    assert_eq!(refused("https://10.0.0.1"), PolicyViolation::Address);
    assert_eq!(refused(&format!("https://example.com/{}", "a".repeat(9000))), PolicyViolation::NotAUrl);
}

#[test]
fn f129_http_and_other_ports_need_policy() {
    let passes = |policy: Policy, url: &str| policy.parse(url).is_ok();
    let http = Policy::public().with_http();
    assert!(passes(http, "http://example.com/") && passes(http, "http://example.com:80/"));
    assert!(!passes(http, "http://example.com:443/") && !passes(http, "https://example.com:80/"));
    let ports = Policy::public().with_any_port();
    assert!(passes(ports, "https://example.com:8443/") && !passes(ports, "http://example.com/"));
}

#[test]
fn loopback_policy_adds_only_this_machine() {
    for url in ["http://127.0.0.1:3000/", "https://localhost:1/", "http://a.localhost/", "http://[::1]:80/"] {
        assert!(LOCAL.parse(url).is_ok(), "{url}");
        assert!(Policy::public().with_http().with_any_port().parse(url).is_err(), "{url}");
    }
    for url in ["http://10.0.0.1/", "https://169.254.169.254/", "http://example.com/", "https://printer.local/"] {
        assert!(LOCAL.parse(url).is_err(), "{url}");
    }
}

#[test]
fn f126_one_private_address_fails_the_check() {
    let name = Target::Name("a.example.com".to_owned());
    let check = |addresses: &[&str]| {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        [Policy::public(), LOCAL].map(|policy| policy.check_addresses(&name, &addresses))
    };
    assert_eq!(check(&["8.8.8.8", "2606:4700::1"]), [Ok(()), Ok(())]);
    for bad in ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "0.0.0.0", "fd00:ec2::254"] {
        assert_eq!(
            check(&["8.8.8.8", bad, "8.8.4.4"]),
            [Err(PolicyViolation::Address), Err(PolicyViolation::Address)],
            "{bad}"
        );
    }
}
