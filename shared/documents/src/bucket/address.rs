use platform::aws::is_bucket_name;

/// The objects of a bucket below a prefix, written `s3://BUCKET/PREFIX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketAddress {
    pub(super) bucket: String,
    /// Empty, or with a slash at its end.
    pub(super) prefix: String,
}

/// Longest prefix, in bytes: a key has at most 1,024.
const MAX_PREFIX_BYTES: usize = 900;

impl BucketAddress {
    /// Whether a text is meant as such an address.
    pub fn is_address(text: &str) -> bool {
        text.starts_with("s3://")
    }

    /// Parses an address. The prefix is a folder: a slash is added at its end. `None` for a name that no bucket has, and
    /// for a prefix that is no path.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("s3://")?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_path = prefix.split('/').all(|name| !matches!(name, "" | "." | "..")) || prefix.is_empty();
        let is_plain = is_path && prefix.len() <= MAX_PREFIX_BYTES && !prefix.contains(char::is_control);
        let slash = if prefix.is_empty() { "" } else { "/" };
        (is_plain && is_bucket_name(bucket))
            .then(|| Self { bucket: bucket.to_owned(), prefix: format!("{prefix}{slash}") })
    }

    /// The last folder of the prefix; without a prefix the bucket's name.
    pub(crate) fn name(&self) -> &str {
        self.prefix.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&self.bucket)
    }

    /// The bucket's name.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_is_a_folder() {
        for (text, prefix) in
            [("s3://docs", ""), ("s3://docs/", ""), ("s3://docs/a/b", "a/b/"), ("s3://docs/a//", "a/")]
        {
            let address = BucketAddress::parse(text).unwrap();
            assert_eq!((address.bucket.as_str(), address.prefix.as_str()), ("docs", prefix), "{text}");
            let name = prefix.trim_end_matches('/').rsplit('/').next().unwrap();
            assert_eq!(address.name(), if name.is_empty() { "docs" } else { name });
        }
    }

    #[test]
    fn other_addresses_are_rejected() {
        for text in [
            "docs",
            "s3:",
            "s3://",
            "s3://ab",
            "s3://Docs",
            "s3://-docs",
            "s3://docs.",
            "s3://a..b",
            "s3://a_b/c",
            "s3://docs/../a",
            "s3://docs/a//b",
            "s3://docs//a",
            "s3://docs/a\nb",
            "https://docs/a",
        ] {
            assert_eq!(BucketAddress::parse(text), None, "{text}");
        }
        assert_eq!(BucketAddress::parse(&format!("s3://docs/{}", "a".repeat(901))), None);
    }
}
