//! AWS's binary framing of events, `application/vnd.amazon.eventstream`.
//!
//! A frame is its length, the length of its headers and the checksum of both, then the headers, the payload, and the checksum
//! of all before it. Numbers are big-endian.
// Source: https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html, 2026-11-26.

use crate::ModelError;
use crate::errors::AttemptError;

/// The maximum size of a frame, in bytes. No reply needs as much.
const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

const TEXT: u8 = 7;

/// Splits a response into messages, independent of chunk boundaries.
#[derive(Default)]
pub(crate) struct Decoder {
    /// The part of the response that is not yet a whole frame.
    rest: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// Names and values; a value that is no text is empty.
    headers: Vec<(&'a str, &'a str)>,
    pub(crate) payload: &'a [u8],
}

impl Decoder {
    /// Passes the complete messages to `handle`.
    ///
    /// # Errors
    /// A damaged frame, after which no length can be trusted, or the first error of `handle`.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        mut handle: impl FnMut(&Message<'_>) -> Result<(), AttemptError>,
    ) -> Result<(), AttemptError> {
        // Damaged on its way: another attempt may be whole.
        let damaged = || AttemptError::transient(ModelError::BadResponse);
        self.rest.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(length) = self.rest[start..].first_chunk() {
            let length = length_of(*length).filter(|length| *length <= MAX_FRAME_BYTES).ok_or_else(damaged)?;
            let Some(frame) = self.rest[start..].get(..length) else { break };
            handle(&Message::parse(frame).ok_or_else(damaged)?)?;
            start += length;
        }
        self.rest.drain(..start);
        Ok(())
    }
}

impl<'a> Message<'a> {
    /// Parses a whole frame; `None` if it is damaged.
    fn parse(frame: &'a [u8]) -> Option<Self> {
        let (checked, checksum) = frame.split_last_chunk()?;
        let (prelude, rest) = checked.split_first_chunk::<8>()?;
        let (prelude_checksum, rest) = rest.split_first_chunk()?;
        if [crc32(prelude), crc32(checked)] != [*prelude_checksum, *checksum].map(u32::from_be_bytes) {
            return None;
        }
        let (mut bytes, payload) = rest.split_at_checked(length_of(*prelude.last_chunk()?)?)?;
        let mut headers = Vec::new();
        while !bytes.is_empty() {
            let (header, rest) = parse_header(bytes)?;
            headers.push(header);
            bytes = rest;
        }
        Some(Self { headers, payload })
    }

    pub(crate) fn header(&self, name: &str) -> &'a str {
        self.headers.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}

fn length_of(bytes: [u8; 4]) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

/// Parses a header: the length of its name, the name, its type and the value. Returns what follows, too.
fn parse_header(bytes: &[u8]) -> Option<((&str, &str), &[u8])> {
    let (name_length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*name_length))?;
    let (kind, rest) = rest.split_first()?;
    let (length, rest) = match *kind {
        0 | 1 => (0, rest),
        2 => (1, rest),
        3 => (2, rest),
        4 => (4, rest),
        5 | 8 => (8, rest),
        6 | TEXT => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        9 => (16, rest),
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    let value = if *kind == TEXT { value } else { b"" };
    Some(((str::from_utf8(name).ok()?, str::from_utf8(value).ok()?), rest))
}

/// Calculates the CRC-32 of Ethernet and gzip, half a byte at a time: frames are small, and larger tables are a visible part of
/// the function's zip file.
fn crc32(bytes: &[u8]) -> u32 {
    let halves = bytes.iter().flat_map(|byte| [byte & 0xf, byte >> 4]);
    let step = |crc: u32, half: u8| CRC_TABLE[usize::from((crc.to_le_bytes()[0] ^ half) & 0xf)] ^ (crc >> 4);
    !halves.fold(!0, step)
}

const CRC_TABLE: [u32; 16] = {
    let mut table = [0; 16];
    let mut half = 0;
    while half < 16 {
        let (mut crc, mut bit) = (half, 0);
        while bit < 4 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[half as usize] = crc;
        half += 1;
    }
    table
};
