//! Parses an expression and evaluates it at the same time; only the syntax in this module has a meaning.

use super::evaluate::Fault;
use super::functions;
use super::interval::Interval;
use super::lexer::Token;
use super::number::Number;
use super::quantity::{Factor, Quantity};
use super::units;
use super::work::Limit;

/// Maximum nesting of parentheses, exponents and functions without parentheses; parsing them uses the stack.
const MAX_DEPTH: usize = 100;

/// Keywords between operands.
const KEYWORDS: [&str; 7] = ["to", "into", "as", "in", "of", "mod", "per"];

/// The value of an expression.
pub(super) fn value(tokens: Vec<Token>, limit: &Limit) -> Result<Quantity, Fault> {
    let mut parser = Parser { tokens, next: 0, depth: 0, limit, ends_in_power: false };
    let value = parser.conversion()?;
    if parser.next < parser.tokens.len() { Err(unreadable("算式写得不对")) } else { Ok(value) }
}

struct Parser<'a> {
    tokens: Vec<Token>,
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
    fn conversion(&mut self) -> Result<Quantity, Fault> {
        let mut value = self.sum()?;
        while matches!(self.name_at(0), Some("to" | "into" | "as" | "in")) {
            self.next += 1;
            let target = self.units()?;
            self.limit.spend_division(&[&value.number])?;
            value = value.convert(&target)?;
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<Quantity, Fault> {
        let mut sum = self.product()?;
        loop {
            if self.accept('+') {
                let term = self.product()?;
                sum = self.add(sum, &term)?;
            } else if self.accept('-') {
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
            if self.accept('*') || self.accept_name("of") {
                let factor = self.signed(false)?;
                self.limit.spend(&[&product.number, &factor.number])?;
                product = product.multiply(&factor)?;
            } else if self.accept('/') || self.accept_name("per") {
                let divisor = self.signed(true)?;
                self.limit.spend_division(&[&product.number, &divisor.number])?;
                product = product.divide(&divisor)?;
            } else if self.accept_name("mod") {
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
            Prefix::Function(name) => self.call(&name, &[operand]),
        })
    }

    /// Parses factors without an operator between them: a number with its units, or `2 pi`.
    fn juxtaposed(&mut self, only_units: bool) -> Result<Quantity, Fault> {
        let mut product = self.powered()?;
        while self.starts_factor() {
            if !self.starts_unit() && (only_units || self.ends_in_power || self.name_at(0) == Some("min")) {
                return Err(unreadable("省略乘号的写法在这里有歧义，请写出 * 和括号"));
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
            return Err(unreadable("算式太复杂"));
        }
        let mut base = self.primary()?;
        while matches!(self.sign_at(0), Some('!' | '%')) {
            base = self.apply_suffix(base)?;
        }
        self.ends_in_power = self.accept('^');
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
        while let Some(sign @ ('+' | '-')) = self.sign_at(0) {
            self.next += 1;
            is_negative ^= sign == '-';
        }
        let exponent = self.powered()?;
        Ok(if is_negative { exponent.negate() } else { exponent })
    }

    fn apply_suffix(&mut self, base: Quantity) -> Result<Quantity, Fault> {
        if self.accept('!') {
            let factorial = functions::factorial(&base.plain()?)?;
            self.limit.spend(&[&factorial])?;
            return Ok(factorial.into());
        }
        self.next += 1;
        if self.starts_factor() || matches!(self.tokens.get(self.next), Some(Token::Number(_))) {
            return Err(unreadable("% 是百分号，求余数请写 mod(a, b)"));
        }
        self.limit.spend_division(&[&base.number])?;
        base.divide(&Number::Exact(100.into()).into())
    }

    fn primary(&mut self) -> Result<Quantity, Fault> {
        self.limit.check()?;
        match self.tokens.get(self.next).cloned() {
            Some(Token::Number(number)) => {
                self.next += 1;
                Ok(Number::Exact(number).into())
            }
            Some(Token::Sign('(')) => {
                self.next += 1;
                let value = self.conversion()?;
                self.close().map(|()| value)
            }
            Some(Token::Name(name)) => self.named(&name),
            Some(Token::Sign(_)) | None => Err(unreadable("算式不完整")),
        }
    }

    fn named(&mut self, name: &str) -> Result<Quantity, Fault> {
        if let Some(name) = self.bare_function() {
            let argument = self.powered()?;
            return self.call(&name, &[argument]);
        }
        self.next += 1;
        let small = name.to_lowercase();
        if self.sign_at(0) == Some('(') && functions::exists(&small) {
            let arguments = self.arguments()?;
            return self.call(&small, &arguments);
        }
        match small.as_str() {
            "pi" | "π" => Ok(Number::Pi(1.into()).into()),
            "e" => Ok(Number::Approximate(Interval::E).into()),
            _ => units::find(name).map(|unit| Quantity::of(unit, name)).ok_or_else(|| unknown(name)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Quantity>, Fault> {
        self.next += 1;
        let mut arguments = Vec::new();
        if self.accept(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.conversion()?);
            if !self.accept(',') {
                return self.close().map(|()| arguments);
            }
        }
    }

    fn call(&self, name: &str, arguments: &[Quantity]) -> Result<Quantity, Fault> {
        let sizes: Vec<_> = arguments.iter().map(|argument| &argument.number).collect();
        let spend = if sizes.len() > 1 { Limit::spend_division } else { Limit::spend };
        spend(self.limit, &sizes)?;
        let with_unit = arguments.first().filter(|first| functions::keeps_unit(name) && !first.units.is_empty());
        let Some(first) = with_unit else {
            let numbers = arguments.iter().map(Quantity::plain).collect::<Result<Vec<_>, _>>()?;
            return Ok(functions::call(name, &numbers)?.into());
        };
        let is_count = |at: usize| name == "round" && at > 0;
        let number = |(at, quantity): (usize, &Quantity)| {
            if is_count(at) { quantity.plain() } else { quantity.number_like(first) }
        };
        let numbers = arguments.iter().enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(Quantity { number: functions::call(name, &numbers)?, units: first.units.clone() })
    }

    /// Parses the units after `to`.
    fn units(&mut self) -> Result<Vec<Factor>, Fault> {
        let mut units = self.powered_unit()?;
        loop {
            let is_divisor = self.accept('/') || self.accept_name("per");
            if !is_divisor && !self.accept('*') && !self.starts_unit() {
                return if units.number == Number::Exact(1.into()) {
                    Ok(units.units)
                } else {
                    Err(unreadable("换算的目标单位重复了"))
                };
            }
            let unit = self.powered_unit()?;
            units = if is_divisor { units.divide(&unit)? } else { units.multiply(&unit)? };
        }
    }

    fn powered_unit(&mut self) -> Result<Quantity, Fault> {
        if !self.starts_unit() {
            return Err(self.name_at(0).map_or_else(|| unreadable("换算的目标不是单位"), unknown));
        }
        self.powered()
    }

    /// Parses a function whose argument follows without parentheses.
    fn bare_function(&mut self) -> Option<String> {
        let name = self.name_at(0)?.to_lowercase();
        let is_bare = functions::exists(&name) && self.sign_at(1) != Some('(') && !functions::takes_several(&name);
        let is_log = name == "log" && self.sign_at(1) != Some('(');
        (is_bare || is_log).then(|| {
            self.next += 1;
            name
        })
    }

    fn starts_factor(&self) -> bool {
        self.starts_unit()
            || self.sign_at(0) == Some('(')
            || self.name_at(0).is_some_and(|name| !KEYWORDS.contains(&name))
    }

    fn starts_unit(&self) -> bool {
        let is_unit = |name: &str| units::find(name).is_some();
        match self.name_at(0) {
            // An inch, unless a unit follows: `5 in to cm`, `5 km in miles`.
            Some("in") => !self.name_at(1).is_some_and(is_unit),
            Some("min") => self.sign_at(1) != Some('('),
            Some(name) => is_unit(name) && !KEYWORDS.contains(&name),
            None => false,
        }
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
        if self.accept(')') { Ok(()) } else { Err(unreadable("算式写得不对")) }
    }
}

fn unreadable(reason: &str) -> Fault {
    Fault::Unreadable(reason.to_owned())
}

fn unknown(name: &str) -> Fault {
    let shown: String = name.chars().take(30).collect();
    Fault::Unreadable(format!("不认识 {shown}"))
}
