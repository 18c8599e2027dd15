use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Jws, decode_base64url};

const MAX_KEYS: usize = 64;

/// An issuer's public keys (RFC 7517).
#[derive(Debug)]
pub(super) struct KeySet(Vec<PublicKey>);

#[derive(Debug)]
pub(super) struct PublicKey {
    id: Option<String>,
    /// The only algorithm the key is for, if the issuer names one.
    algorithm: Option<&'static Algorithm>,
    material: KeyMaterial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignatureCheck {
    Valid,
    /// The key that it names did not sign it.
    InvalidSignature,
    /// None of the keys signed it, but an unknown one may have: the token names an unknown key or none.
    UnknownKey,
}

#[derive(Deserialize)]
struct JwkSet<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Parses the issuer's key document; unusable and unreadable keys are skipped.
    pub(super) fn parse(document: &[u8]) -> Option<Self> {
        let document: JwkSet<'_> = serde_json::from_slice(document).ok()?;
        let keys = document.keys.into_iter().take(MAX_KEYS);
        let keys = keys.filter_map(|key| serde_json::from_str::<Jwk>(key.get()).ok()?.into_key());
        Some(Self(keys.collect()))
    }

    /// The keys that may have signed a token, by the key id that it names.
    pub(super) fn candidates<'a>(&'a self, jws: &'a Jws<'_>) -> impl Iterator<Item = &'a PublicKey> {
        self.0.iter().filter(|key| jws.key_id.is_none() || key.id == jws.key_id)
    }

    pub(super) fn verify(&self, jws: &Jws<'_>) -> SignatureCheck {
        let mut candidates = self.candidates(jws).peekable();
        if candidates.peek().is_none() {
            return SignatureCheck::UnknownKey;
        }
        match candidates.any(|key| key.verifies(jws)) {
            true => SignatureCheck::Valid,
            false if jws.key_id.is_none() => SignatureCheck::UnknownKey,
            false => SignatureCheck::InvalidSignature,
        }
    }
}

impl PublicKey {
    fn verifies(&self, jws: &Jws<'_>) -> bool {
        let is_allowed = self.algorithm.is_none_or(|algorithm| algorithm.0 == jws.algorithm.0);
        is_allowed && self.material.verifies(jws.algorithm, jws.message, &jws.signature)
    }
}

impl Jwk {
    fn into_key(self) -> Option<PublicKey> {
        let signs = self.usage.as_deref().is_none_or(|usage| usage == "sig");
        let verifies =
            self.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        if !signs || !verifies {
            return None;
        }
        let material = self.material()?;
        let algorithm = match &self.alg {
            Some(name) => Some(Algorithm::parse(name)?),
            None => None,
        };
        Some(PublicKey { id: self.kid, algorithm, material })
    }

    fn material(&self) -> Option<KeyMaterial> {
        let curve = self.crv.clone().unwrap_or_default();
        let point = match (self.kty.as_str(), curve.as_str()) {
            ("RSA", _) => {
                return Some(KeyMaterial::Rsa {
                    n: decode_number(self.n.as_ref())?,
                    e: decode_number(self.e.as_ref())?,
                });
            }
            ("EC", "P-256") => self.point(32)?,
            ("EC", "P-384") => self.point(48)?,
            ("OKP", "Ed25519") => decode_sized(self.x.as_ref(), 32)?,
            _ => return None,
        };
        Some(KeyMaterial::Point { curve, point })
    }

    /// The point in the uncompressed form of SEC 1, section 2.3.3.
    fn point(&self, size: usize) -> Option<Vec<u8>> {
        let (x, y) = (decode_sized(self.x.as_ref(), size)?, decode_sized(self.y.as_ref(), size)?);
        Some([&[4], x.as_slice(), y.as_slice()].concat())
    }
}

fn decode_sized(text: Option<&String>, size: usize) -> Option<Vec<u8>> {
    decode_base64url(text?).filter(|bytes| bytes.len() == size)
}

/// Decodes a number and removes leading zeros, which some issuers write and verification rejects.
fn decode_number(text: Option<&String>) -> Option<Vec<u8>> {
    let bytes = decode_base64url(text?)?;
    let first = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes[first..].to_vec())
}

