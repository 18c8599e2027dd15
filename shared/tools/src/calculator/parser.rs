//! Parses an expression and evaluates it at the same time; only the syntax in this module has a meaning.
//!
//! The recursion is bounded: by the length of an expression for signs and for functions without parentheses, else by the
//! nesting of parentheses and of exponents.

use super::fault::Fault;
use super::functions;
use super::lexer::Token;
use super::limit::Limit;
use super::number::Number;

/// Maximum nesting of parentheses and exponents.
const MAX_DEPTH: usize = 100;

type Operation = fn(&Number, &Number) -> Result<Number, Fault>;

pub(super) fn value(tokens: Vec<Token>, limit: &Limit) -> Result<Number, Fault> {
    let mut parser = Parser { tokens, next: 0, depth: 0, limit, ends_in_power: false };
    let value = parser.sum()?;
    if parser.tokens.len() > parser.next { Err(malformed()) } else { Ok(value) }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    limit: &'a Limit,
    /// Whether the last factor ended in an exponent: a directly following factor may belong to either.
    ends_in_power: bool,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Number, Fault> {
        let mut sum = self.product()?;
        while let Some(sign) = self.accept_one_of("+-") {
            let term = self.product()?;
            sum = self.join(if sign == '+' { Number::add } else { Number::subtract }, &sum, &term)?;
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<Number, Fault> {
        let mut product = self.signed(false)?;
        loop {
            let (operation, is_divisor): (Operation, bool) = if self.accept('*') || self.accept_name("of") {
                (Number::multiply, false)
            } else if self.accept('/') {
                (Number::divide, true)
            } else if self.accept_name("mod") {
                (functions::modulo, false)
            } else {
                return Ok(product);
            };
            let factor = self.signed(is_divisor)?;
            product = self.join(operation, &product, &factor)?;
        }
    }

    /// Parses an operand with its signs and with functions without parentheses.
    fn signed(&mut self, is_ambiguous: bool) -> Result<Number, Fault> {
        if let Some(sign) = self.accept_one_of("+-") {
            self.signed(is_ambiguous).map(|operand| apply_sign(sign, operand))
        } else if let Some(name) = self.bare_function() {
            let argument = self.signed(true)?;
            self.apply(&name, &[argument])
        } else {
            self.juxtaposed(is_ambiguous)
        }
    }

    /// Parses factors without an operator between them: `2 pi`.
    fn juxtaposed(&mut self, is_ambiguous: bool) -> Result<Number, Fault> {
        let mut product = self.powered()?;
        while self.starts_factor() {
            if is_ambiguous || self.ends_in_power {
                return Err(Fault::unreadable(|texts| texts.ambiguous_product));
            }
            let factor = self.powered()?;
            product = self.join(Number::multiply, &product, &factor)?;
        }
        Ok(product)
    }

    fn powered(&mut self) -> Result<Number, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::unreadable(|texts| texts.too_complex));
        }
        let mut base = self.primary()?;
        loop {
            if self.accept('!') {
                base = self.apply("factorial", &[base])?;
            } else if self.accept('%') {
                if self.starts_factor() || matches!(self.peek(), Some(Token::Number(_))) {
                    return Err(Fault::unreadable(|texts| texts.percent_as_remainder));
                }
                base = self.join(Number::divide, &base, &Number::whole(100))?;
            } else {
                break;
            }
        }
        let is_power = self.accept('^');
        if is_power {
            let exponent = self.exponent()?;
            base = self.join(Number::power, &base, &exponent)?;
        }
        self.ends_in_power = is_power;
        self.depth -= 1;
        Ok(base)
    }

    fn exponent(&mut self) -> Result<Number, Fault> {
        match self.accept_one_of("+-") {
            Some(sign) => self.exponent().map(|exponent| apply_sign(sign, exponent)),
            None => self.powered(),
        }
    }

    fn primary(&mut self) -> Result<Number, Fault> {
        match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.next += 1;
                Ok(number)
            }
            Some(Token::Name(name)) => self.named(&name),
            _ if self.accept('(') => {
                let value = self.sum()?;
                self.close().map(|()| value)
            }
            _ => Err(Fault::unreadable(|texts| texts.incomplete)),
        }
    }

    fn named(&mut self, name: &str) -> Result<Number, Fault> {
        if let Some(name) = self.bare_function() {
            let argument = self.powered()?;
            return self.apply(&name, &[argument]);
        }
        self.next += 1;
        if functions::exists(name) && self.accept('(') {
            let arguments = self.arguments()?;
            return self.apply(name, &arguments);
        }
        match name {
            "pi" | "π" => Number::approximate(std::f64::consts::PI),
            "e" => Number::approximate(std::f64::consts::E),
            _ => Err(Fault::unreadable_with(
                |texts| texts.unknown_name,
                "name",
                name.split_at(name.floor_char_boundary(30)).0,
            )),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Number>, Fault> {
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

    fn join(&self, operation: Operation, one: &Number, other: &Number) -> Result<Number, Fault> {
        self.limit.spend(&[one, other])?;
        operation(one, other)
    }

    fn apply(&self, name: &str, arguments: &[Number]) -> Result<Number, Fault> {
        self.limit.spend(&arguments.iter().collect::<Vec<_>>())?;
        functions::call(name, arguments)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// Parses a function whose argument follows without parentheses.
    fn bare_function(&mut self) -> Option<String> {
        let Some(Token::Name(name)) = self.peek() else { return None };
        let takes_one = name == "log" || functions::exists(name) && !functions::takes_several(name);
        let is_bare = takes_one && !matches!(self.tokens.get(self.next + 1), Some(Token::Sign('(')));
        let name = is_bare.then(|| name.clone());
        self.next += usize::from(is_bare);
        name
    }

    fn starts_factor(&self) -> bool {
        match self.peek() {
            Some(Token::Sign(sign)) => *sign == '(',
            Some(Token::Name(name)) => !matches!(name.as_str(), "of" | "mod"),
            _ => false,
        }
    }

    fn accept(&mut self, sign: char) -> bool {
        self.accept_one_of(sign.encode_utf8(&mut [0; 4])).is_some()
    }

    fn accept_one_of(&mut self, signs: &str) -> Option<char> {
        let Some(Token::Sign(sign)) = self.peek() else { return None };
        let sign = Some(*sign).filter(|sign| signs.contains(*sign))?;
        self.next += 1;
        Some(sign)
    }

    fn accept_name(&mut self, name: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Name(next)) if next == name);
        self.next += usize::from(is_next);
        is_next
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.accept(')') { Ok(()) } else { Err(malformed()) }
    }
}

fn apply_sign(sign: char, operand: Number) -> Number {
    if sign == '-' { operand.negate() } else { operand }
}

fn malformed() -> Fault {
    Fault::unreadable(|texts| texts.malformed)
}
