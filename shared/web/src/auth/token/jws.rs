use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::algorithm::Algorithm;

/// A parsed token (RFC 7515, compact form); nothing in it is verified yet.
#[derive(Debug)]
pub(super) struct Jws<'a> {
    pub(super) algorithm: &'static Algorithm,
    /// The id of the key that the token names.
    pub(super) key_id: Option<String>,
    /// The signed bytes.
    pub(super) message: &'a [u8],
    pub(super) payload: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

#[derive(Deserialize)]
struct JoseHeader {
    alg: String,
    kid: Option<String>,
    /// Extensions that a verifier must understand; none is supported.
    crit: Option<IgnoredAny>,
}

impl<'a> Jws<'a> {
    /// Parses a token; `None` if it is malformed or its algorithm is not accepted.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (message, signature) = text.rsplit_once('.')?;
        let (header, payload) = message.split_once('.')?;
        let header: JoseHeader = serde_json::from_slice(&decode_base64url(header)?).ok()?;
        if header.crit.is_some() {
            return None;
        }
        Some(Self {
            algorithm: Algorithm::parse(&header.alg)?,
            key_id: header.kid,
            message: message.as_bytes(),
            payload: decode_base64url(payload)?,
            signature: decode_base64url(signature)?,
        })
    }
}

/// Decodes base64url without padding, in its canonical form only.
pub(super) fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str) -> String {
        format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header))
    }

    #[test]
    fn f114_only_asymmetric_algorithms_are_accepted() {
        for name in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"] {
            assert!(Jws::parse(&token(&format!(r#"{{"alg":"{name}"}}"#))).is_some(), "{name}");
        }
        for name in
            ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "ES256K", "ES512", "rs256", "RSA-OAEP", "dir"]
        {
            assert!(Jws::parse(&token(&format!(r#"{{"alg":"{name}"}}"#))).is_none(), "{name}");
        }
    }

    #[test]
    fn f114_malformed_token_is_rejected() {
        let good = token(r#"{"alg":"ES256"}"#);
        assert!(Jws::parse(&good).is_some());
        let (header, rest) = good.split_once('.').unwrap();
        let bad = [
            String::new(),
            ".".to_owned(),
            "..".to_owned(),
            header.to_owned(),
            format!("{header}.e30"),
            format!("{good}.AA"),
            format!("{good}="),
            format!("{header}=.{rest}"),
            format!("{header}.e31.AA"),
            format!("{header}.e30.A"),
            format!("{header}.e30.AB"),
            format!("{header}.e30.+/"),
            token("{}"),
            token("[]"),
            token(r#"{"alg":null}"#),
            token(r#"{"alg":["ES256"]}"#),
            token(r#"{"alg":"ES256","alg":"ES256"}"#),
            token(r#"{"alg":"ES256","kid":7}"#),
            token(r#"{"alg":"ES256","crit":["b64"],"b64":false}"#),
            token(r#"{"alg":"ES256"} "#) + " ",
        ];
        for text in bad {
            assert!(Jws::parse(&text).is_none(), "{text}");
        }
    }
}
