use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::{self, KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair, RsaEncoding,
};
use serde_json::{Value, json};

/// The key of RFC 7515, appendix A.2, because `ring` generates no RSA keys. In the order n, d, p, q, dP, dQ, qInv.
const RSA: [&str; 7] = [
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNM\
     sD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtd\
     VMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
    "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O\
     0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehN\
     YTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
    "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnP\
     GBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
    "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnB\
     A-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
    "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb\
     34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
    "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-ky\
     NlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
    "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLU\
     W0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
];

/// A private key that a test generates.
pub(super) enum Signer {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<rsa::KeyPair>),
}

impl Signer {
    pub(super) fn p256() -> Self {
        Self::P256(ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING))
    }

    pub(super) fn p384() -> Self {
        Self::P384(ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING))
    }

    pub(super) fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    pub(super) fn rsa() -> Self {
        let [n, d, p, q, d_p, d_q, q_inv] = RSA.map(|text| URL_SAFE_NO_PAD.decode(text).unwrap());
        let public_key = PublicKeyComponents { n, e: vec![1, 0, 1] };
        let components = KeyPairComponents { public_key, d, p, q, dP: d_p, dQ: d_q, qInv: q_inv };
        Self::Rsa(Box::new(rsa::KeyPair::from_components(&components).unwrap()))
    }

    /// The public key as a JWK.
    pub(super) fn jwk(&self, id: &str) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let point = |curve: &str, bytes: &[u8]| {
            let (x, y) = bytes[1..].split_at(bytes.len() / 2);
            json!({"kty": "EC", "crv": curve, "x": text(x), "y": text(y), "kid": id, "use": "sig"})
        };
        match self {
            Self::P256(pair) => point("P-256", pair.public_key().as_ref()),
            Self::P384(pair) => point("P-384", pair.public_key().as_ref()),
            Self::Ed25519(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key().as_ref()), "kid": id})
            }
            Self::Rsa(_) => json!({"kty": "RSA", "n": RSA[0], "e": "AQAB", "kid": id, "use": "sig"}),
        }
    }

    /// The bytes of the public key.
    pub(super) fn public(&self) -> Vec<u8> {
        match self {
            Self::P256(pair) | Self::P384(pair) => pair.public_key().as_ref().to_vec(),
            Self::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
            Self::Rsa(pair) => pair.public().as_ref().to_vec(),
        }
    }

    /// A token with this header, signed by this key; an RSA key uses the algorithm that the header names.
    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encode_part(header), encode_part(claims));
        let random = SystemRandom::new();
        let signature = match self {
            Self::P256(pair) | Self::P384(pair) => pair.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            Self::Ed25519(pair) => pair.sign(message.as_bytes()).as_ref().to_vec(),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let encoding = encoding(header["alg"].as_str().unwrap());
                pair.sign(encoding, &random, message.as_bytes(), &mut signature).unwrap();
                signature
            }
        };
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// A token signed with HMAC-SHA256 under `key`.
pub(super) fn hmac(message: &str, key: &[u8]) -> String {
    let tag = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key), message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
}

pub(super) fn encode_part(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

fn ecdsa(algorithm: &'static EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap()
}

fn encoding(algorithm: &str) -> &'static dyn RsaEncoding {
    match algorithm {
        "RS256" => &signature::RSA_PKCS1_SHA256,
        "RS384" => &signature::RSA_PKCS1_SHA384,
        "RS512" => &signature::RSA_PKCS1_SHA512,
        "PS256" => &signature::RSA_PSS_SHA256,
        "PS384" => &signature::RSA_PSS_SHA384,
        _ => &signature::RSA_PSS_SHA512,
    }
}
