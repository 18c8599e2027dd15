//! Fuzzing of files that anyone may have written.

use ::fuzz::{ensure, run};

#[cfg(feature = "docx")]
#[test]
fn fuzz_docx_files_are_read_or_refused() {
    let styles = r#"<w:styles><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style></w:styles>"#;
    let document = r#"<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>退款 &amp; &#27721;</w:t></w:r></w:p>"#;
    let archives = [false, true].map(|is_deflated| {
        crate::docx::zip(&[("word/styles.xml", styles, is_deflated), ("word/document.xml", document, is_deflated)])
    });
    let samples: Vec<&[u8]> = archives.iter().map(Vec::as_slice).collect();
    run("DOCX", &samples, &["PK\u{1}\u{2}", "PK\u{3}\u{4}", "<w:t>", "</w:p>", "w:val=\"", "&#", "\0\0\0"], |bytes| {
        let text = crate::docx_to_markdown(bytes).unwrap_or_default();
        // Deflate packs at most about 1,030 bytes into one.
        ensure(text.len() <= 2_000 * bytes.len().max(1), || format!("{} bytes of {}", text.len(), bytes.len()))
    });
}
