use super::fault::Fault;
use super::functions;
use super::limit::Limit;
use super::number::Number;

#[derive(Clone, Debug)]
pub(super) enum Token {
    Number(Number),
    /// In small letters.
    Name(String),
    /// An operator, a parenthesis, or a comma between arguments.
    Sign(char),
}

/// Longest expression, in characters.
const MAX_LENGTH: usize = 1000;

/// Maximum nesting of parentheses; parsing them uses the stack.
const MAX_DEPTH: usize = 64;

pub(super) fn tokens(expression: &str, limit: &Limit) -> Result<Vec<Token>, Fault> {
    if expression.chars().count() > MAX_LENGTH {
        return Err(Fault::unreadable_with(|texts| texts.too_long, "limit", MAX_LENGTH));
    }
    let text = expression.chars().map(plain).collect::<String>().replace("**", "^");
    let text = text.trim_end_matches(['=', '?', ' ']).trim();
    if text.is_empty() {
        return Err(Fault::unreadable(|texts| texts.empty));
    }
    let mut lexer = Lexer { rest: text, tokens: Vec::new(), open: Vec::new(), limit };
    while let Some(next) = lexer.rest.chars().next() {
        match next {
            ' ' => lexer.rest = lexer.rest.trim_start(),
            '0'..='9' | '.' => lexer.number()?,
            'a'..='z' | 'π' => lexer.name(),
            _ => lexer.sign(next)?,
        }
    }
    if lexer.open.is_empty() { Ok(lexer.tokens) } else { Err(unbalanced()) }
}

/// The ASCII form of a character that people type or paste.
fn plain(c: char) -> char {
    match c {
        '×' | '⋅' | '·' => '*',
        '÷' => '/',
        '−' | '–' => '-',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c).to_ascii_lowercase(),
        c if c.is_whitespace() => ' ',
        c => c.to_ascii_lowercase(),
    }
}

struct Lexer<'a> {
    rest: &'a str,
    tokens: Vec<Token>,
    /// For each open parenthesis, whether commas in it separate arguments.
    open: Vec<bool>,
    limit: &'a Limit,
}

impl<'a> Lexer<'a> {
    fn sign(&mut self, sign: char) -> Result<(), Fault> {
        match sign {
            '(' if self.open.len() == MAX_DEPTH => {
                return Err(Fault::unreadable_with(|texts| texts.too_many_parentheses, "limit", MAX_DEPTH));
            }
            '(' => {
                let function = self.tokens.last();
                self.open.push(matches!(function, Some(Token::Name(name)) if functions::takes_several(name)));
            }
            ')' => drop(self.open.pop().ok_or_else(unbalanced)?),
            ',' if self.open.last() != Some(&true) => return Err(stray_comma()),
            '+' | '-' | '*' | '/' | '^' | '!' | '%' | ',' => {}
            _ => return Err(Fault::unreadable_with(|texts| texts.unknown_symbol, "symbol", sign)),
        }
        self.rest = self.rest.get(1..).unwrap_or_default();
        self.tokens.push(Token::Sign(sign));
        Ok(())
    }

    fn name(&mut self) {
        let mut name = self.take_while(|c| c.is_ascii_lowercase() || c == 'π').to_owned();
        // The digits of `log10` and `log2`, but not those of a number after a name.
        let digits = ["10", "2"].into_iter().find(|digits| name == "log" && self.rest.starts_with(digits));
        name.push_str(digits.unwrap_or_default());
        self.rest = self.rest.get(digits.map_or(0, str::len)..).unwrap_or_default();
        self.tokens.push(Token::Name(name));
    }

    fn number(&mut self) -> Result<(), Fault> {
        let prefixes = [("0x", 16), ("0b", 2), ("0o", 8)];
        let based = prefixes.iter().find_map(|(prefix, base)| Some((self.rest.strip_prefix(prefix)?, *base)));
        let number = if let Some((rest, base)) = based {
            self.rest = rest;
            Number::from_digits(self.take_while(|c| c.is_ascii_alphanumeric()), base)?
        } else {
            let digits = self.decimal()?;
            Number::from_decimal(&digits, self.exponent()?)?
        };
        self.limit.spend(&[&number])?;
        self.tokens.push(Token::Number(number));
        Ok(())
    }

    /// Parses digits with at most one point, and with groups of three after commas that cannot separate arguments.
    fn decimal(&mut self) -> Result<String, Fault> {
        let mut digits = self.digits().to_owned();
        while self.open.last() != Some(&true)
            && let Some(rest) = self.rest.strip_prefix(',')
        {
            self.rest = rest;
            let group = Some(self.digits()).filter(|group| group.len() == 3 && !digits.is_empty());
            digits.push_str(group.ok_or_else(stray_comma)?);
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            digits = format!("{digits}.{}", self.digits());
        }
        let is_number = digits != "." && !self.rest.starts_with('.');
        if is_number { Ok(digits) } else { Err(Fault::unreadable(|texts| texts.bad_number)) }
    }

    /// Parses the power of ten after a number: `e5`, `e-3`.
    fn exponent(&mut self) -> Result<i32, Fault> {
        let Some(rest) = self.rest.strip_prefix('e') else { return Ok(0) };
        let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(0);
        }
        self.rest = unsigned;
        let power: i32 = self.digits().parse().map_err(|_| Fault::TooLarge)?;
        Ok(if rest.starts_with('-') { -power } else { power })
    }

    fn digits(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_digit())
    }

    fn take_while(&mut self, belongs: fn(char) -> bool) -> &'a str {
        let (taken, rest) = self.rest.split_at(self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}

fn unbalanced() -> Fault {
    Fault::unreadable(|texts| texts.unbalanced)
}

fn stray_comma() -> Fault {
    Fault::unreadable(|texts| texts.stray_comma)
}
