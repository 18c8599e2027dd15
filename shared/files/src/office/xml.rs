//! XML of office files. No entity is expanded but those that XML itself defines.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Calls `handle` with each event of an XML text, an empty tag as a start and an end; `None` if the text is damaged.
pub(super) fn for_each_event<'a>(xml: &'a str, mut handle: impl FnMut(Event<'a>)) -> Option<()> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    (config.expand_empty_elements, config.allow_dangling_amp) = (true, true);
    loop {
        match reader.read_event().ok()? {
            Event::Eof => return Some(()),
            event => handle(event),
        }
    }
}

pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // A check for duplicates would take time quadratic in their number.
    let found = attributes.with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == name);
    Some(found?.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
}

/// Appends the character that a reference names; an unknown reference stays as it is.
pub(super) fn push_character(text: &mut String, reference: &BytesRef<'_>) {
    let name: &str = reference;
    match (reference.resolve_char_ref(), resolve_xml_entity(name)) {
        (Ok(Some(character)), _) => text.push(character),
        (_, Some(character)) => text.push_str(character),
        _ => text.extend(["&", name, ";"]),
    }
}
