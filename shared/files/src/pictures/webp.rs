//! WebP. Source: RFC 9649 (November 2024), section 2, with RFC 6386, 9.1 for the header of lossy pictures.

use super::bytes::{Bytes, length};
use super::{FileError, Picture};

/// The flags of `VP8X` for Exif and XMP.
const METADATA_FLAGS: u8 = 0x0C;

pub(super) fn clean(input: &mut Bytes<'_>) -> Result<Picture, FileError> {
    input.take(4)?;
    let file_bytes = length(u32::from_le_bytes(input.array()?));
    let mut file = Bytes(input.take(file_bytes)?);
    file.take(4)?;
    let mut header = file;
    let (kind, data) = chunk(&mut header)?;
    let size = size(kind, data)?.ok_or_else(|| FileError::damaged("the WebP has no header"))?;
    let mut picture = Picture::new(size)?;
    let (chunks, has_pixels) = clean_chunks(file, false)?;
    if !has_pixels {
        return Err(FileError::damaged("the WebP has no pixels"));
    }
    let length = u32::try_from(4 + chunks.len()).unwrap_or(u32::MAX).to_le_bytes();
    picture.bytes = [b"RIFF", &length[..], b"WEBP", &chunks].concat();
    Ok(picture)
}

/// The chunks that a picture, or a frame of it, is shown with, and whether there are pixels in them.
fn clean_chunks(mut input: Bytes<'_>, in_frame: bool) -> Result<(Vec<u8>, bool), FileError> {
    let (mut kept, mut has_pixels) = (Vec::new(), false);
    while !input.0.is_empty() {
        let (kind, data) = chunk(&mut input)?;
        // Each picture in it may be larger than the whole.
        size(kind, data)?.map(Picture::new).transpose()?;
        match &kind {
            b"VP8X" => push(&mut kept, kind, &[&[data[0] & !METADATA_FLAGS], &data[1..]].concat()),
            // No frame has frames: nesting would have no bound.
            b"ANMF" if !in_frame => {
                let mut frame = Bytes(data);
                let header = frame.take(16)?;
                let (chunks, has_frame) = clean_chunks(frame, true)?;
                push(&mut kept, kind, &[header, &chunks].concat());
                has_pixels |= has_frame;
            }
            b"VP8 " | b"VP8L" => {
                push(&mut kept, kind, data);
                has_pixels = true;
            }
            b"ICCP" | b"ANIM" | b"ALPH" => push(&mut kept, kind, data),
            _ => {}
        }
    }
    Ok((kept, has_pixels))
}

/// The type and the data of the next chunk. A padding byte follows an odd number of others.
fn chunk<'a>(input: &mut Bytes<'a>) -> Result<([u8; 4], &'a [u8]), FileError> {
    let kind = input.array()?;
    let length = length(u32::from_le_bytes(input.array()?));
    let data = input.take(length)?;
    input.take(length % 2)?;
    Ok((kind, data))
}

fn push(kept: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    kept.extend(kind);
    kept.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
    kept.extend(data);
    kept.extend(vec![0; data.len() % 2]);
}

/// The width and height in the header of a chunk; `None` for a chunk without them.
fn size(kind: [u8; 4], data: &[u8]) -> Result<Option<(u32, u32)>, FileError> {
    let mut data = Bytes(data);
    let damaged = || FileError::damaged("the WebP has a faulty header");
    match &kind {
        b"VP8X" => {
            data.take(4)?;
            let mut side = || data.array().map(|[low, middle, high]| 1 + u32::from_le_bytes([low, middle, high, 0]));
            Ok(Some((side()?, side()?)))
        }
        b"VP8 " => {
            let [tag, _, _, 0x9D, 0x01, 0x2A] = data.array()? else { return Err(damaged()) };
            let mut side = || data.array().map(|side| u32::from(u16::from_le_bytes(side) & 0x3FFF));
            let size_in_pixels = (side()?, side()?);
            if tag & 1 == 0 { Ok(Some(size_in_pixels)) } else { Err(damaged()) }
        }
        b"VP8L" => {
            if data.byte()? != 0x2F {
                return Err(damaged());
            }
            let bits = u32::from_le_bytes(data.array()?);
            Ok(Some((1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))))
        }
        _ => Ok(None),
    }
}
