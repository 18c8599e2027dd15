use std::collections::HashMap;
use std::io::{Cursor, Write};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::archive::{MAX_FILES, MAX_UNPACKED_BYTES};
use super::*;

const STYLES: &str = r#"<w:styles><w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>
    <w:style w:styleId="a3"><w:basedOn w:val="a"/><w:name w:val="Heading 2"/></w:style>
    <w:style w:styleId="a4"><w:name w:val="Normal"/></w:style></w:styles>"#;

const DOCUMENT: &str = r#"<?xml version="1.0"?><w:document><w:body>
    <w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>退款</w:t></w:r><w:r><w:t xml:space="preserve"> policy</w:t></w:r></w:p>
    <w:p><w:r><w:t>Within &lt;7&gt; days.</w:t><w:br/><w:t/><w:delText>gone</w:delText></w:r></w:p>
    <w:p><w:pPr><w:pStyle w:val="a3"/></w:pPr><w:r><w:t>Details</w:t></w:r></w:p>
    <w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>
    <w:r><w:footnoteReference w:id="2"/></w:r></w:p>
    <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>
    <w:tbl><w:tr><w:tc><w:p><w:r><w:t>City</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Pay</w:t></w:r></w:p>
    <w:p><w:r><w:t>ment</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr>
    <w:tr><w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>5</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
    <mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>
    <mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:body></w:document>"#;

const FOOTNOTES: &str = r#"<w:footnotes><w:footnote w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
    <w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;

const CORE: &str =
    "<cp:coreProperties><dc:title> Rules &amp; fees\n</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>";

/// An archive of these files; the last field chooses deflation.
pub(crate) fn zip(files: &[(&str, &str, bool)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text, is_deflated) in files {
        let method = if *is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A presentation of two slides, of which the second is shown first and has notes.
pub(crate) fn presentation() -> Vec<u8> {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |id: &str, name: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{kind}/{name}\" Target=\"{target}\"/>")
    };
    let relations = [
        relation("a", "slide", "slides/slide1.xml"),
        relation("b", "slide", "/ppt/slides/slide2.xml"),
        relation("c", "theme", "theme1.xml"),
        relation("d", "slide", "http://example.com/slide\" TargetMode=\"External"),
    ];
    let relations = format!("<Relationships>{}</Relationships>", relations.concat());
    let notes =
        format!("<Relationships>{}</Relationships>", relation("a", "notesSlide", "../notesSlides/notesSlide1.xml"));
    let text = |text: &str| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
    let title = format!("<p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><p:txBody>{}</p:txBody></p:sp>", text("退款"));
    let table = format!("<a:tbl><a:tr><a:tc>{}</a:tc><a:tc>{}</a:tc></a:tr></a:tbl>", text("x"), text("y"));
    let order = ["b", "d", "c", "a", "x"].map(|id| format!("<p:sldId id=\"256\" r:id=\"{id}\"/>")).concat();
    let number = "<a:p><a:fld type=\"slidenum\"><a:t>7</a:t></a:fld></a:p>";
    zip(&[
        ("ppt/presentation.xml", &format!("<p:presentation><p:sldIdLst>{order}</p:sldIdLst></p:presentation>"), true),
        ("ppt/_rels/presentation.xml.rels", &relations, true),
        ("ppt/slides/slide1.xml", &format!("<p:sld>{}{number}</p:sld>", text("last &amp; end")), true),
        ("ppt/slides/slide2.xml", &format!("<p:sld>{title}{table}</p:sld>"), true),
        ("ppt/slides/_rels/slide2.xml.rels", &notes, true),
        ("ppt/notesSlides/notesSlide1.xml", &format!("<p:notes>{}</p:notes>", text("Speak slowly.")), true),
        ("docProps/core.xml", CORE, true),
    ])
}

/// A workbook whose first sheet has these rows and declares a giant range.
pub(crate) fn workbook(rows: &str) -> Vec<u8> {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |id: &str, name: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{kind}/{name}\" Target=\"{target}\"/>")
    };
    let package = format!("<Relationships>{}</Relationships>", relation("a", "officeDocument", "xl/workbook.xml"));
    let relations =
        [relation("a", "worksheet", "worksheets/sheet1.xml"), relation("b", "worksheet", "worksheets/sheet2.xml")];
    let sheet =
        |rows: &str| format!("<worksheet><dimension ref=\"A1:XFD1048576\"/><sheetData>{rows}</sheetData></worksheet>");
    zip(&[
        ("_rels/.rels", &package, true),
        (
            "xl/workbook.xml",
            "<workbook xmlns:r=\"x\"><sheets><sheet name=\"Fees\" sheetId=\"1\" r:id=\"a\"/><sheet name=\"空\" sheetId=\"2\" r:id=\"b\"/></sheets></workbook>",
            true,
        ),
        ("xl/_rels/workbook.xml.rels", &format!("<Relationships>{}</Relationships>", relations.concat()), true),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>City, a</t></si><si><r><t>Pay</t></r><r><t>\"x\"</t></r></si></sst>",
            true,
        ),
        (
            "xl/styles.xml",
            "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>",
            true,
        ),
        ("xl/worksheets/sheet1.xml", &sheet(rows), true),
        ("xl/worksheets/sheet2.xml", &sheet(""), true),
    ])
}

pub(crate) const ROWS: &str = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c></row>\
    <row r=\"3\"><c r=\"B3\"><v>1.5</v></c><c r=\"D3\" s=\"1\"><v>45943.5</v></c><c r=\"E3\" t=\"b\"><v>1</v></c></row>\
    <row r=\"1048576\"><c r=\"A1048576\" t=\"inlineStr\"><is><t>end</t></is></c><c r=\"XFD1048576\" t=\"e\"><v>#N/A</v></c></row>";

