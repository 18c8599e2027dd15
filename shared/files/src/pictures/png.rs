//! PNG. Source: W3C "Portable Network Graphics (PNG) Specification (Third Edition)", 2025-06-24, sections 5 and 11.

use super::bytes::{Bytes, length};
use super::{FileError, Picture};

const SIGNATURE_BYTES: usize = 8;

/// The chunks that a picture is shown with: its pixels, colours and frames. All others are metadata.
const SHOWN: [&[u8; 4]; 18] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP", b"mDCV",
    b"cLLI", b"bKGD", b"pHYs", b"acTL", b"fcTL", b"fdAT",
];

pub(super) fn clean(input: &mut Bytes<'_>) -> Result<Picture, FileError> {
    let signature = input.take(SIGNATURE_BYTES)?;
    let header = *input;
    let (kind, data) = chunk(input)?;
    let mut data = Bytes(data);
    if kind != *b"IHDR" || data.0.len() != 13 {
        return Err(FileError::damaged("the PNG has no header"));
    }
    let mut picture = Picture::new((u32::from_be_bytes(data.array()?), u32::from_be_bytes(data.array()?)))?;
    picture.bytes.extend([signature, input.since(header)].concat());
    let mut has_pixels = false;
    loop {
        let start = *input;
        let (kind, _) = chunk(input)?;
        if SHOWN.contains(&&kind) {
            picture.bytes.extend(input.since(start));
        } else if kind[0].is_ascii_uppercase() {
            return Err(FileError::damaged("the PNG has an unknown chunk"));
        }
        match &kind {
            b"IHDR" => return Err(FileError::damaged("the PNG has two headers")),
            b"IDAT" => has_pixels = true,
            b"IEND" if has_pixels => return Ok(picture),
            b"IEND" => return Err(FileError::damaged("the PNG has no pixels")),
            _ => {}
        }
    }
}

/// The type and the data of the next chunk.
fn chunk<'a>(input: &mut Bytes<'a>) -> Result<([u8; 4], &'a [u8]), FileError> {
    let length = length(u32::from_be_bytes(input.array()?));
    let checked = *input;
    let kind = input.array()?;
    let data = input.take(length)?;
    let sum = crc32(input.since(checked));
    if u32::from_be_bytes(input.array()?) != sum {
        return Err(FileError::damaged("a checksum of the PNG is wrong"));
    }
    Ok((kind, data))
}

/// The CRC of section 5.5 and annex D.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let (mut table, mut at) = ([0; 256], 0_u32);
        while at < 256 {
            let (mut value, mut bit) = (at, 0);
            while bit < 8 {
                value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
                bit += 1;
            }
            table[at as usize] = value;
            at += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |sum, byte| TABLE[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8))
}
