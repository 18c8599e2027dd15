//! The text before a citation: whether the citation is a note on a claim, or could be data, code or a label.

/// Maximum length of the remembered end of a line, in bytes.
const MAX_TAIL_BYTES: usize = 128;

/// Minimum number of terms before a citation at the end of a line: code such as `return a [2]` has fewer.
const MIN_TERMS: usize = 3;

/// Terms that a number in brackets completes: `option [4]`, `see [4]`, `else [4]`.
const LABELS: &str = " and appendix are arr array article as at be by case cell chapter choice choose column else element \
    elements equation example fig figure footnote for from id if in index interval is item items key level line lines list \
    matrix no not note number of on option options or page pages per pick point print question range ref reference return \
    row rule section see select set source sources step steps table than to vector version with yield ";

/// Ends of texts that a number in brackets completes in Chinese: `步骤[3]`, `见[3]`.
const WIDE_LABELS: &str = "步骤 选项 方案 元素 下标 索引 编号 序号 数组 列表 集合 区间 范围 变量 参数 文献 参考 脚注 来源 公式 案例 选择 坐标 向量 矩阵 附录 问题 答案 \
    第 图 表 题 项 例 条 行 列 章 节 页 见 和 与 或 为 是 在 于 号";

/// Terms that begin a line of code, which in prose have a capital letter there.
const CODE_STARTS: &str = " async assert class const def del elif except for from function if import let raise return try var \
    while with yield ";

/// The text of a reply before a citation, without other citations.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The end of the current line.
    tail: String,
    has_letter: bool,
    terms: usize,
    data: Data,
    /// Whether there is a line before this one.
    has_line: bool,
}

/// How much of the text around looks like data or code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Data {
    #[default]
    None,
    Line,
    /// The lines up to a blank one.
    Block,
    /// The whole reply, because its first line does.
    Reply,
}

/// What ends directly before a citation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Sentence,
    /// A term of a script with spaces, as in code.
    Term,
    /// A text of another script, a number with `%`, or a closing bracket or quotation mark.
    Clause,
}

impl Context {
    /// The context in a reply whose beginning is not known: everything is kept.
    pub(super) fn unknown() -> Self {
        Self { data: Data::Reply, ..Self::default() }
    }

    pub(super) fn push(&mut self, text: &str) {
        for character in text.chars() {
            if character == '\n' {
                self.end_line();
            } else {
                self.add(character);
            }
        }
    }

    fn end_line(&mut self) {
        let is_blank = self.tail.trim().is_empty();
        if self.data == Data::Line || (self.data == Data::Block && is_blank) {
            self.data = Data::None;
        }
        self.has_line |= !is_blank;
        (self.has_letter, self.terms) = (false, 0);
        self.tail.clear();
    }

    fn add(&mut self, character: char) {
        let data = match self.data_before(character) {
            Data::Reply if self.has_line => Data::Block,
            data => data,
        };
        self.data = self.data.max(data);
        self.has_letter |= character.is_alphabetic();
        self.terms += usize::from(character.is_alphanumeric() && !self.tail.ends_with(char::is_alphanumeric));
        if self.tail.len() >= MAX_TAIL_BYTES {
            self.tail.drain(..self.tail.ceil_char_boundary(MAX_TAIL_BYTES / 2));
        }
        self.tail.push(character);
    }

    /// What the line so far with this next character shows: operators, cells, keys, or brackets and keywords at its start.
    fn data_before(&self, next: char) -> Data {
        let start = self.tail.trim_start();
        let is_data = match next {
            // Tables, quotations and headings are followed by prose.
            '|' | '>' => return Data::Block,
            '#' if start.is_empty() => return Data::Line,
            '=' | '{' | '}' | '<' => true,
            '\t' => !start.is_empty(),
            '[' | ']' | '"' | '\'' | '@' | '(' | '/' if start.is_empty() => true,
            ':' | '(' => is_key(start),
            // Only the first term of a line can be one, so the others cost no search.
            ' ' => self.terms == 1 && CODE_STARTS.contains(&format!(" {start} ")),
            _ => self.tail.strip_suffix(',').is_some_and(|before| {
                let is_number = before.ends_with(|last: char| last.is_ascii_digit()) && next.is_ascii_digit();
                !next.is_whitespace() && !is_number
            }),
        };
        if is_data { Data::Reply } else { Data::None }
    }

    /// Whether a citation can hardly be anything but a note. `has_space`: one space precedes it. `after` is what follows,
    /// empty at the end of the reply.
    pub(super) fn is_note(&self, has_space: bool, after: &str) -> bool {
        let Some(before) = self.before().filter(|_| self.data == Data::None && self.has_letter) else { return false };
        let mut following = after.chars();
        match (following.next(), following.next()) {
            (None | Some('\n'), _) => before != Before::Term || self.terms >= MIN_TERMS,
            (Some(' '), _) => before == Before::Sentence && !has_space,
            (Some('.' | ',' | ';' | '!' | '?'), next) => next.is_none_or(char::is_whitespace),
            (Some(next), _) => "。，；！？）”」』".contains(next),
        }
    }

    /// What ends directly before the citation; `None` if the number may belong to it.
    fn before(&self) -> Option<Before> {
        let text = self.tail.strip_suffix("**").unwrap_or(&self.tail);
        let last = text.chars().next_back()?;
        let previous = text.chars().rev().nth(1).unwrap_or(' ');
        match last {
            '。' | '！' | '？' => Some(Before::Sentence),
            '.' | '!' | '?' => previous.is_alphabetic().then_some(Before::Sentence),
            '%' | '％' => previous.is_numeric().then_some(Before::Clause),
            '”' | '」' | '』' | '》' | '）' => Some(Before::Clause),
            _ if !last.is_alphanumeric() => None,
            // Han, kana, hangul and full-width letters have code points from this one on.
            '\u{2E80}'.. => (!WIDE_LABELS.split(' ').any(|label| text.ends_with(label))).then_some(Before::Clause),
            _ => {
                let term = text.rsplit(|character: char| !character.is_alphanumeric() && character != '-').next()?;
                let is_label = term.chars().nth(1).is_none() || LABELS.contains(&format!(" {} ", term.to_lowercase()));
                (!is_label).then_some(Before::Term)
            }
        }
    }
}

/// Whether the start of a line is a key such as `name` in YAML or `print` in code. Prose begins with a capital letter.
fn is_key(start: &str) -> bool {
    let key = start.strip_prefix("- ").unwrap_or(start);
    key.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}
