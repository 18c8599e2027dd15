//! Pictures, checked and without metadata. The structure is read, never the pixels: no decoder sees a hostile file.

mod bytes;
mod gif;
mod jpeg;
mod png;
mod webp;

use self::bytes::Bytes;
use crate::{FileError, FileType};

/// The maximum number of pixels. More would take a decoder 160 MB.
const MAX_PIXELS: u64 = 40_000_000;

/// The longest side in pixels.
// Claude and Amazon Bedrock take 8,000: https://docs.claude.com/en/docs/build-with-claude/vision, 2026-11-27.
const MAX_SIDE: u32 = 8_000;

/// A picture without metadata.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
}

/// Checks the structure of a picture, and removes what is not needed to show it: position, camera, comments, thumbnails, and
/// what follows its end. Colour profiles stay, and the orientation of a JPEG.
/// A picture of many megabytes takes tens of milliseconds: it is work for the pool.
///
/// # Errors
/// `Damaged` for a picture that is not complete, `TooLarge` for more than 40 million pixels or 8,000 a side, `Unsupported` for another type.
pub fn clean_picture(file_type: FileType, bytes: &[u8]) -> Result<Picture, FileError> {
    let mut input = Bytes(bytes);
    match file_type {
        FileType::Png => png::clean(&mut input),
        FileType::Jpeg => jpeg::clean(&mut input),
        FileType::Gif => gif::clean(&mut input),
        FileType::WebP => webp::clean(&mut input),
        _ => Err(FileError::Unsupported),
    }
}

impl Picture {
    /// An empty file of a picture of this size.
    fn new((width, height): (u32, u32)) -> Result<Self, FileError> {
        match u64::from(width) * u64::from(height) {
            0 => Err(FileError::damaged("the image has no pixels")),
            pixels if pixels > MAX_PIXELS => {
                Err(FileError::TooLarge(format!("the image has more than {} megapixels", MAX_PIXELS / 1_000_000)))
            }
            _ if width.max(height) > MAX_SIDE => {
                Err(FileError::TooLarge(format!("a side of the image has more than {MAX_SIDE} pixels")))
            }
            _ => Ok(Self { bytes: Vec::new(), width, height }),
        }
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({} x {}, {} bytes)", self.width, self.height, self.bytes.len())
    }
}

#[cfg(test)]
pub(crate) mod tests;
