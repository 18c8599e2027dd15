use super::fault::{Fault, SyntaxFault};
use super::functions;
use super::rational::Rational;

/// A token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Rational),
    Name(String),
    /// An operator, a parenthesis, or a comma between arguments.
    Sign(char),
}

/// Longest expression, in characters.
const MAX_LENGTH: usize = 1000;

/// Maximum nesting of parentheses; parsing them uses the stack.
const MAX_DEPTH: usize = 64;

/// Accepted characters in addition to letters and digits.
const SYMBOLS: &str = " +-*/^!%().,π";

/// Normalises an expression; the error is the reason why it is invalid.
pub(super) fn normalise(expression: &str) -> Result<String, SyntaxFault> {
    if expression.chars().count() > MAX_LENGTH {
        return Err(SyntaxFault::TooLong(MAX_LENGTH));
    }
    let plain = |c: char| match c {
        '×' | '⋅' | '·' => '*',
        '÷' => '/',
        '−' | '–' => '-',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c if c.is_whitespace() => ' ',
        c => c,
    };
    let text = expression.chars().map(plain).collect::<String>().replace("**", "^");
    let text = text.trim_end_matches(['=', '?', ' ']).trim();
    if text.is_empty() {
        return Err(SyntaxFault::Empty);
    }
    if let Some(odd) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || SYMBOLS.contains(*c))) {
        return Err(SyntaxFault::UnknownSymbol(odd));
    }
    check_parentheses(text)?;
    Ok(text.to_owned())
}

fn check_parentheses(text: &str) -> Result<(), SyntaxFault> {
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1).ok_or(SyntaxFault::UnbalancedParentheses)?,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(SyntaxFault::TooManyParentheses(MAX_DEPTH));
        }
    }
    if depth == 0 { Ok(()) } else { Err(SyntaxFault::UnbalancedParentheses) }
}

/// Splits a normalised expression into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { rest: text, tokens: Vec::new(), separates: Vec::new() };
    while let Some(next) = lexer.rest.chars().next() {
        lexer.token(next)?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    tokens: Vec<Token>,
    /// For each open parenthesis, whether commas in it separate arguments.
    separates: Vec<bool>,
}

impl<'a> Lexer<'a> {
    fn token(&mut self, next: char) -> Result<(), Fault> {
        match next {
            ' ' => self.rest = self.rest.trim_start_matches(' '),
            '0'..='9' | '.' => self.number()?,
            'a'..='z' | 'A'..='Z' | 'π' => self.name(),
            _ => self.sign(next)?,
        }
        Ok(())
    }

    fn sign(&mut self, sign: char) -> Result<(), Fault> {
        match sign {
            '(' => {
                let separates = matches!(self.tokens.last(), Some(Token::Name(name)) if functions::takes_several(name));
                self.separates.push(separates);
            }
            ')' => drop(self.separates.pop()),
            ',' if self.separates.last() != Some(&true) => return Err(stray_comma()),
            _ => {}
        }
        self.rest = self.rest.get(sign.len_utf8()..).unwrap_or_default();
        self.tokens.push(Token::Sign(sign));
        Ok(())
    }

    fn name(&mut self) {
        let letters = self.take_while(|c| c.is_ascii_alphabetic() || c == 'π');
        // The digits of `log10` and `log2`, but not those of a number after a name.
        let digits = ["10", "2"].into_iter().find(|digits| letters == "log" && self.rest.starts_with(digits));
        self.rest = self.rest.get(digits.map_or(0, str::len)..).unwrap_or_default();
        self.tokens.push(Token::Name(format!("{letters}{}", digits.unwrap_or_default())));
    }

    fn number(&mut self) -> Result<(), Fault> {
        for (prefix, base) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8), ("0O", 8)] {
            if let Some(rest) = self.rest.strip_prefix(prefix) {
                self.rest = rest;
                let digits = self.take_while(|c| c.is_ascii_alphanumeric());
                self.tokens.push(Token::Number(Rational::digits(digits, base)?));
                return Ok(());
            }
        }
        let mut digits = self.take_while(|c| c.is_ascii_digit()).to_owned();
        self.thousands(&mut digits)?;
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            digits = format!("{digits}.{}", self.take_while(|c| c.is_ascii_digit()));
        }
        if digits == "." || self.rest.starts_with('.') {
            return Err(SyntaxFault::BadNumber.into());
        }
        let exponent = self.exponent()?;
        self.tokens.push(Token::Number(Rational::decimal(&digits, exponent)?));
        Ok(())
    }

    /// Adds groups of three digits after commas, where a comma cannot separate arguments.
    fn thousands(&mut self, digits: &mut String) -> Result<(), Fault> {
        while self.separates.last() != Some(&true)
            && let Some(rest) = self.rest.strip_prefix(',')
        {
            let group = rest.get(..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
            let group = group.filter(|group| group.len() == 3 && !digits.is_empty()).ok_or_else(stray_comma)?;
            digits.push_str(group);
            self.rest = rest.get(3..).unwrap_or_default();
        }
        Ok(())
    }

    /// Parses the power of ten after a number: `e5`, `E-3`.
    fn exponent(&mut self) -> Result<i64, Fault> {
        let Some(rest) = self.rest.strip_prefix(['e', 'E']) else { return Ok(0) };
        let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(0);
        }
        let is_negative = rest.starts_with('-');
        self.rest = unsigned;
        let power: i64 = self.take_while(|c| c.is_ascii_digit()).parse().map_err(|_| Fault::TooLarge)?;
        Ok(if is_negative { -power } else { power })
    }

    fn take_while(&mut self, belongs: fn(char) -> bool) -> &'a str {
        let (taken, rest) = self.rest.split_at(self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}

fn stray_comma() -> Fault {
    SyntaxFault::StrayComma.into()
}
