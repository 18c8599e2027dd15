//! The guess of the encoding of a text without a mark.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{LazyLock, Mutex};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use work::{lock, make_space};

/// Longest sample that a guess reads, in bytes: the guess costs more than the search.
const SAMPLE_BYTES: usize = 4 * 1024;

/// What a sample has of an ASCII text before the first other byte of a line, in bytes.
const CONTEXT_BYTES: usize = 64;

/// How far a file is read on for its first byte that is not ASCII.
const MAX_ASCII_BYTES: usize = 64 * 1024 * 1024;

/// Size of a chunk of a file that is read on.
const CHUNK_BYTES: usize = 64 * 1024;

/// Maximum number of remembered guesses.
const MAX_REMEMBERED: usize = 16 * 1024;

/// The guesses of this process: a guess costs more than the search of its text.
static GUESSES: LazyLock<GuessMemo> = LazyLock::new(GuessMemo::default);

/// Guesses by the hash of their sample, so that no change of a file makes one wrong. The hash has a random key.
#[derive(Default)]
struct GuessMemo {
    hasher: RandomState,
    known: Mutex<HashMap<u64, &'static Encoding>>,
}

/// The encoding of an unmarked text that begins with `prefix`: UTF-8 if that is valid, else the probable one. `rest` is the
/// file after the prefix, if that is not all; it is read only if the prefix is ASCII.
pub fn guess(prefix: &[u8], rest: Option<&mut (impl Read + Seek)>) -> io::Result<&'static Encoding> {
    match rest {
        Some(rest) if prefix.is_ascii() => Ok(guess_text(&later_text(rest)?, false)),
        Some(_) => Ok(guess_text(prefix, false)),
        None => Ok(guess_text(prefix, true)),
    }
}

fn guess_text(text: &[u8], is_whole: bool) -> &'static Encoding {
    let Err(error) = std::str::from_utf8(text) else { return UTF_8 };
    if !is_whole && error.error_len().is_none() {
        return UTF_8;
    }
    let (sample, has_all_letters) = sample(text);
    GUESSES.get_or_detect(&sample, is_whole && has_all_letters)
}

/// The first part of a file with a byte that is not ASCII; ASCII if there is none.
fn later_text(rest: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let start = rest.stream_position()?;
    let mut text = Vec::new();
    for _ in 0..MAX_ASCII_BYTES / CHUNK_BYTES {
        text.clear();
        if rest.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut text)? == 0 || !text.is_ascii() {
            break;
        }
    }
    rest.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut text)?;
    rest.seek(SeekFrom::Start(start))?;
    Ok(text)
}

/// The lines of a text that are not ASCII, up to the maximum, and whether these are all. A line break is no part of a
/// character in any of the guessed encodings.
fn sample(text: &[u8]) -> (Vec<u8>, bool) {
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| {
        let first = line.iter().position(|byte| !byte.is_ascii())?;
        line.get(first.saturating_sub(CONTEXT_BYTES)..)
    });
    let bytes: Vec<u8> = lines.flatten().copied().take(SAMPLE_BYTES).collect();
    let is_whole = bytes.len() < SAMPLE_BYTES;
    (bytes, is_whole)
}

