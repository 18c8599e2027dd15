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
        let is_usable = is_name(bucket, &['-']) && is_name(index, &['-', '.']);
        is_usable.then(|| Self { bucket: bucket.to_owned(), index: index.to_owned() })
    }
}

/// Whether a name has 3 to 63 lower-case letters, digits and characters of `inner`, the latter not at its ends.
fn is_name(name: &str, inner: &[char]) -> bool {
    let is_outer = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let is_any = |character: char| is_outer(character) || inner.contains(&character);
    (3..=63).contains(&name.len()) && name.chars().all(is_any) && name.starts_with(is_outer) && name.ends_with(is_outer)
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
