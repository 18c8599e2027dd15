/// Characters that can start or end code, a formula, a citation or a line.
const SPECIAL: [char; 8] = ['[', '［', '【', '`', '~', '$', '\\', '\n'];

/// Where a text is in code or in a formula, by the rules of Markdown.
#[derive(Clone, Debug)]
pub(super) struct Markup {
    code: Option<Code>,
    formula: Option<Formula>,
    /// The last characters, if they are equal delimiters, and their number.
    run: Option<(char, usize)>,
    /// Whether only white space precedes the last character on its line.
    pub(super) run_starts_line: bool,
    /// The last character; a line break at the start of the text.
    pub(super) previous: char,
    is_line_blank: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// Between runs of so many backticks.
    Inline(usize),
    /// Between lines that start with at least so many of a character.
    Fenced(char, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Formula {
    Dollar,
    DoubleDollar,
    Parentheses,
    Brackets,
}

impl Default for Markup {
    fn default() -> Self {
        Self { code: None, formula: None, run: None, run_starts_line: false, previous: '\n', is_line_blank: true }
    }
}

impl Markup {
    /// Advances over a text if that is the same as over its last character.
    pub(super) fn try_skip(&mut self, text: &str) -> bool {
        if self.run.is_some() || self.previous == '\\' || text.contains(SPECIAL) {
            return false;
        }
        self.skip(text);
        true
    }

    /// Advances over a text without delimiters.
    pub(super) fn skip(&mut self, text: &str) {
        self.previous = text.chars().next_back().unwrap_or(self.previous);
        self.is_line_blank &= text.trim().is_empty();
    }

    /// Advances over a character; whether it is neither in code nor in a formula.
    pub(super) fn advance(&mut self, character: char) -> bool {
        self.end_run(character);
        match character {
            '`' | '~' | '$' if self.previous != '\\' || self.code.is_some() => self.extend_run(character),
            '\n' => self.end_line(),
            _ => self.escape(character),
        }
        if !matches!(character, '`' | '~' | '$') {
            self.run_starts_line = self.is_line_blank;
        }
        self.is_line_blank = character == '\n' || (self.is_line_blank && character.is_whitespace());
        // An escaped backslash escapes nothing.
        self.previous = if (character, self.previous) == ('\\', '\\') { ' ' } else { character };
        self.code.is_none() && self.formula.is_none()
    }

    fn extend_run(&mut self, character: char) {
        if self.run.is_none() {
            self.run_starts_line = self.is_line_blank;
        }
        let length = self.run.map_or(0, |(_, length)| length);
        self.run = Some((character, length + 1));
    }

    /// Interprets the run of delimiters that ends before `next`.
    fn end_run(&mut self, next: char) {
        let Some((delimiter, length)) = self.run.take_if(|(delimiter, _)| *delimiter != next) else { return };
        match delimiter {
            '$' if self.code.is_none() => self.dollars(length, next),
            '`' | '~' => self.code_delimiter(delimiter, length),
            _ => {}
        }
    }

    fn dollars(&mut self, length: usize, next: char) {
        let is_price = next.is_whitespace() || next.is_ascii_digit();
        self.formula = match self.formula {
            None if length >= 2 => Some(Formula::DoubleDollar),
            None if !is_price => Some(Formula::Dollar),
            Some(Formula::Dollar) => None,
            Some(Formula::DoubleDollar) if length >= 2 => None,
            formula => formula,
        };
    }

    fn code_delimiter(&mut self, delimiter: char, length: usize) {
        let is_fence = self.run_starts_line && length >= 3;
        self.code = match self.code {
            None if is_fence => Some(Code::Fenced(delimiter, length)),
            None if delimiter == '`' => Some(Code::Inline(length)),
            Some(Code::Inline(open)) if delimiter == '`' && open == length => None,
            Some(Code::Fenced(open, least)) if is_fence && open == delimiter && length >= least => None,
            code => code,
        };
    }

    /// A paragraph ends the formulas and the code within it.
    fn end_line(&mut self) {
        if self.is_line_blank {
            self.formula = None;
            self.code = self.code.filter(|code| !matches!(code, Code::Inline(1 | 2)));
        }
        self.formula = self.formula.filter(|formula| *formula != Formula::Dollar);
    }

    fn escape(&mut self, character: char) {
        if self.previous != '\\' || self.code.is_some() {
            return;
        }
        self.formula = match (self.formula, character) {
            (None, '(') => Some(Formula::Parentheses),
            (None, '[') => Some(Formula::Brackets),
            (Some(Formula::Parentheses), ')') | (Some(Formula::Brackets), ']') => None,
            (formula, _) => formula,
        };
    }
}
