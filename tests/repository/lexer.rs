//! A lexer for Rust and JavaScript. It separates identifiers and punctuation from comments, strings and regular expressions,
//! and never fails: what it cannot classify is punctuation.

/// The language of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Rust,
    JavaScript,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or a keyword, without the prefix of a raw identifier.
    Identifier,
    /// A comment of any kind, with its markers.
    Comment,
    /// A string, a character, a number, a regular expression, or the text of a template between its expressions.
    Literal,
    Lifetime,
    /// One character.
    Punctuation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'a str,
    /// The line on which it starts, counted from 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Identifier | TokenKind::Punctuation) && self.text == text
    }
}

/// Keywords of JavaScript after which a slash starts a regular expression.
const BEFORE_REGEX: [&str; 13] =
    ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield"];

/// All tokens of a source text, in order.
pub(crate) fn tokens(source: &str, syntax: Syntax) -> Vec<Token<'_>> {
    let mut lexer = Lexer { source, syntax, at: 0, line: 1, braces: 0, templates: Vec::new(), tokens: Vec::new() };
    if syntax == Syntax::JavaScript && source.starts_with("#!") {
        lexer.take(TokenKind::Comment, line_end(source));
    }
    while lexer.at < source.len() {
        lexer.step();
    }
    lexer.tokens
}

struct Lexer<'a> {
    source: &'a str,
    syntax: Syntax,
    at: usize,
    line: usize,
    /// How many braces are open.
    braces: usize,
    /// For each open template, how many braces were open before its current expression.
    templates: Vec<usize>,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn skip(&mut self, length: usize) {
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length;
    }

    fn take(&mut self, kind: TokenKind, length: usize) {
        self.tokens.push(Token { kind, text: &self.rest()[..length], line: self.line });
        self.skip(length);
    }

    fn step(&mut self) {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            self.skip(blank);
        } else if rest.starts_with("//") {
            self.take(TokenKind::Comment, line_end(rest));
        } else if rest.starts_with("/*") {
            self.take(TokenKind::Comment, block_comment(rest, self.syntax == Syntax::Rust));
        } else if let Some(length) = self.literal(rest) {
            self.take(TokenKind::Literal, length);
        } else if self.syntax == Syntax::JavaScript && rest.starts_with('`') {
            self.template(1);
        } else if self.syntax == Syntax::Rust && rest.starts_with('\'') {
            self.take(TokenKind::Lifetime, 1 + identifier(&rest[1..]));
        } else {
            self.identifier_or_punctuation(rest);
        }
    }

    fn identifier_or_punctuation(&mut self, rest: &str) {
        let raw = if self.syntax == Syntax::Rust && rest.starts_with("r#") { 2 } else { 0 };
        let length = identifier(&rest[raw..]);
        if length > 0 {
            self.skip(raw);
            self.take(TokenKind::Identifier, length);
            return;
        }
        self.take(TokenKind::Punctuation, rest.chars().next().map_or(1, char::len_utf8));
        match rest.as_bytes()[0] {
            b'{' => self.braces += 1,
            b'}' => {
                self.braces = self.braces.saturating_sub(1);
                if self.templates.last() == Some(&self.braces) {
                    self.templates.pop();
                    self.template(0);
                }
            }
            _ => {}
        }
    }

    /// Takes the text of a template up to its end or to its next expression; `skipped` bytes of it are the opening backtick.
    fn template(&mut self, skipped: usize) {
        let rest = self.rest();
        let mut at = skipped;
        while at < rest.len() {
            match rest.as_bytes()[at] {
                b'\\' => at += 1,
                b'`' => return self.take(TokenKind::Literal, at + 1),
                b'$' if rest[at..].starts_with("${") => {
                    self.take(TokenKind::Literal, at + 1);
                    self.templates.push(self.braces);
                    self.braces += 1;
                    return self.take(TokenKind::Punctuation, 1);
                }
                _ => {}
            }
            at += 1;
        }
        self.take(TokenKind::Literal, rest.len());
    }

    /// The length of the literal at the front, if there is one. Templates are not among them.
    fn literal(&self, rest: &str) -> Option<usize> {
        if rest.starts_with(|first: char| first.is_ascii_digit()) {
            return Some(number(rest));
        }
        match self.syntax {
            Syntax::Rust => rust_literal(rest),
            Syntax::JavaScript if rest.starts_with(['"', '\'']) => Some(quoted(rest)),
            Syntax::JavaScript if rest.starts_with('/') && self.may_start_regex() => regex(rest),
            Syntax::JavaScript => None,
        }
    }

    /// Whether a slash starts a regular expression: not after a value, where it divides.
    fn may_start_regex(&self) -> bool {
        let before = self.tokens.iter().rev().find(|token| token.kind != TokenKind::Comment);
        before.is_none_or(|token| match token.kind {
            TokenKind::Identifier => BEFORE_REGEX.contains(&token.text),
            TokenKind::Punctuation => ![")", "]"].contains(&token.text),
            _ => false,
        })
    }
}

fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn identifier(text: &str) -> usize {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return 0;
    }
    text.find(|letter: char| !part(letter)).unwrap_or(text.len())
}

fn number(text: &str) -> usize {
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = text.find(|letter: char| !part(letter)).unwrap_or(text.len());
    let fraction = text[end..].strip_prefix('.').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    fraction.map_or(end, |rest| end + 1 + number(rest))
}

fn block_comment(text: &str, nested: bool) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else if rest.starts_with(b"/*") && (nested || depth == 0) {
            depth += 1;
            at += 2;
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of a string or character with escapes, with its quotes.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == bytes[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn rust_literal(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| rest.trim_start_matches('#').starts_with('"') || is_character(rest))
    })?;
    let rest = &text[prefix.len()..];
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    if prefix.ends_with('r') {
        let closing = format!("\"{}", "#".repeat(hashes));
        let content = prefix.len() + hashes + 1;
        return Some(text.get(content..)?.find(&closing).map_or(text.len(), |at| content + at + closing.len()));
    }
    (hashes == 0).then(|| prefix.len() + quoted(rest))
}

/// Whether a character literal is at the front, and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next() == Some('\'') && letters.next().is_some_and(|first| first == '\\' || letters.next() == Some('\''))
}

/// The length of a regular expression with its flags, if it ends on its line.
fn regex(text: &str) -> Option<usize> {
    let (mut in_class, mut escaped) = (false, false);
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Some(at + 1 + identifier(&text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn texts(source: &str, syntax: Syntax, kind: TokenKind) -> Vec<&str> {
    tokens(source, syntax).into_iter().filter(|token| token.kind == kind).map(|token| token.text).collect()
}

#[test]
fn rust_identifiers_and_comments_are_separated_from_literals() {
    for (source, identifiers, comments) in [
        ("let a = b; // c", &["let", "a", "b"][..], &["// c"][..]),
        ("/// d\nfn e() {}", &["fn", "e"], &["/// d"]),
        ("a /* b /* c */ d */ e", &["a", "e"], &["/* b /* c */ d */"]),
        ("a /* b", &["a"], &["/* b"]),
        (r#"f("a \" // b", c)"#, &["f", "c"], &[]),
        (r##"f(r#"a " // b"#, c)"##, &["f", "c"], &[]),
        (r#"f(br"a\", c, b"d", c"e")"#, &["f", "c"], &[]),
        (r"f('a', '\'', b'\\', '/', c)", &["f", "c"], &[]),
        ("f::<'a>('b', &'c d)", &["f", "d"], &[]),
        ("r#type + r + b", &["type", "r", "b"], &[]),
        ("0..a + 1.5e3f64 + x.0.1 + 0xff_u8", &["a", "x"], &[]),
        ("größe // größer", &["größe"], &["// größer"]),
    ] {
        assert_eq!(texts(source, Syntax::Rust, TokenKind::Identifier), identifiers, "{source}");
        assert_eq!(texts(source, Syntax::Rust, TokenKind::Comment), comments, "{source}");
    }
}

#[test]
fn javascript_identifiers_and_comments_are_separated_from_literals() {
    for (source, identifiers, comments) in [
        ("#!/usr/bin/env node\na // b", &["a"][..], &["#!/usr/bin/env node", "// b"][..]),
        ("a /* b /* c */ d", &["a", "d"], &["/* b /* c */"]),
        (r#"f("a // b", 'c " d', e)"#, &["f", "e"], &[]),
        ("f(`a ${b} c ${{ d: `e ${g}` }} // h`, i) // j", &["f", "b", "d", "g", "i"], &["// j"]),
        (r"f(`\${a} \` b`, c)", &["f", "c"], &[]),
        (r#"a = /b[/"]\/ c/giu; d"#, &["a", "d"], &[]),
        ("a / b / c // d", &["a", "b", "c"], &["// d"]),
        ("return /a b/.test(c)", &["return", "test", "c"], &[]),
        ("(a) / b + c[0] / d", &["a", "b", "c", "d"], &[]),
        ("this.#a = $b", &["this", "a", "$b"], &[]),
    ] {
        assert_eq!(texts(source, Syntax::JavaScript, TokenKind::Identifier), identifiers, "{source}");
        assert_eq!(texts(source, Syntax::JavaScript, TokenKind::Comment), comments, "{source}");
    }
}

#[test]
fn tokens_carry_the_line_they_start_on() {
    let lines = |source, syntax| tokens(source, syntax).iter().map(|token| token.line).collect::<Vec<_>>();
    assert_eq!(lines("a\n/* b\n */ c \"d\ne\" f", Syntax::Rust), [1, 2, 3, 3, 4]);
    assert_eq!(lines("`a\n${\nb}\nc` d", Syntax::JavaScript), [1, 2, 3, 3, 3, 4]);
}
