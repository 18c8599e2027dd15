//! Parses an expression and evaluates it at the same time; only the syntax in this module has a meaning.

use super::cursor::TokenCursor;
use super::fault::{Fault, SyntaxFault};
use super::interval::Interval;
use super::lexer::Token;
use super::number::Number;
use super::quantity::{Factor, Quantity};
use super::work::Limit;
use super::{application, functions, units};

/// Maximum nesting of parentheses, exponents and functions without parentheses; parsing them uses the stack.
const MAX_DEPTH: usize = 100;

/// The value of an expression.
pub(super) fn value(tokens: Vec<Token>, limit: &Limit) -> Result<Quantity, Fault> {
    let mut parser = Parser { cursor: TokenCursor::new(tokens), depth: 0, limit, ends_in_power: false };
    let value = parser.conversion()?;
    if parser.cursor.peek().is_some() { Err(SyntaxFault::Malformed.into()) } else { Ok(value) }
}

struct Parser<'a> {
    cursor: TokenCursor,
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
    fn conversion(&mut self) -> Result<Quantity, Fault> {
        let mut value = self.sum()?;
        while matches!(self.cursor.name_at(0), Some("to" | "into" | "as" | "in")) {
            self.cursor.advance();
            let target = self.units()?;
            self.limit.spend_division(&[&value.number])?;
            value = value.convert(&target)?;
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<Quantity, Fault> {
        let mut sum = self.product()?;
        loop {
            if self.cursor.accept('+') {
                let term = self.product()?;
                sum = self.add(sum, &term)?;
            } else if self.cursor.accept('-') {
                let term = self.product()?.negate();
                sum = self.add(sum, &term)?;
            } else {
                return Ok(sum);
            }
        }
    }

    fn add(&self, sum: Quantity, term: &Quantity) -> Result<Quantity, Fault> {
        self.limit.spend(&[&sum.number, &term.number])?;
        sum.add(term)
    }

    fn product(&mut self) -> Result<Quantity, Fault> {
        let mut product = self.signed(false)?;
        loop {
            if self.cursor.accept('*') || self.cursor.accept_name("of") {
                let factor = self.signed(false)?;
                self.limit.spend(&[&product.number, &factor.number])?;
                product = product.multiply(&factor)?;
            } else if self.cursor.accept('/') || self.cursor.accept_name("per") {
                let divisor = self.signed(true)?;
                self.limit.spend_division(&[&product.number, &divisor.number])?;
                product = product.divide(&divisor)?;
            } else if self.cursor.accept_name("mod") {
                let divisor = self.signed(false)?.number_like(&product)?;
                self.limit.spend_division(&[&product.number, &divisor])?;
                product.number = functions::modulo(&product.number, &divisor)?;
            } else {
                return Ok(product);
            }
        }
    }

    /// Parses an operand with its signs and with functions without parentheses.
    fn signed(&mut self, is_divisor: bool) -> Result<Quantity, Fault> {
        let mut prefixes = Vec::new();
        loop {
            if self.cursor.accept('-') {
                prefixes.push(Prefix::Minus);
            } else if let Some(name) = self.cursor.bare_function() {
                prefixes.push(Prefix::Function(name));
            } else if !self.cursor.accept('+') {
                break;
            }
        }
        let is_argument = prefixes.iter().any(|prefix| matches!(prefix, Prefix::Function(_)));
        let operand = self.juxtaposed(is_divisor || is_argument)?;
        prefixes.into_iter().rev().try_fold(operand, |operand, prefix| match prefix {
            Prefix::Minus => Ok(operand.negate()),
            Prefix::Function(name) => application::apply(&name, &[operand], self.limit),
        })
    }

    /// Parses factors without an operator between them: a number with its units, or `2 pi`.
    fn juxtaposed(&mut self, only_units: bool) -> Result<Quantity, Fault> {
        let mut product = self.powered()?;
        while self.cursor.starts_factor() {
            if !self.cursor.starts_unit() && (only_units || self.ends_in_power || self.cursor.name_at(0) == Some("min"))
            {
                return Err(SyntaxFault::AmbiguousProduct.into());
            }
            let factor = self.powered()?;
            self.limit.spend(&[&product.number, &factor.number])?;
            product = product.multiply(&factor)?;
        }
        Ok(product)
    }

    fn powered(&mut self) -> Result<Quantity, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxFault::TooComplex.into());
        }
        let mut base = self.primary()?;
        while matches!(self.cursor.sign_at(0), Some('!' | '%')) {
            base = self.apply_suffix(base)?;
        }
        self.ends_in_power = self.cursor.accept('^');
        if self.ends_in_power {
            let exponent = self.exponent()?;
            base = self.raise(base, &exponent)?;
            self.ends_in_power = true;
        }
        self.depth -= 1;
        Ok(base)
    }

    fn raise(&self, base: Quantity, exponent: &Quantity) -> Result<Quantity, Fault> {
        let is_whole = matches!(&exponent.number, Number::Exact(exponent) if exponent.is_integer());
        let spend = if is_whole { Limit::spend } else { Limit::spend_division };
        spend(self.limit, &[&base.number])?;
        let power = base.power(exponent)?;
        self.limit.spend(&[&power.number])?;
        Ok(power)
    }

    fn exponent(&mut self) -> Result<Quantity, Fault> {
        let mut is_negative = false;
        while let Some(sign @ ('+' | '-')) = self.cursor.sign_at(0) {
            self.cursor.advance();
            is_negative ^= sign == '-';
        }
        let exponent = self.powered()?;
        Ok(if is_negative { exponent.negate() } else { exponent })
    }

    fn apply_suffix(&mut self, base: Quantity) -> Result<Quantity, Fault> {
        if self.cursor.accept('!') {
            let factorial = functions::factorial(&base.plain()?)?;
            self.limit.spend(&[&factorial])?;
            return Ok(factorial.into());
        }
        self.cursor.advance();
        if self.cursor.starts_factor() || matches!(self.cursor.peek(), Some(Token::Number(_))) {
            return Err(SyntaxFault::PercentAsRemainder.into());
        }
        self.limit.spend_division(&[&base.number])?;
        base.divide(&Number::Exact(100.into()).into())
    }

    fn primary(&mut self) -> Result<Quantity, Fault> {
        self.limit.check()?;
        match self.cursor.peek().cloned() {
            Some(Token::Number(number)) => {
                self.cursor.advance();
                Ok(Number::Exact(number).into())
            }
            Some(Token::Sign('(')) => {
                self.cursor.advance();
                let value = self.conversion()?;
                self.close().map(|()| value)
            }
            Some(Token::Name(name)) => self.named(&name),
            Some(Token::Sign(_)) | None => Err(SyntaxFault::Incomplete.into()),
        }
    }

    fn named(&mut self, name: &str) -> Result<Quantity, Fault> {
        if let Some(name) = self.cursor.bare_function() {
            let argument = self.powered()?;
            return application::apply(&name, &[argument], self.limit);
        }
        self.cursor.advance();
        let small = name.to_lowercase();
        if self.cursor.sign_at(0) == Some('(') && functions::exists(&small) {
            let arguments = self.arguments()?;
            return application::apply(&small, &arguments, self.limit);
        }
        match small.as_str() {
            "pi" | "π" => Ok(Number::Pi(1.into()).into()),
            "e" => Ok(Number::Approximate(Interval::E).into()),
            _ => units::find(name).map(|unit| Quantity::of(unit, name)).ok_or_else(|| unknown(name)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Quantity>, Fault> {
        self.cursor.advance();
        let mut arguments = Vec::new();
        if self.cursor.accept(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.conversion()?);
            if !self.cursor.accept(',') {
                return self.close().map(|()| arguments);
            }
        }
    }

    /// Parses the units after `to`.
    fn units(&mut self) -> Result<Vec<Factor>, Fault> {
        let mut units = self.powered_unit()?;
        loop {
            let is_divisor = self.cursor.accept('/') || self.cursor.accept_name("per");
            if !is_divisor && !self.cursor.accept('*') && !self.cursor.starts_unit() {
                return if units.number == Number::Exact(1.into()) {
                    Ok(units.units)
                } else {
                    Err(SyntaxFault::RepeatedUnit.into())
                };
            }
            let unit = self.powered_unit()?;
            units = if is_divisor { units.divide(&unit)? } else { units.multiply(&unit)? };
        }
    }

    fn powered_unit(&mut self) -> Result<Quantity, Fault> {
        if !self.cursor.starts_unit() {
            return Err(self.cursor.name_at(0).map_or_else(|| SyntaxFault::NoUnit.into(), unknown));
        }
        self.powered()
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.cursor.accept(')') { Ok(()) } else { Err(SyntaxFault::Malformed.into()) }
    }
}

fn unknown(name: &str) -> Fault {
    SyntaxFault::UnknownName(name.chars().take(30).collect()).into()
}
