//! `articles add` of PDF documents.

use std::path::Path;

use support::{FakeEndpoint, Reply};

use crate::articles::{articles, documents, folder, titles};
use tempfile::TempDir;

/// The documents of `tests/models/pdf`, by their names without an ending, below `docs`.
fn folder_of(names: &[&str]) -> TempDir {
    let folder = folder(&[]);
    let docs = folder.path().join("docs");
    std::fs::create_dir_all(&docs).unwrap();
    for name in names {
        std::fs::write(docs.join(format!("{name}.pdf")), pdf(name)).unwrap();
    }
    folder
}

fn pdf(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/pdf").join(format!("{name}.pdf"));
    std::fs::read(path).unwrap()
}

/// What `articles search` shows for a document of this name.
async fn found(name: &str, query: &str) -> String {
    let folder = folder_of(&[name]);
    let added = articles(&folder, &["add", &documents(&folder)], &[]).await;
    assert_eq!(added.exit_code, Some(0), "{}", added.errors);
    articles(&folder, &["search", query], &[]).await.output
}

#[tokio::test]
async fn latin_and_chinese_pages_are_found() {
    for name in ["two-pages", "fonts-not-embedded"] {
        let text = found(name, "退货后几天退款").await;
        assert!(
            text.starts_with("1. Refund policy\n") && text.contains("退款在收到退货后七天内支付。"),
            "{name}: {text}"
        );
        let text = found(name, "receipt").await;
        assert!(text.contains("Refund policy > p. 1 Refunds are paid within seven days"), "{name}: {text}");
    }
    let text = found("restricted", "receipt").await;
    assert!(text.contains("keeps the receipt"), "a document without a password to open it: {text}");
}

#[tokio::test]
async fn typeset_paragraphs_have_whole_sentences() {
    let text = found("typeset", "停留超过一周").await;
    assert!(text.contains("Travel rules > p. 1"), "{text}");
    let text = found("typeset", "含早餐").await;
    assert!(text.starts_with("1. Travel rules"), "{text}");
}

#[tokio::test]
async fn unreadable_documents_are_listed_others_added() {
    let folder = folder_of(&["encrypted", "scanned", "two-pages"]);
    let docs = folder.path().join("docs");
    let whole = pdf("two-pages");
    std::fs::write(docs.join("cut.pdf"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(docs.join("other.pdf"), b"no\0PDF").unwrap();
    let added = articles(&folder, &["add", &documents(&folder)], &[]).await;
    assert_eq!(added.exit_code, Some(1), "{}", added.errors);
    for (name, reason) in [
        ("encrypted", "the file is encrypted: store it without a password"),
        ("scanned", "the file has no text: recognise the text of scanned pages first (OCR)"),
        ("cut", "the file is damaged: it is not a readable PDF"),
        ("other", "the type of the file is unknown: PNG, JPEG,"),
    ] {
        assert!(added.errors.contains(&format!("/{name}.pdf: {reason}")), "{name}: {}", added.errors);
    }
    assert_eq!(titles(&folder, &[]).await, ["Refund policy"]);
}

#[tokio::test]
async fn pdf_at_an_address_is_added() {
    let (site, folder) = (FakeEndpoint::start_permissive().await, folder(&[]));
    site.respond_with(|_| Reply::status(200).header("content-type", "application/pdf").bytes(pdf("two-pages")));
    let address = format!("{}/refunds", site.url());
    let added = articles(&folder, &["add", &address], &[("ALLOW_PRIVATE_TOOLS", "yes")]).await;
    assert_eq!(added.exit_code, Some(0), "{}", added.errors);
    assert_eq!(titles(&folder, &[]).await, ["Refund policy"]);
}
