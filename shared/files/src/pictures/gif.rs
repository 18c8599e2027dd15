//! GIF. Source: "Graphics Interchange Format, Version 89a", 1990-07-31.

use super::bytes::Bytes;
use super::{FileError, Picture};

/// The extensions of applications that a picture is shown with: how often its frames are repeated.
const SHOWN_APPLICATIONS: [&[u8]; 2] = [b"NETSCAPE2.0", b"ANIMEXTS1.0"];

pub(super) fn clean(input: &mut Bytes<'_>) -> Result<Picture, FileError> {
    let start = *input;
    input.take(6)?;
    let size = size(input)?;
    let [flags, ..] = input.array::<3>()?;
    colours(input, flags)?;
    let mut picture = Picture::new(size)?;
    picture.bytes.extend(input.since(start));
    let mut has_pixels = false;
    loop {
        let start = *input;
        let is_shown = match input.byte()? {
            0x2C => {
                input.take(4)?;
                // A frame may be larger than the picture.
                Picture::new(self::size(input)?)?;
                let flags = input.byte()?;
                colours(input, flags)?;
                input.byte()?;
                blocks(input)?;
                has_pixels = true;
                true
            }
            0x21 => match input.byte()? {
                // The control of the next frame.
                0xF9 => blocks(input).map(|_| true)?,
                0xFF => SHOWN_APPLICATIONS.contains(&blocks(input)?),
                // Comments, and texts that no program shows.
                _ => blocks(input).map(|_| false)?,
            },
            0x3B if has_pixels => {
                picture.bytes.push(0x3B);
                return Ok(picture);
            }
            _ => return Err(FileError::damaged("the GIF has a faulty block")),
        };
        if is_shown {
            picture.bytes.extend(input.since(start));
        }
    }
}

fn size(input: &mut Bytes<'_>) -> Result<(u32, u32), FileError> {
    Ok((u16::from_le_bytes(input.array()?).into(), u16::from_le_bytes(input.array()?).into()))
}

/// Reads the table of colours that these flags announce.
fn colours(input: &mut Bytes<'_>, flags: u8) -> Result<(), FileError> {
    let colours = if flags & 0x80 == 0 { 0 } else { 2_usize << (flags & 7) };
    input.take(3 * colours).map(drop)
}

/// Reads blocks of data to their end; returns the first one.
fn blocks<'a>(input: &mut Bytes<'a>) -> Result<&'a [u8], FileError> {
    let mut first = None;
    loop {
        let length = input.byte()?.into();
        let block = input.take(length)?;
        let first = *first.get_or_insert(block);
        if length == 0 {
            return Ok(first);
        }
    }
}
