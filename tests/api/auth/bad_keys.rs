use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use store::ApiKey;

use super::app_with_store::{AppWithStore, expose_key};

/// Forty invalid keys.
pub(super) async fn bad_keys(product: &AppWithStore) -> Vec<String> {
    let (good, other) = (product.create_key("ada", None).await, product.create_key("bob", None).await);
    let (revoked, expired) =
        (product.create_key("ada", None).await, product.create_key("ada", Some(SystemTime::UNIX_EPOCH)).await);
    product.store.keys.revoke(revoked.id(), SystemTime::now()).await.unwrap();
    let (good, other) = (expose_key(&good), expose_key(&other));
    let (head, secret) = good.rsplit_once('_').unwrap();
    let flipped = if secret.starts_with('0') { "1" } else { "0" };
    let token = |header: &str, claims: &str| {
        format!("{}.{}.AAAA", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims))
    };
    let mut bad = vec![
        expose_key(&revoked),
        expose_key(&expired),
        expose_key(&ApiKey::generate().unwrap()),
        expose_key(&ApiKey::generate().unwrap()),
        format!("{head}_{flipped}{}", &secret[1..]),
        format!("{head}_{}", other.rsplit_once('_').unwrap().1),
        format!("{}_{secret}", other.rsplit_once('_').unwrap().0),
        format!("{head}_{}", "0".repeat(64)),
        format!("{head}_{}", "f".repeat(64)),
        format!("{head}_"),
        format!("_{secret}"),
        format!("{head}_{secret}0"),
        format!("{head}_{}", &secret[1..]),
        format!("{head}_{}", secret.to_uppercase() + "A"),
        format!("{}_{secret}", head.to_lowercase() + "a"),
        format!("LC{}", &good[2..]),
        format!("{good}{good}"),
        format!("\"{good}\""),
        format!("{good},{other}"),
        format!("{good};{other}"),
        good.chars().rev().collect(),
        secret.to_owned(),
        head.to_owned(),
        "lc_".to_owned(),
        "lc__".to_owned(),
        token(r#"{"alg":"none"}"#, r#"{"sub":"ada","role":"admin"}"#),
        token(r#"{"alg":"HS256","typ":"JWT"}"#, r#"{"sub":"ada","exp":9999999999}"#),
    ];
    let odd =
        ["x", "ada", "local", "admin", "null", "undefined", "true", "0", "*", "%", "%00", "../../K", "' OR '1'='1"];
    bad.extend(odd.map(str::to_owned));
    bad
}
