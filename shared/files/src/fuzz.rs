//! Fuzzing of files that anyone may have written.

use ::fuzz::{ensure, run};

use crate::{FileType, clean_picture};

#[cfg(feature = "office")]
#[test]
fn fuzz_office_files_are_read_or_refused() {
    use crate::office::{read, tests};
    let samples = [tests::document(false), tests::document(true), tests::presentation(), tests::workbook(tests::ROWS)];
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    let tokens = ["PK\u{1}\u{2}", "PK\u{3}\u{4}", "<w:t>", "</w:p>", "<a:tr>", "<c r=\"", "w:val=\"", "&#", "\0\0\0"];
    run("office files", &samples, &tokens, |bytes| {
        for file_type in [FileType::Docx, FileType::Pptx, FileType::Xlsx] {
            let text = read(file_type, bytes).map(|read| read.text).unwrap_or_default();
            // Deflate packs at most about 1,030 bytes into one.
            ensure(text.len() <= 2_000 * bytes.len().max(1), || format!("{} bytes of {}", text.len(), bytes.len()))?;
        }
        Ok(())
    });
}

#[test]
fn fuzz_pictures_are_cleaned_or_refused() {
    let samples = crate::pictures::tests::samples();
    let bytes: Vec<&[u8]> = samples.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let tokens = ["\0", "\u{1}", "Exif\0\0", "MM\0*\0\0\0\u{8}", "IDAT", "IEND", "VP8X", "ANMF", "!\u{1}", "\0\0\0\0"];
    run("pictures", &bytes, &tokens, |bytes| {
        let Ok(file_type) = FileType::recognise(bytes, "") else { return Ok(()) };
        let Ok(picture) = clean_picture(file_type, bytes) else { return Ok(()) };
        ensure(picture.bytes.len() <= bytes.len() + 64, || "a picture grew".to_owned())?;
        ensure(FileType::recognise(&picture.bytes, "") == Ok(file_type), || "another type".to_owned())?;
        ensure(clean_picture(file_type, &picture.bytes) == Ok(picture), || "a second cleaning differs".to_owned())
    });
}
