//! Finds reports of results in a reply to a conversation that has none.

/// Beginnings of sentences that report results, in lower case; a comma or a colon follows. Seen in tests of the loop with
/// scripted and real models, 2026-11-24.
const REPORTS: &[&str] = &[
    "根据搜索结果",
    "根据检索结果",
    "根据查询结果",
    "根据工具结果",
    "根据工具返回的结果",
    "搜索结果显示",
    "搜索结果",
    "工具结果",
    "工具返回",
    "according to the search results",
    "according to search results",
    "based on the search results",
    "based on search results",
    "search results",
    "tool results",
    "tool result",
];

/// The first citation of an answer: numbers of pages begin at 1.
const CITATION: &str = "[1]";

/// Minimum length of a line before its citation, in characters: a shorter one claims nothing.
const MIN_CLAIM_CHARS: usize = 4;

/// Reads a reply and holds back only a text that the next character decides: the beginning of a report, or a citation.
#[derive(Debug, Default)]
pub(crate) struct InventionDetector {
    /// The text that is held back.
    pub(super) pending: String,
    is_in_sentence: bool,
    is_in_code: bool,
    /// The reply is data: it begins like JSON.
    is_json: Option<bool>,
    last: Option<char>,
    /// Characters of the line other than white space.
    line_chars: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invention {
    /// The beginning of a report.
    Report,
    /// The citation of a claim, which precedes it.
    Citation,
}

enum Match {
    None,
    Undecided,
    Full(Invention),
}

impl InventionDetector {
    /// Whether a text mentions reports or citations, so that they are no sign of an invention.
    pub(crate) fn is_mentioned(text: &str) -> bool {
        let text = text.to_lowercase();
        text.contains(CITATION) || REPORTS.iter().any(|report| text.contains(report))
    }

    /// Takes more text; returns what is decided, and the invention with the rest from there on.
    pub(super) fn push(&mut self, text: &str) -> (String, Option<(Invention, String)>) {
        self.pending.push_str(text);
        self.read(false)
    }

    /// Ends the reply; returns the same as [`Self::push`].
    pub(super) fn finish(&mut self) -> (String, Option<(Invention, String)>) {
        self.read(true)
    }

    fn read(&mut self, ended: bool) -> (String, Option<(Invention, String)>) {
        let mut text = std::mem::take(&mut self.pending);
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            match self.match_at(&text[at..], ended) {
                Match::Full(invention) => {
                    let rest = text.split_off(at);
                    return (text, Some((invention, rest)));
                }
                Match::Undecided if !ended => break,
                Match::Undecided | Match::None => self.advance(next),
            }
            at += next.len_utf8();
        }
        self.pending = text.split_off(at);
        (text, None)
    }

    fn match_at(&self, rest: &str, ended: bool) -> Match {
        if self.is_in_code || self.is_json == Some(true) {
            return Match::None;
        }
        if rest.starts_with('[') && self.is_after_claim() {
            // Text in parentheses after a number in brackets is the address of a link.
            return match match_phrase(CITATION, rest, |next| "\n。；！？（.;!?[".contains(next)) {
                Some(true) => Match::Full(Invention::Citation),
                None if ended && rest == CITATION => Match::Full(Invention::Citation),
                None => Match::Undecided,
                Some(false) => Match::None,
            };
        }
        if self.is_in_sentence {
            return Match::None;
        }
        let mut matches = REPORTS.iter().map(|report| match_phrase(report, rest, |next| "，：,:".contains(next)));
        match matches.find(|matched| *matched != Some(false)) {
            Some(Some(_)) => Match::Full(Invention::Report),
            Some(None) => Match::Undecided,
            None => Match::None,
        }
    }

    /// Whether a citation at this position would follow a claim: `a[1]` is an element of a list.
    fn is_after_claim(&self) -> bool {
        self.line_chars >= MIN_CLAIM_CHARS && self.last.is_some_and(|last| !last.is_ascii_alphanumeric() && last != '_')
    }

    fn advance(&mut self, next: char) {
        if self.is_json.is_none() && !next.is_whitespace() {
            self.is_json = Some(matches!(next, '{' | '['));
        }
        // A fence is one run of backticks.
        self.is_in_code ^= next == '`' && self.last != Some('`');
        let ends_sentence = "\n。！？!?".contains(next) || (next.is_whitespace() && self.last == Some('.'));
        // Quotation marks, emphasis and headings precede the first letter of a sentence.
        self.is_in_sentence = !ends_sentence && (self.is_in_sentence || next.is_alphanumeric());
        self.line_chars = if next == '\n' { 0 } else { self.line_chars + usize::from(!next.is_whitespace()) };
        self.last = Some(next);
    }
}

/// Whether a text begins with a phrase, ignoring case, and what follows it is accepted; `None` if the text is too short.
fn match_phrase(phrase: &str, text: &str, accepts_next: impl Fn(char) -> bool) -> Option<bool> {
    let mut text = text.chars();
    for expected in phrase.chars() {
        if text.next()?.to_ascii_lowercase() != expected {
            return Some(false);
        }
    }
    text.next().map(accepts_next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of a reply in pieces of so many characters, and what was found.
    fn read(text: &str, size: usize) -> (String, Option<Invention>) {
        let (mut detector, mut shown) = (InventionDetector::default(), String::new());
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(size) {
            let (more, found) = detector.push(&piece.iter().collect::<String>());
            shown.push_str(&more);
            if let Some((invention, _)) = found {
                return (shown, Some(invention));
            }
        }
        let (more, found) = detector.finish();
        (shown + &more, found.map(|(invention, _)| invention))
    }

    #[test]
    fn reports_and_citations_are_found_at_any_split() {
        use Invention::{Citation, Report};
        for (text, shown, invention) in [
            ("根据搜索结果，营收 500 亿 [1]。", "", Report),
            ("好的。\n**根据搜索结果：**营收", "好的。\n**", Report),
            ("Sure. According to the search results, it is 5.", "Sure. ", Report),
            ("Tool result: {\"revenue\":500}", "", Report),
            ("营收 281 亿美元 [1]。同比", "营收 281 亿美元 ", Citation),
            ("营收 281 亿美元[1]（来源：https://fake.example）", "营收 281 亿美元", Citation),
            ("Revenue was 28 billion [1]", "Revenue was 28 billion ", Citation),
        ] {
            for size in 1..=text.chars().count() {
                assert_eq!(read(text, size), (shown.to_owned(), Some(invention)), "{text} by {size}");
            }
        }
    }

    #[test]
    fn ordinary_replies_pass_unchanged() {
        for text in [
            "根据规定，搜索结果由算法排序。",
            "我会根据搜索结果，再回答。",
            "根据搜索结果排名的算法",
            "概率的取值范围是 [0, 1]，坐标 [3]。",
            "choose option [1] or [2]",
            "访问 arr[1]。",
            "用 `列表数据 [1]。` 表示",
            "```\n根据搜索结果，\n数据数据 [1].\n```",
            "{\"text\": \"数据数据 [1]。\"}",
            "[1] Smith, 2003.\n[2] Doe",
            "Search results are sorted.",
            "",
        ] {
            for size in 1..=text.chars().count().max(1) {
                assert_eq!(read(text, size), (text.to_owned(), None), "{text} by {size}");
            }
        }
    }
}
