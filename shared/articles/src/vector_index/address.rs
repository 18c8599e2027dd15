use serde::Serialize;

/// A vector index, written `s3vectors://BUCKET/INDEX`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VectorIndexAddress {
    #[serde(rename = "vectorBucketName")]
    pub(super) bucket: String,
    #[serde(rename = "indexName")]
    pub(super) index: String,
}

impl VectorIndexAddress {
    /// Parses an address. `None` for names that S3 Vectors does not accept.
    pub fn parse(text: &str) -> Option<Self> {
        let (bucket, index) = text.strip_prefix("s3vectors://")?.split_once('/')?;
        let is_usable = is_name(bucket, b"-") && is_name(index, b"-.");
        is_usable.then(|| Self { bucket: bucket.to_owned(), index: index.to_owned() })
    }
}

/// Whether a name has 3 to 63 lower-case letters, digits and characters of `inner`, the latter not at its ends.
fn is_name(name: &str, inner: &[u8]) -> bool {
    let is_outer = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = name.as_bytes();
    (3..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| is_outer(Some(byte)) || inner.contains(byte))
        && is_outer(bytes.first())
        && is_outer(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_names_bucket_and_index() {
        let address = VectorIndexAddress::parse("s3vectors://lambda-chat/articles.v2").unwrap();
        assert_eq!((address.bucket.as_str(), address.index.as_str()), ("lambda-chat", "articles.v2"));
    }

    #[test]
    fn other_addresses_are_rejected() {
        for text in [
            "",
            "articles",
            "s3://bucket/articles",
            "s3vectors://bucket",
            "s3vectors://bucket/",
            "s3vectors:///articles",
            "s3vectors://bucket/a/b",
            "s3vectors://Bucket/articles",
            "s3vectors://bu.cket/articles",
            "s3vectors://bucket/ab",
            "s3vectors://bucket/-articles",
            "s3vectors://bucket/articles-",
            "s3vectors://bucket/art_icles",
            &format!("s3vectors://bucket/{}", "a".repeat(64)),
        ] {
            assert_eq!(VectorIndexAddress::parse(text), None, "{text}");
        }
    }
}
