//! Parses an expression and evaluates it at the same time; only the syntax in this module has a meaning.

use super::fault::{Fault, SyntaxFault};
use super::functions;
use super::lexer::Token;
use super::number::Number;
use super::work::Limit;

/// Maximum nesting of parentheses, exponents and functions without parentheses; parsing them uses the stack.
const MAX_DEPTH: usize = 100;

/// The value of an expression.
pub(super) fn value(tokens: Vec<Token>, limit: &Limit) -> Result<Number, Fault> {
    let mut parser = Parser { tokens, next: 0, depth: 0, limit, ends_in_power: false };
    let value = parser.sum()?;
    if parser.peek().is_some() { Err(SyntaxFault::Malformed.into()) } else { Ok(value) }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    /// The position of the next token.
    next: usize,
    depth: usize,
    limit: &'a Limit,
    /// Whether the last factor ended in an exponent: a directly following factor may belong to either.
    ends_in_power: bool,
}

/// A prefix of an operand.
enum Prefix {
    Minus,
    Function(String),
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Number, Fault> {
        let mut sum = self.product()?;
        loop {
            if self.accept('+') {
                let term = self.product()?;
                sum = self.add(&sum, &term)?;
            } else if self.accept('-') {
                let term = self.product()?.negate();
                sum = self.add(&sum, &term)?;
            } else {
                return Ok(sum);
            }
        }
    }

    fn add(&self, sum: &Number, term: &Number) -> Result<Number, Fault> {
        self.limit.spend(&[sum, term])?;
        sum.add(term)
    }

    fn product(&mut self) -> Result<Number, Fault> {
        let mut product = self.signed(false)?;
        loop {
            if self.accept('*') || self.accept_name("of") {
                let factor = self.signed(false)?;
                self.limit.spend(&[&product, &factor])?;
                product = product.multiply(&factor)?;
            } else if self.accept('/') {
                let divisor = self.signed(true)?;
                self.limit.spend_division(&[&product, &divisor])?;
                product = product.divide(&divisor)?;
            } else if self.accept_name("mod") {
                let divisor = self.signed(false)?;
                self.limit.spend_division(&[&product, &divisor])?;
                product = functions::modulo(&product, &divisor)?;
            } else {
                return Ok(product);
            }
        }
    }

    /// Parses an operand with its signs and with functions without parentheses.
    fn signed(&mut self, is_divisor: bool) -> Result<Number, Fault> {
        let mut prefixes = Vec::new();
        loop {
            if self.accept('-') {
                prefixes.push(Prefix::Minus);
            } else if let Some(name) = self.bare_function() {
                prefixes.push(Prefix::Function(name));
            } else if !self.accept('+') {
                break;
            }
        }
        let is_argument = prefixes.iter().any(|prefix| matches!(prefix, Prefix::Function(_)));
        let operand = self.juxtaposed(is_divisor || is_argument)?;
        prefixes.into_iter().rev().try_fold(operand, |operand, prefix| match prefix {
            Prefix::Minus => Ok(operand.negate()),
            Prefix::Function(name) => self.apply(&name, &[operand]),
        })
    }

    /// Parses factors without an operator between them: `2 pi`.
    fn juxtaposed(&mut self, is_ambiguous: bool) -> Result<Number, Fault> {
        let mut product = self.powered()?;
        while self.starts_factor() {
            if is_ambiguous || self.ends_in_power {
                return Err(SyntaxFault::AmbiguousProduct.into());
            }
            let factor = self.powered()?;
            self.limit.spend(&[&product, &factor])?;
            product = product.multiply(&factor)?;
        }
        Ok(product)
    }