/// The accepted signature algorithms by their names: RFC 7518, section 3.1, and RFC 8037, section 3.1.
///
/// `none` and the algorithms with a shared secret have no row, so that no token can select them.
static ALGORITHMS: [Algorithm; 9] = [
    Algorithm("RS256", Verification::Rsa(&RSA_PKCS1_2048_8192_SHA256)),
    Algorithm("RS384", Verification::Rsa(&RSA_PKCS1_2048_8192_SHA384)),
    Algorithm("RS512", Verification::Rsa(&RSA_PKCS1_2048_8192_SHA512)),
    Algorithm("PS256", Verification::Rsa(&RSA_PSS_2048_8192_SHA256)),
    Algorithm("PS384", Verification::Rsa(&RSA_PSS_2048_8192_SHA384)),
    Algorithm("PS512", Verification::Rsa(&RSA_PSS_2048_8192_SHA512)),
    Algorithm("ES256", Verification::Point("P-256", &ECDSA_P256_SHA256_FIXED)),
    Algorithm("ES384", Verification::Point("P-384", &ECDSA_P384_SHA384_FIXED)),
    Algorithm("EdDSA", Verification::Point("Ed25519", &ED25519)),
];

#[derive(Debug)]
pub(super) struct Algorithm(pub(super) &'static str, Verification);

#[derive(Debug)]
enum Verification {
    Rsa(&'static RsaParameters),
    /// By a point on the curve of this name.
    Point(&'static str, &'static dyn VerificationAlgorithm),
}

/// A public key; it alone decides which kind of signature it can verify.
#[derive(Clone, Debug)]
pub(super) enum KeyMaterial {
    /// Modulus and exponent, big-endian without leading zeros.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// A point on the curve of this name; uncompressed for P-256 and P-384.
    Point { curve: String, point: Vec<u8> },
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<&'static Self> {
        ALGORITHMS.iter().find(|algorithm| algorithm.0 == name)
    }
}

impl KeyMaterial {
    /// Whether `signature` is this key's signature of `message`; always false for an algorithm of another kind of key.
    pub(super) fn verifies(&self, algorithm: &Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (self, &algorithm.1) {
            (Self::Rsa { n, e }, Verification::Rsa(parameters)) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Self::Point { curve, point }, Verification::Point(of, verification)) if curve == of => {
                UnparsedPublicKey::new(*verification, point).verify(message, signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The public key of RFC 7515, appendix A.2.
    const RSA: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL\
                       -yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsL\
                       A9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF\
                       8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

    /// The payload of the examples of RFC 7515, appendix A.
    const PAYLOAD: &str =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

    /// The signature of appendix A.2.
    const RS256: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujG\
                         bds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7\
                         K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8n\
                         p6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

    /// The signature of appendix A.3.
    const ES256: &str = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

    fn check(keys: &serde_json::Value, token: &str) -> SignatureCheck {
        let keys = KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap();
        keys.verify(&Jws::parse(token).unwrap())
    }

    fn point() -> serde_json::Value {
        json!({
            "kty": "EC", "crv": "P-256",
            "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        })
    }

    #[test]
    fn rfc_7515_example_signatures_verify() {
        let rs256 = format!("eyJhbGciOiJSUzI1NiJ9.{PAYLOAD}.{RS256}");
        assert_eq!(check(&json!([{"kty": "RSA", "n": RSA, "e": "AQAB"}]), &rs256), SignatureCheck::Valid);
        assert_eq!(check(&json!([{"kty": "RSA", "n": RSA, "e": "AAEAAQ"}]), &rs256), SignatureCheck::Valid);
        let es256 = format!("eyJhbGciOiJFUzI1NiJ9.{PAYLOAD}.{ES256}");
        assert_eq!(check(&json!([point()]), &es256), SignatureCheck::Valid);
        assert_eq!(check(&json!([{"kty": "RSA", "n": RSA, "e": "AQAB"}, point()]), &es256), SignatureCheck::Valid);
        let changed = es256.replace(".DtEh", ".DtEi");
        assert_eq!(check(&json!([point()]), &changed), SignatureCheck::UnknownKey);
    }

    #[test]
    fn unusable_keys_are_skipped() {
        let token = format!("eyJhbGciOiJSUzI1NiJ9.{PAYLOAD}.{RS256}");
        for (name, value) in [
            ("use", json!("enc")),
            ("key_ops", json!(["sign"])),
            ("alg", json!("PS256")),
            ("alg", json!("RSA-OAEP")),
            ("kty", json!("oct")),
            ("n", json!("AA")),
            ("n", json!("not base64")),
            ("kid", json!(7)),
        ] {
            let mut key = json!({"kty": "RSA", "n": RSA, "e": "AQAB", "use": "sig", "alg": "RS256"});
            assert_eq!(check(&json!([{"odd": true}, 7, key]), &token), SignatureCheck::Valid);
            key[name] = value.clone();
            assert_eq!(check(&json!([key]), &token), SignatureCheck::UnknownKey, "{name}: {value}");
        }
    }

    #[test]
    fn invalid_key_set_is_rejected() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, "<html>"] {
            assert!(KeySet::parse(text.as_bytes()).is_none(), "{text}");
        }
    }
}
