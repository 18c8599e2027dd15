use super::lexer::Token;
use super::{functions, units};

/// Keywords between operands.
const KEYWORDS: [&str; 7] = ["to", "into", "as", "in", "of", "mod", "per"];

/// The tokens of an expression, and the position of the next one.
pub(super) struct TokenCursor {
    tokens: Vec<Token>,
    next: usize,
}

impl TokenCursor {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, next: 0 }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Parses a function whose argument follows without parentheses.
    pub(super) fn bare_function(&mut self) -> Option<String> {
        let name = self.name_at(0)?.to_lowercase();
        let is_bare = functions::exists(&name) && self.sign_at(1) != Some('(') && !functions::takes_several(&name);
        let is_log = name == "log" && self.sign_at(1) != Some('(');
        (is_bare || is_log).then(|| {
            self.next += 1;
            name
        })
    }

    pub(super) fn starts_factor(&self) -> bool {
        self.starts_unit()
            || self.sign_at(0) == Some('(')
            || self.name_at(0).is_some_and(|name| !KEYWORDS.contains(&name))
    }

    pub(super) fn starts_unit(&self) -> bool {
        let is_unit = |name: &str| units::find(name).is_some();
        match self.name_at(0) {
            // An inch, unless a unit follows: `5 in to cm`, `5 km in miles`.
            Some("in") => !self.name_at(1).is_some_and(is_unit),
            Some("min") => self.sign_at(1) != Some('('),
            Some(name) => is_unit(name) && !KEYWORDS.contains(&name),
            None => false,
        }
    }

    pub(super) fn name_at(&self, offset: usize) -> Option<&str> {
        let Some(Token::Name(name)) = self.tokens.get(self.next + offset) else { return None };
        Some(name)
    }

    pub(super) fn sign_at(&self, offset: usize) -> Option<char> {
        let Some(Token::Sign(sign)) = self.tokens.get(self.next + offset) else { return None };
        Some(*sign)
    }

    pub(super) fn accept(&mut self, sign: char) -> bool {
        let is_next = self.sign_at(0) == Some(sign);
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn accept_name(&mut self, name: &str) -> bool {
        let is_next = self.name_at(0) == Some(name);
        self.next += usize::from(is_next);
        is_next
    }
}