    fn powered(&mut self) -> Result<Number, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxFault::TooComplex.into());
        }
        let mut base = self.primary()?;
        while matches!(self.sign_at(0), Some('!' | '%')) {
            base = self.apply_suffix(&base)?;
        }
        self.ends_in_power = self.accept('^');
        if self.ends_in_power {
            let exponent = self.exponent()?;
            base = self.raise(&base, &exponent)?;
            self.ends_in_power = true;
        }
        self.depth -= 1;
        Ok(base)
    }

    fn raise(&self, base: &Number, exponent: &Number) -> Result<Number, Fault> {
        let is_whole = matches!(exponent, Number::Exact(exponent) if exponent.is_integer());
        let spend = if is_whole { Limit::spend } else { Limit::spend_division };
        spend(self.limit, &[base])?;
        let power = base.power(exponent)?;
        self.limit.spend(&[&power])?;
        Ok(power)
    }

    fn exponent(&mut self) -> Result<Number, Fault> {
        let mut is_negative = false;
        while let Some(sign @ ('+' | '-')) = self.sign_at(0) {
            self.next += 1;
            is_negative ^= sign == '-';
        }
        let exponent = self.powered()?;
        Ok(if is_negative { exponent.negate() } else { exponent })
    }

    fn apply_suffix(&mut self, base: &Number) -> Result<Number, Fault> {
        if self.accept('!') {
            let factorial = functions::factorial(base)?;
            self.limit.spend(&[&factorial])?;
            return Ok(factorial);
        }
        self.next += 1;
        if self.starts_factor() || matches!(self.peek(), Some(Token::Number(_))) {
            return Err(SyntaxFault::PercentAsRemainder.into());
        }
        self.limit.spend_division(&[base])?;
        base.divide(&Number::Exact(100.into()))
    }

    fn primary(&mut self) -> Result<Number, Fault> {
        self.limit.check()?;
        match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.next += 1;
                Ok(Number::Exact(number))
            }
            Some(Token::Sign('(')) => {
                self.next += 1;
                let value = self.sum()?;
                self.close().map(|()| value)
            }
            Some(Token::Name(name)) => self.named(&name),
            Some(Token::Sign(_)) | None => Err(SyntaxFault::Incomplete.into()),
        }
    }

    fn named(&mut self, name: &str) -> Result<Number, Fault> {
        if let Some(name) = self.bare_function() {
            let argument = self.powered()?;
            return self.apply(&name, &[argument]);
        }
        self.next += 1;
        let small = name.to_lowercase();
        if self.sign_at(0) == Some('(') && functions::exists(&small) {
            let arguments = self.arguments()?;
            return self.apply(&small, &arguments);
        }
        match small.as_str() {
            "pi" | "π" => Ok(Number::Approximate(std::f64::consts::PI)),
            "e" => Ok(Number::Approximate(std::f64::consts::E)),
            _ => Err(unknown(name)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Number>, Fault> {
        self.next += 1;
        let mut arguments = Vec::new();
        if self.accept(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.sum()?);
            if !self.accept(',') {
                return self.close().map(|()| arguments);
            }
        }
    }

    fn apply(&self, name: &str, arguments: &[Number]) -> Result<Number, Fault> {
        let sizes: Vec<_> = arguments.iter().collect();
        let spend = if sizes.len() > 1 { Limit::spend_division } else { Limit::spend };
        spend(self.limit, &sizes)?;
        functions::call(name, arguments)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// Parses a function whose argument follows without parentheses.
    fn bare_function(&mut self) -> Option<String> {
        let name = self.name_at(0)?.to_lowercase();
        let takes_one = name == "log" || functions::exists(&name) && !functions::takes_several(&name);
        (takes_one && self.sign_at(1) != Some('(')).then(|| {
            self.next += 1;
            name
        })
    }

    fn starts_factor(&self) -> bool {
        self.sign_at(0) == Some('(') || self.name_at(0).is_some_and(|name| !matches!(name, "of" | "mod"))
    }

    fn name_at(&self, offset: usize) -> Option<&str> {
        let Some(Token::Name(name)) = self.tokens.get(self.next + offset) else { return None };
        Some(name)
    }

    fn sign_at(&self, offset: usize) -> Option<char> {
        let Some(Token::Sign(sign)) = self.tokens.get(self.next + offset) else { return None };
        Some(*sign)
    }

    fn accept(&mut self, sign: char) -> bool {
        let is_next = self.sign_at(0) == Some(sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn accept_name(&mut self, name: &str) -> bool {
        let is_next = self.name_at(0) == Some(name);
        self.next += usize::from(is_next);
        is_next
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.accept(')') { Ok(()) } else { Err(SyntaxFault::Malformed.into()) }
    }
}

fn unknown(name: &str) -> Fault {
    SyntaxFault::UnknownName(name.chars().take(30).collect()).into()
}
