//! Files that requests carry in their messages, by data URL or address.

use domain::{Attachment, AttachmentContent, ErrorCode, Failure, Message, StrictObject, one_line};

use crate::request::{MAX_ATTACHMENTS, MAX_BODY_BYTES};

const MAX_NAME_CHARS: usize = 255;

/// The content of a user message with parts: its texts and its files.
#[derive(Debug, Default)]
pub(crate) struct UserContent {
    texts: Vec<String>,
    attachments: Vec<Attachment>,
}

impl UserContent {
    pub(crate) fn add_text(&mut self, part: &mut StrictObject, name: &str) -> Result<(), Failure> {
        let text = part.take_string(name)?.ok_or_else(|| part.field_error(name, "given: a string"))?;
        self.texts.push(text);
        Ok(())
    }

    /// Adds the picture at the address in this field of a part.
    pub(crate) fn add_image(&mut self, part: &mut StrictObject, field: &str) -> Result<(), Failure> {
        reject_id(part)?;
        self.add(part, &[field], (None, None))
    }

    /// Adds the file at the address in one of these fields of a part.
    pub(crate) fn add_file(&mut self, part: &mut StrictObject, fields: &[&str]) -> Result<(), Failure> {
        reject_id(part)?;
        let name = part.take_string("filename")?;
        let media_type = part.take_string("mediaType")?;
        self.add(part, fields, (name, media_type))
    }

    fn add(
        &mut self,
        part: &mut StrictObject,
        fields: &[&str],
        (name, media_type): (Option<String>, Option<String>),
    ) -> Result<(), Failure> {
        let mut given = None;
        for field in fields {
            given = given.or(part.take_string(field)?.map(|address| (*field, address)));
        }
        let (field, address) = given.unwrap_or((fields[0], String::new()));
        let data = address.strip_prefix("data:");
        if data.is_none() && !address.starts_with("http:") && !address.starts_with("https:") {
            return Err(part.field_error(field, "a URL that begins with data:, https: or http:"));
        }
        if self.attachments.len() == MAX_ATTACHMENTS {
            let accepted = format!("left out: a message has at most {MAX_ATTACHMENTS} files");
            return Err(part.field_error(field, &accepted));
        }
        let of_data = || data?.split([',', ';']).next().map(str::to_owned);
        let media_type = media_type.or_else(of_data).unwrap_or_default();
        self.attachments.push(Attachment::at(
            one_line(&name.unwrap_or_default(), MAX_NAME_CHARS),
            media_type,
            &address,
        ));
        Ok(())
    }

    pub(crate) fn into_parts(self) -> (String, Vec<Attachment>) {
        (self.texts.join("\n"), self.attachments)
    }
}

/// Files that a client uploaded to another service are not here.
fn reject_id(part: &mut StrictObject) -> Result<(), Failure> {
    let accepted = "left out: files are taken as data URLs or addresses only";
    part.take_value("file_id").map_or(Ok(()), |_| Err(part.field_error("file_id", accepted)))
}

/// Checks that a body has at most [`MAX_BODY_BYTES`] in addition to the addresses of its files.
///
/// # Errors
/// `too_large`.
pub(crate) fn check_size<'a>(
    body: &[u8],
    messages: impl Iterator<Item = &'a Message>,
    attachments: &'a [Attachment],
) -> Result<(), Failure> {
    let address_len = |one: &Attachment| match &one.content {
        AttachmentContent::Address(address) => address.len(),
        _ => 0,
    };
    let files: usize = messages.flat_map(Message::attachments).chain(attachments).map(address_len).sum();
    if body.len().saturating_sub(files) <= MAX_BODY_BYTES {
        return Ok(());
    }
    let message = format!("The body is too large: at most {MAX_BODY_BYTES} bytes are accepted in addition to files");
    Err(Failure::new(ErrorCode::TooLarge, message))
}