impl GuessMemo {
    fn get_or_detect(&self, sample: &[u8], is_whole: bool) -> &'static Encoding {
        let hash = self.hasher.hash_one((sample, is_whole));
        let remembered = lock(&self.known).get(&hash).copied();
        remembered.unwrap_or_else(|| {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(sample, is_whole);
            let encoding = detector.guess(None, Utf8Detection::Deny);
            let mut known = lock(&self.known);
            make_space(&mut known, MAX_REMEMBERED, |_| false);
            known.insert(hash, encoding);
            encoding
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253};

    use super::*;

    const TEXTS: [(&Encoding, &str); 10] = [
        (WINDOWS_1252, "Le procès-verbal de l'été a été approuvé à l'unanimité par les élèves."),
        (WINDOWS_1252, "Die Prüfung der Größe ist für Straßen und Häuser nötig, später auch für Bäume."),
        (WINDOWS_1252, "La señora mañana recibirá la información según la situación económica del año."),
        (WINDOWS_1250, "Příliš žluťoučký kůň úpěl ďábelské ódy, řekl učitel."),
        (WINDOWS_1251, "Протокол заседания был утверждён единогласно в пятницу."),
        (WINDOWS_1253, "Η σύμβαση υπογράφηκε την Παρασκευή από όλους τους μετόχους."),
        (GBK, "本季度的预算是三百万元，由财务部门负责审核。"),
        (BIG5, "本季度的預算是三百萬元，由財務部門負責審核。"),
        (SHIFT_JIS, "四半期の予算は三百万円で、財務部が審査します。"),
        (EUC_KR, "이번 분기의 예산은 삼백만 원이며 재무팀이 심사합니다."),
    ];

    fn guess_all(text: &[u8]) -> &'static Encoding {
        guess(text, None::<&mut Cursor<Vec<u8>>>).unwrap()
    }

    #[test]
    fn late_letters_decide_the_encoding() {
        for (encoding, line) in TEXTS {
            for ascii_bytes in [0, 63, 4 * 1024, 200_000] {
                for line_end in ["\n", " "] {
                    let text = "plain text of a file".chars().cycle().take(ascii_bytes).collect::<String>();
                    let text = format!("{text}{line_end}{line}{line_end}The end, as it began.");
                    let bytes = encoding.encode(&text).0;
                    assert_eq!(guess_all(&bytes).name(), encoding.name(), "{line} after {ascii_bytes} bytes");
                }
            }
        }
    }

    #[test]
    fn letters_far_apart_are_read_together() {
        let accented = ["procès", "été", "approuvé", "à", "élèves", "forêt", "garçon", "où"];
        let lines: String =
            accented.iter().flat_map(|one| [one, "\n", &"plain text \n".repeat(2000)].map(String::from)).collect();
        assert_eq!(guess_all(&WINDOWS_1252.encode(&lines).0), WINDOWS_1252);
        let (sample, _) = sample(&WINDOWS_1252.encode(&lines).0);
        assert_eq!(WINDOWS_1252.decode(&sample).0.split_whitespace().collect::<Vec<_>>(), accented);
    }

    #[test]
    fn samples_are_bounded_and_end_at_their_limit() {
        let long = vec![0xE9; 3 * SAMPLE_BYTES];
        let (cut, is_whole) = sample(&long);
        assert_eq!((cut.len(), is_whole), (SAMPLE_BYTES, false));
        let (short, is_whole) = sample(b"a\nb \xE9 c\nd\n\xE9");
        assert_eq!((short.as_slice(), is_whole), (b"b \xE9 c\n\xE9".as_slice(), true));
        assert!(sample(b"").0.is_empty());
    }

    #[test]
    fn files_are_read_on_while_they_are_ascii() {
        let prefix = vec![b'a'; 100];
        for ascii_bytes in [0, CHUNK_BYTES - 1, 3 * CHUNK_BYTES] {
            for (encoding, line) in TEXTS.iter().copied().chain([(UTF_8, "été"), (UTF_8, "")]) {
                let rest = [&vec![b'b'; ascii_bytes], b"\n".as_slice(), &encoding.encode(line).0].concat();
                let mut file = Cursor::new(rest);
                assert_eq!(guess(&prefix, Some(&mut file)).unwrap().name(), encoding.name(), "{line}");
                assert_eq!(file.position(), 0, "the file is read again from there");
            }
        }
    }

    #[test]
    fn remembered_guesses_stay_bounded() {
        let memo = GuessMemo::default();
        for number in 0..MAX_REMEMBERED + 10 {
            memo.known.lock().unwrap().insert(u64::try_from(number).unwrap(), UTF_8);
        }
        let encoding = memo.get_or_detect(b"\xE9t\xE9 1", true);
        assert_eq!(memo.known.lock().unwrap().len(), 1);
        assert_eq!(memo.get_or_detect(b"\xE9t\xE9 1", true), encoding);
    }
}
