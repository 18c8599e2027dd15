use aws_smithy_http_client::tls::TrustStore;
use aws_smithy_types::base64;
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// Prefixes of the subjects of Amazon Trust Services' roots; AWS endpoints chain to these.
const AMAZON_SUBJECTS: [&[u8]; 2] = [b"Amazon Root CA", b"Starfield Services Root Certificate Authority"];

/// The trust store of the client, from the binary and never from the machine.
///
/// AWS's own endpoints need only Amazon's roots, which keeps a cold start short. Another company runs the Chinese
/// partition, and a custom endpoint may use any root; an endpoint without TLS needs none.
pub(crate) fn trust_store(endpoint: Option<&str>, region: &str) -> TrustStore {
    let roots = TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref);
    let selected: Vec<&[u8]> = match endpoint {
        None if !region.starts_with("cn-") => roots.filter(|der| is_amazon(der)).collect(),
        Some(url) if url.starts_with("http://") => Vec::new(),
        _ => roots.collect(),
    };
    selected.into_iter().fold(TrustStore::empty(), |store, der| store.with_pem_certificate(pem(der)))
}

fn is_amazon(der: &[u8]) -> bool {
    // The subject is in the first part of a certificate, before its key and signature.
    let head = der.get(..SUBJECT_RANGE_BYTES).unwrap_or(der);
    AMAZON_SUBJECTS.iter().any(|name| head.windows(name.len()).any(|window| window == *name))
}

/// Covers serial, issuer, validity and subject of these roots, in bytes.
const SUBJECT_RANGE_BYTES: usize = 400;

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", base64::encode(der))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_amazon_roots_are_selected() {
        let found = TLS_SERVER_ROOT_CERTS.iter().filter(|der| is_amazon(der)).count();
        assert_eq!(found, 5);
    }
}
