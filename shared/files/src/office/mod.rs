//! Text of office files: ZIP archives of XML, by ECMA-376 (5th edition, December 2021). No link in them is followed.

mod archive;
mod body;
mod docx;
mod pptx;
#[cfg(test)]
pub(crate) mod tests;
mod xlsx;
mod xml;

use quick_xml::events::Event;

use self::archive::Archive;
use crate::document::{PAGE_SEPARATOR, single_line};
use crate::{FileError, FileText, FileType};

pub(crate) fn read(file_type: FileType, bytes: &[u8]) -> Result<FileText, FileError> {
    let mut archive = Archive::open(bytes)?;
    let title = title(&mut archive);
    let (pages, truncated) = match file_type {
        FileType::Docx => return Ok(FileText { title, text: docx::read(&mut archive)?, ..FileText::default() }),
        FileType::Pptx => (pptx::read(&mut archive)?, false),
        _ => archive.check_size().and_then(|()| xlsx::read(bytes))?,
    };
    let text = pages.join(PAGE_SEPARATOR.encode_utf8(&mut [0; 4]));
    Ok(FileText { title, text, pages: u32::try_from(pages.len()).ok(), truncated })
}

/// The title in the properties (ECMA-376 Part 2, 8.3.4); `None` if it is empty.
fn title(archive: &mut Archive<'_>) -> Option<String> {
    let properties = archive.read("docProps/core.xml").ok()??;
    let (mut title, mut is_title) = (String::new(), false);
    xml::for_each_event(&properties, |event| match event {
        Event::Start(tag) => is_title = tag.name().as_ref() == "dc:title",
        Event::End(_) => is_title = false,
        Event::Text(part) if is_title => title.push_str(&part),
        Event::GeneralRef(reference) if is_title => xml::push_character(&mut title, &reference),
        _ => {}
    })?;
    Some(single_line(&title)).filter(|title| !title.is_empty())
}
