//! The tags of an XML text without entities of its own, in one pass.

use crate::entities::decode;

/// A start tag, an empty tag or an end tag.
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) is_end: bool,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute in double quotes, as DOCX files have them.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        while let Some((before, after)) = rest.split_once("=\"") {
            let (value, more) = after.split_once('"')?;
            if before.trim() == name {
                return Some(decode(value));
            }
            rest = more;
        }
        None
    }
}

/// Each tag with the text before it.
pub(super) fn tags(xml: &str) -> impl Iterator<Item = (String, Tag<'_>)> {
    let mut parts = xml.split('<');
    let mut text = parts.next().unwrap_or_default();
    parts.filter_map(move |part| {
        let (tag, after) = part.split_once('>')?;
        let before = decode(std::mem::replace(&mut text, after));
        let is_end = tag.starts_with('/');
        let tag = tag.trim_start_matches('/').trim_end_matches('/');
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        Some((before, Tag { name, is_end, attributes }))
    })
}
