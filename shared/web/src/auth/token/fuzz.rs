//! Fuzz tests of tokens, claims and key sets.

use domain::Groups;
use fuzz::{ensure, run_text};

use super::Jws;
use super::claims::Claims;
use super::key::KeySet;

const TOKENS: [&str; 3] = [
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.eyJzdWIiOiJhbm4ifQ.AAAA",
    "eyJhbGciOiJub25lIn0.e30.",
    "eyJhbGciOiJFUzI1NiIsImNyaXQiOlsiYiJdfQ.e30.AA",
];

#[test]
fn fuzz_tokens_parse_or_fail() {
    run_text("tokens", &TOKENS, &[".", "..", "e30", "=", "-", "_", "汉", "eyJhbGciOiJub25lIn0"], |text| {
        let Some(jws) = Jws::parse(text) else { return Ok(()) };
        ensure(text.as_bytes().starts_with(jws.message), || "another text is signed".to_owned())?;
        let lengths = jws.payload.len() + jws.signature.len();
        ensure(lengths <= text.len(), || format!("{lengths} bytes of {}", text.len()))
    });
}

const CLAIMS: [&str; 3] = [
    r#"{"iss":"https://i.example","sub":"ann","aud":["a","b"],"exp":1900000000,"nbf":1,"iat":1.5,"role":"admin","groups":["a","b"]}"#,
    r#"{"iss":"https://i.example","sub":"ann","aud":"a","exp":1900000000}"#,
    r#"{"keys":[{"kty":"RSA","kid":"a","alg":"RS256","use":"sig","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#,
];

#[test]
fn fuzz_claims_and_key_sets_parse_or_fail() {
    let fragments = [
        "\"exp\":1e999",
        "\"exp\":-1",
        "\"aud\":[",
        "\"role\":[\"admin\"]",
        "\"groups\":\"\"",
        "\"_claim_names\":{\"groups\":",
        "null",
        "18446744073709551616",
        "\"n\":\"",
        "\"kty\":\"oct\"",
    ];
    let config = super::tests::issuer_config("https://i.example", &[("AUTH_JWT_GROUPS_CLAIM", "groups")]);
    run_text("claims", &CLAIMS, &fragments, |text| {
        let _ = KeySet::parse(text.as_bytes());
        let Some(claims) = Claims::parse(text.as_bytes()) else { return Ok(()) };
        let (caller, _) = claims.caller(&config);
        let may_name_admin = text.contains("admin") || text.contains("\\u");
        ensure(!caller.membership.is_administrator || may_name_admin, || {
            "an administrator without the claim".to_owned()
        })?;
        ensure(caller.membership.groups.names().len() <= Groups::MAX_GROUPS, || "too many groups".to_owned())
    });
}
