const MAX_DEPTH: usize = 64;

/// The rest of a text that is parsed from its beginning.
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
    pub(super) depth: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest, depth: 0 }
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// The first byte after white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.rest.bytes().next()
    }

    /// Reads one of these ASCII bytes, with white space before it.
    pub(super) fn eat(&mut self, bytes: &[u8]) -> bool {
        let found = self.peek().is_some_and(|byte| bytes.contains(&byte));
        self.rest = &self.rest[usize::from(found)..];
        found
    }

    /// Reads up to the first character that is not part of it.
    pub(super) fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let (text, rest) = self.rest.split_at(self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        text
    }

    /// Reads items between two brackets, with an optional comma after each; only before the closing one it may be missing if
    /// commas are needed.
    pub(super) fn read_list<T>(
        &mut self,
        [open, close]: [&[u8]; 2],
        needs_commas: bool,
        item: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        if self.depth > MAX_DEPTH || !self.eat(open) {
            return None;
        }
        self.depth += 1;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(b",") && needs_commas && !self.peek().is_some_and(|byte| close.contains(&byte)) {
                return None;
            }
        }
        self.depth -= 1;
        Some(items)
    }
}
