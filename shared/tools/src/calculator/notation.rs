//! Normalises expressions of people and models to the notation of the lexer.

use super::fault::SyntaxFault;

/// Longest expression, in characters.
const MAX_LENGTH: usize = 1000;

/// Maximum nesting of parentheses; parsing them uses the stack.
const MAX_DEPTH: usize = 64;

/// Accepted characters in addition to letters and digits.
const SYMBOLS: &str = " +-*/^!%().,°π";

/// Normalises an expression; the error is the reason why it is invalid.
pub(super) fn plain(expression: &str) -> Result<String, SyntaxFault> {
    if expression.chars().count() > MAX_LENGTH {
        return Err(SyntaxFault::TooLong(MAX_LENGTH));
    }
    let text = normalise(expression);
    let text = text.trim_end_matches(['=', '?', ' ']).trim();
    if text.is_empty() {
        return Err(SyntaxFault::Empty);
    }
    // Other characters could define and repeat things; no calculation needs them.
    if let Some(odd) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || SYMBOLS.contains(*c))) {
        return Err(SyntaxFault::UnknownSymbol(odd));
    }
    balanced(text)?;
    Ok(text.to_owned())
}

/// Replaces full-width characters, superscripts, and the operators of typography and programming languages by plain
/// ones.
fn normalise(expression: &str) -> String {
    let mut text = String::with_capacity(expression.len());
    let mut raised = false;
    for c in expression.chars() {
        let power = superscript(c);
        match (power, half_width(c)) {
            (Some(digit), _) => {
                if !raised {
                    text.push('^');
                }
                text.push(digit);
            }
            (None, '×' | '✕' | '⋅' | '·' | '∗') => text.push('*'),
            (None, '÷' | '∕') => text.push('/'),
            (None, '−' | '–' | '—') => text.push('-'),
            (None, '√') => text.push_str(" sqrt "),
            (None, '[' | '{') => text.push('('),
            (None, ']' | '}') => text.push(')'),
            (None, c) if c.is_whitespace() => text.push(' '),
            (None, c) => text.push(c),
        }
        raised = power.is_some();
    }
    text.replace("**", "^")
}

fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

fn superscript(c: char) -> Option<char> {
    let digit = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|raised| raised == c)?;
    char::from_digit(u32::try_from(digit).ok()?, 10)
}

fn balanced(text: &str) -> Result<(), SyntaxFault> {
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