fn text(file_type: FileType, bytes: &[u8]) -> Result<String, FileError> {
    read(file_type, bytes).map(|read| read.text)
}

pub(crate) fn document(is_deflated: bool) -> Vec<u8> {
    zip(&[
        ("word/styles.xml", STYLES, is_deflated),
        ("word/document.xml", DOCUMENT, is_deflated),
        ("word/footnotes.xml", FOOTNOTES, is_deflated),
        ("docProps/core.xml", CORE, is_deflated),
    ])
}

#[test]
fn document_becomes_markdown() {
    for is_deflated in [false, true] {
        let read = read(FileType::Docx, &document(is_deflated)).unwrap();
        let expected = "# 退款 policy\n\nWithin <7> days.\n\n## Details\n\na\tb[^2]\n\n- item\nCity | Pay ment in\n | 5\n\nbox\n\n\
            [^2]: A note.\n\n";
        assert_eq!((read.text.as_str(), read.title.as_deref(), read.pages), (expected, Some("Rules & fees"), None));
    }
}

#[test]
fn slides_are_read_in_their_order() {
    let read = read(FileType::Pptx, &presentation()).unwrap();
    assert_eq!(read.text, "# 退款\n\nx | y\n\nSpeak slowly.\n\n\u{c}last & end\n\n");
    assert_eq!((read.title.as_deref(), read.pages), (Some("Rules & fees"), Some(2)));
}

#[test]
fn sheets_become_csv() {
    let read = read(FileType::Xlsx, &workbook(ROWS)).unwrap();
    let gap = ",".repeat(101);
    let expected =
        format!("# Fees\n\"City, a\",\"Pay\"\"x\"\"\"\n,1.5,,2025-10-13 12:00:00,true\nend{gap}#N/A\u{c}# 空\n");
    assert_eq!((read.text, read.pages, read.truncated), (expected, Some(2), false));
}

#[test]
fn long_sheets_are_cut() {
    let rows =
        "<row><c t=\"inlineStr\"><is><t>some text in a cell that is rather long</t></is></c></row>".repeat(250_000);
    let read = read(FileType::Xlsx, &workbook(&rows)).unwrap();
    assert!(read.truncated && read.text.len() < 9 * 1024 * 1024);
}

#[test]
fn known_references_are_decoded_others_kept() {
    let read = |text: &str| body::read(&format!("<w:p><w:t>{text}</w:t></w:p>"), &HashMap::new());
    assert_eq!(read("a &amp; b&#33; &#x8336;&lt;x&gt;").as_deref(), Some("a & b! 茶<x>\n\n"));
    let odd = "&; &unknown; &amp &#xD800; &#99999999999; & &&amp";
    assert_eq!(read(odd), Some(format!("{odd}\n\n")));
    assert_eq!(read("a<w:t b=\"c"), None, "damaged");
}

#[test]
fn other_files_are_refused() {
    let other = zip(&[("a/b.xml", "<a/>", false)]);
    for file_type in [FileType::Docx, FileType::Pptx, FileType::Xlsx] {
        for bytes in [&b""[..], b"PK", b"%PDF-1.7", &other, &[0; 100]] {
            assert!(matches!(read(file_type, bytes), Err(FileError::Damaged(_))), "{file_type:?} {bytes:?}");
        }
    }
}

#[test]
fn files_with_a_password_are_refused() {
    let mut bytes = document(false);
    // The flag of encryption in the local header and in the directory of the second file.
    for mark in [&b"PK\x03\x04"[..], b"PK\x01\x02"] {
        let at = bytes.windows(4).enumerate().filter(|(_, window)| *window == mark).nth(1).unwrap().0;
        bytes[at + if mark[2] == 3 { 6 } else { 8 }] |= 1;
    }
    assert_eq!(text(FileType::Docx, &bytes), Err(FileError::Encrypted));
}

#[test]
fn damaged_archives_are_refused() {
    for (file_type, bytes) in
        [(FileType::Docx, document(true)), (FileType::Pptx, presentation()), (FileType::Xlsx, workbook(ROWS))]
    {
        let whole = text(file_type, &bytes).unwrap();
        // The last two bytes are the length of the comment, which is not read.
        for length in 0..bytes.len() - 2 {
            assert!(text(file_type, &bytes[..length]).is_err(), "{length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xFF;
            let read = text(file_type, &changed).unwrap_or_default();
            assert!(read.len() <= 2 * whole.len(), "{at}");
        }
    }
}

#[test]
fn large_files_and_directories_are_refused() {
    let long = " ".repeat(usize::try_from(MAX_UNPACKED_BYTES).unwrap());
    let too_large = |read: Result<String, FileError>| matches!(read, Err(FileError::TooLarge(_)));
    assert!(too_large(text(FileType::Docx, &zip(&[("word/document.xml", &format!("{long} "), true)]))));
    let sheets = [("xl/workbook.xml", &*long, true), ("a", &long, true), ("b", " ", true)];
    assert!(too_large(text(FileType::Xlsx, &zip(&sheets))));
    let names: Vec<String> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
    let files: Vec<(&str, &str, bool)> = names.iter().map(|name| (name.as_str(), "", false)).collect();
    assert!(too_large(text(FileType::Docx, &zip(&files))));
    assert!(matches!(text(FileType::Docx, &zip(&files[1..])), Err(FileError::Damaged(_))));
}
