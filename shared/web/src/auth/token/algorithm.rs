use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

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

/// An accepted signature algorithm.
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
