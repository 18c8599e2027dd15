//! Division of a document into chunks, along its headings and sentences.

use std::sync::Arc;

use files::{Document, Section};

/// A chunk ends at the sentence that would make it longer than this, in characters.
const MAX_CHARS: usize = 700;

/// A heading ends a chunk of at least this length; a shorter one continues below it.
const MIN_CHARS: usize = 350;

/// The maximum length of the headings in front of a chunk, in characters.
const MAX_PATH_CHARS: usize = 150;

/// Between two headings of a path.
const PATH_SEPARATOR: &str = " > ";

/// Divides a document into chunks; the same document always gives the same ones.
///
/// Each starts with the title and the headings that it is below, on one line. A sentence stays whole unless it alone is
/// too long.
pub(crate) fn divide(document: &Document, title: &str) -> Vec<String> {
    let mut chunks = Chunks { title, finished: Vec::new(), path: String::new(), text: String::new(), length: 0 };
    for section in &document.sections {
        chunks.begin_section(section);
        for sentence in sentences(&section.text) {
            chunks.push_sentence(sentence);
        }
    }
    chunks.finish();
    chunks.finished
}

struct Chunks<'a> {
    title: &'a str,
    finished: Vec<String>,
    path: String,
    text: String,
    /// The length of `text` in characters.
    length: usize,
}

impl Chunks<'_> {
    fn begin_section(&mut self, section: &Section) {
        let path = self.path_of(&section.headings);
        if self.length >= MIN_CHARS || self.text.trim().is_empty() {
            self.finish();
            self.path = path;
        } else if let Some(heading) = section.headings.last() {
            self.push_text(&format!("\n{heading}\n"));
        }
    }

    fn push_sentence(&mut self, sentence: &str) {
        let mut rest = sentence;
        while !rest.is_empty() {
            // A longer rest is not counted: it begins a new chunk anyhow.
            let length = rest.chars().take(MAX_CHARS + 1).count();
            if self.length > 0 && self.length + length > MAX_CHARS {
                self.finish();
            }
            let end = rest.char_indices().nth(MAX_CHARS).map_or(rest.len(), |(at, _)| at);
            let (piece, more) = rest.split_at(end);
            self.push_text(piece);
            rest = more;
        }
    }

    fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += text.chars().count();
    }

    /// Ends the open chunk; the next one has the same path unless a section begins.
    fn finish(&mut self) {
        let text = self.text.trim();
        if !text.is_empty() {
            self.finished.push(format!("{}\n{text}", self.path));
        }
        self.text.clear();
        self.length = 0;
    }

    /// The title and the headings, each once; the last ones if all are too long.
    fn path_of(&self, headings: &[Arc<str>]) -> String {
        let mut path = self.title.to_owned();
        for heading in headings.iter().filter(|heading| &***heading != self.title) {
            path.push_str(PATH_SEPARATOR);
            path.push_str(heading);
        }
        let extra = path.chars().count().saturating_sub(MAX_PATH_CHARS);
        path.chars().skip(extra).collect()
    }
}

/// The sentences of a text with the white space after them. A line end or a Chinese or English sentence end closes one.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (sentence, more) = rest.split_at(sentence_length(rest));
        rest = more;
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn sentence_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let after = at + character.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '\n' => true,
            '。' | '！' | '？' | '；' => !next.is_some_and(|next| "”’」』）)".contains(next)),
            '.' | '!' | '?' => next.is_some_and(char::is_whitespace),
            '”' | '’' | '」' | '』' => text.get(..at).is_some_and(|before| before.ends_with(['。', '！', '？'])),
            _ => false,
        };
        if ends {
            let space = text.get(after..).unwrap_or_default();
            return after + space.len() - space.trim_start().len();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use files::{Format, extract};

    fn divide_markdown(text: &str) -> Vec<String> {
        divide(&extract(text, Format::Markdown).unwrap(), "T")
    }

    #[test]
    fn sentences_end_in_both_languages() {
        let found: Vec<&str> = sentences("一。二！“三。”四 Five. 6.5 six? “Seven.” e\nf").collect();
        assert_eq!(found, ["一。", "二！", "“三。”", "四 Five. ", "6.5 six? ", "“Seven.” e\n", "f"]);
        assert_eq!(sentences("").count(), 0);
    }

    #[test]
    fn chunk_starts_with_its_headings() {
        let body = "A sentence of text. ".repeat(30);
        let chunks = divide_markdown(&format!("# T\n{body}\n## Part\n{body}\n### Detail\n{body}"));
        let paths: Vec<&str> = chunks.iter().filter_map(|chunk| chunk.lines().next()).collect();
        assert_eq!(paths, ["T", "T > Part", "T > Part > Detail"]);
        assert!(chunks.iter().all(|chunk| chunk.ends_with("A sentence of text.")), "{chunks:?}");
    }

    #[test]
    fn short_sections_share_a_chunk() {
        assert_eq!(divide_markdown("# One\na\n# Two\nb\n## Three\nc"), ["T > One\na\n\nTwo\n\nb\n\nThree\n\nc"]);
    }

    #[test]
    fn long_texts_are_divided_within_bounds() {
        for text in ["字".repeat(5_000), "这是一句话。".repeat(900), "word ".repeat(3_000), "Some line\n".repeat(900)]
        {
            let chunks = divide(&extract(&text, Format::Text).unwrap(), "T");
            let lengths: Vec<usize> = chunks.iter().map(|chunk| chunk.chars().count() - 2).collect();
            assert!(lengths.iter().all(|length| *length <= MAX_CHARS), "{lengths:?}");
            assert!(lengths.iter().rev().skip(1).all(|length| *length > MAX_CHARS - 10), "{lengths:?}");
            let kept: String = chunks.iter().filter_map(|chunk| chunk.strip_prefix("T\n")).collect();
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&kept), letters(&text));
        }
    }

    #[test]
    fn document_without_text_has_no_chunk() {
        assert_eq!(divide_markdown("# Only\n## headings\n"), [""; 0]);
        assert_eq!(divide_markdown(" \n"), [""; 0]);
    }

    #[test]
    fn long_heading_paths_are_cut() {
        let chunks = divide_markdown(&format!("# {}\n## Last\ntext", "长".repeat(300)));
        assert_eq!(chunks[0].lines().next().map(|path| path.chars().count()), Some(MAX_PATH_CHARS));
        assert!(chunks[0].contains(" > Last\n"));
    }
}
