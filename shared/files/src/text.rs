//! Text in any of the encodings that people use.

use crate::FileError;

/// The beginning of a file that shows whether it is text, in bytes.
///
/// Source: WHATWG MIME Sniffing, 5.2 "Reading the resource header", as of November 2026.
const HEADER_BYTES: usize = 1_445;

/// Whether bytes are text: marked as UTF-16, or without NUL and without control characters at the beginning.
///
/// Source: WHATWG MIME Sniffing, 3 "Terminology" ("binary data byte"), as of November 2026.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    utf16(bytes).is_some() || (!bytes.iter().take(HEADER_BYTES).any(is_binary) && !bytes.contains(&0))
}

/// The units of marked UTF-16.
fn utf16(bytes: &[u8]) -> Option<impl Iterator<Item = u16>> {
    let unit = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    Some(bytes.chunks_exact(2).skip(1).map(move |pair| unit([pair[0], pair[1]])))
}

/// Decodes at most about `max_bytes` of text; what is faulty becomes U+FFFD. Line breaks are `\n`.
///
/// # Errors
/// `Damaged` in a build without the feature `encodings` for text that is neither UTF-8 nor marked UTF-16.
pub(crate) fn decode(bytes: &[u8], max_bytes: usize) -> Result<String, FileError> {
    let start = bytes.get(..max_bytes.saturating_mul(2)).unwrap_or(bytes);
    let text = if let Some(units) = utf16(start) {
        char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    } else {
        decode_unmarked(start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start))?
    };
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Decodes UTF-8, also if it was cut within a character, else text in the probable encoding.
fn decode_unmarked(bytes: &[u8]) -> Result<String, FileError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) if error.error_len().is_none() => {
            Ok(String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default()).into_owned())
        }
        #[cfg(feature = "encodings")]
        Err(_) => {
            let guessed = crate::guess_encoding(bytes, None::<&mut std::io::Empty>);
            let encoding = guessed.map_err(|error| FileError::damaged(&error.to_string()))?;
            Ok(encoding.decode_without_bom_handling(bytes).0.into_owned())
        }
        #[cfg(not(feature = "encodings"))]
        Err(_) => Err(FileError::damaged("its text is neither UTF-8 nor UTF-16")),
    }
}
