//! Fuzzing of what a service that poses as S3 may answer, and of addresses.

use ::fuzz::{ensure, run, run_text};

use super::address::BucketAddress;
use super::listing::{encode, error_code, read_page};

const PAGE: &[u8] = br#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><NextContinuationToken>1/+==</NextContinuationToken>
<IsTruncated>true</IsTruncated><Contents><Key>a/b%26+%E8%AE%A1.md</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
<ETag>&quot;fba9&quot;</ETag><Size>434234</Size><Owner><ID>1</ID></Owner></Contents></ListBucketResult>"#;

const LAST_PAGE: &[u8] = b"<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key>\
    <LastModified>2026-11-23T06:00:00Z</LastModified><ETag>\"e\"</ETag><Size>0</Size></Contents></ListBucketResult>";

const FAILURE: &[u8] = b"<Error><Code>AccessDenied</Code><Message>x</Message></Error>";

const TOKENS: [&str; 16] = [
    "<Contents>",
    "</Contents>",
    "<Key>",
    "</Key>",
    "%E8",
    "%",
    "+",
    "&quot;",
    "&#x0;",
    "&a;",
    "<!DOCTYPE a [<!ENTITY a \"b\">]>",
    "<![CDATA[",
    "<!--",
    "true",
    "18446744073709551616",
    "-9999-01-01T00:00:00Z",
];

#[test]
fn fuzz_listings_of_buckets() {
    run("S3 listing", &[PAGE, LAST_PAGE, FAILURE], &TOKENS, |bytes| {
        let code = error_code(bytes);
        ensure(code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()), || code.clone())?;
        let Ok(page) = read_page(bytes) else { return Ok(()) };
        for object in &page.objects {
            ensure(object.key.len() <= bytes.len(), || format!("{object:?}"))?;
            ensure(object.etag.bytes().all(|byte| byte.is_ascii_graphic()), || format!("{object:?}"))?;
            ensure(encode(&object.key, true).is_ascii(), || format!("{object:?}"))?;
        }
        ensure(page.objects.len() <= bytes.len() / 50, || format!("{} objects", page.objects.len()))
    });
}

#[test]
fn fuzz_addresses_of_buckets() {
    let samples = ["s3://docs/team/handbook/", "s3://my-docs.example", "s3://docs/计划/é"];
    run_text("S3 address", &samples, &["s3://", "/", "..", ".", "-", "\n", "?", "%2F"], |text| {
        let Some(address) = BucketAddress::parse(text) else { return Ok(()) };
        let BucketAddress { bucket, prefix } = &address;
        let is_safe =
            !bucket.contains(['/', '?', '#', '@', ':']) && prefix.split('/').all(|name| !matches!(name, "." | ".."));
        ensure(is_safe, || format!("{address:?}"))?;
        let again = BucketAddress::parse(&format!("s3://{bucket}/{prefix}"));
        ensure(again.as_ref() == Some(&address), || format!("{address:?} is read again as {again:?}"))
    });
}
