//! JPEG. Sources: ITU-T T.81 (1992-09), annex B; orientation: Exif 3.0 (CIPA DC-008-2023), 4.6.5 and TIFF 6.0 (1992-06-03).

use super::bytes::Bytes;
use super::{FileError, Picture};

const EXIF: &[u8] = b"Exif\0\0";

/// The segment `APP0` of JFIF with a thumbnail of no pixels: so long it is.
const JFIF_BYTES: usize = 14;

pub(super) fn clean(input: &mut Bytes<'_>) -> Result<Picture, FileError> {
    let (mut kept, mut size, mut has_pixels) = (input.take(2)?.to_vec(), None, false);
    loop {
        let marker = next_marker(input)?;
        if marker == 0xD9 {
            break;
        }
        let length = u16::from_be_bytes(input.array()?);
        let data = input.take(usize::from(length).checked_sub(2).ok_or_else(damaged)?)?;
        match marker {
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) && size.is_none() => {
                let mut header = Bytes(data.get(1..).unwrap_or_default());
                let (height, width) = (u16::from_be_bytes(header.array()?), u16::from_be_bytes(header.array()?));
                size = Some((width.into(), height.into()));
                push(&mut kept, marker, data);
            }
            0xDA => {
                push(&mut kept, marker, data);
                kept.extend(scan(input));
                has_pixels = size.is_some();
            }
            0xC4 | 0xCC | 0xDB..=0xDD => push(&mut kept, marker, data),
            0xE0 if data.starts_with(b"JFIF\0") && data.len() >= JFIF_BYTES => {
                push(&mut kept, marker, &[data.get(..JFIF_BYTES - 2).unwrap_or_default(), &[0, 0]].concat());
            }
            0xE1 => {
                if let Some(orientation) = data.strip_prefix(EXIF).and_then(orientation).filter(|one| *one != 1) {
                    push(&mut kept, marker, &exif(orientation));
                }
            }
            0xE2 if data.starts_with(b"ICC_PROFILE\0") => push(&mut kept, marker, data),
            0xEE if data.starts_with(b"Adobe") => push(&mut kept, marker, data),
            0xE0..=0xEF | 0xFE => {}
            _ => return Err(damaged()),
        }
    }
    if !has_pixels {
        return Err(damaged());
    }
    kept.extend([0xFF, 0xD9]);
    Ok(Picture { bytes: kept, ..Picture::new(size.unwrap_or_default())? })
}

fn damaged() -> FileError {
    FileError::damaged("the JPEG has a faulty segment")
}

/// The next marker; more than one `FF` may be in front of it.
fn next_marker(input: &mut Bytes<'_>) -> Result<u8, FileError> {
    if input.byte()? != 0xFF {
        return Err(damaged());
    }
    loop {
        match input.byte()? {
            0xFF => {}
            marker => return Ok(marker),
        }
    }
}

/// The coded data of a scan, up to the next marker that does not belong to it.
fn scan<'a>(input: &mut Bytes<'a>) -> &'a [u8] {
    let is_end = |pair: &[u8]| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xD0..=0xD7 | 0xFF);
    let end = input.0.windows(2).position(is_end).unwrap_or(input.0.len());
    let (data, rest) = input.0.split_at(end);
    input.0 = rest;
    data
}

fn push(kept: &mut Vec<u8>, marker: u8, data: &[u8]) {
    let length = u16::try_from(data.len() + 2).unwrap_or(u16::MAX);
    kept.extend([0xFF, marker]);
    kept.extend(length.to_be_bytes());
    kept.extend(data);
}

/// The orientation in the first directory of a TIFF file, from 1 to 8.
fn orientation(tiff: &[u8]) -> Option<u8> {
    let is_little = tiff.starts_with(b"II*\0");
    let short = |at: usize| {
        let bytes = [*tiff.get(at)?, *tiff.get(at + 1)?];
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    // An offset of more than 64 KiB leads out of the segment.
    let (high, low) = if is_little { (short(6)?, short(4)?) } else { (short(4)?, short(6)?) };
    let directory = usize::from(low);
    let mut entries = (0..usize::from(short(directory)?)).map(|entry| directory + 2 + 12 * entry);
    let entry = entries.find(|entry| short(*entry) == Some(0x0112)).filter(|_| high == 0)?;
    u8::try_from(short(entry + 8)?).ok().filter(|value| (1..=8).contains(value))
}

/// A segment that has the orientation alone.
fn exif(orientation: u8) -> Vec<u8> {
    let directory = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0];
    [EXIF, b"MM\0*\0\0\0\x08", &directory].concat()
}
