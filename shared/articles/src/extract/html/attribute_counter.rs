/// Counts the attributes of a tag, from its `<`.
///
/// Source: HTML standard, 13.2.5 "Tokenization", from the tag name state on, as of November 2026.
#[derive(Debug, Default)]
pub(super) struct AttributeCounter {
    state: State,
    /// How many attributes have begun.
    pub(super) count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Open,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

impl AttributeCounter {
    /// Reads the next part of the tag; returns whether the tag ends in it.
    pub(super) fn push(&mut self, text: &str) -> bool {
        text.bytes().any(|byte| self.push_byte(byte))
    }

    fn push_byte(&mut self, byte: u8) -> bool {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C');
        let state = match (self.state, byte) {
            (State::Quoted(quote), _) if byte == quote => State::BeforeName,
            (quoted @ State::Quoted(_), _) => quoted,
            (_, b'>') => return true,
            (State::Open, b'<' | b'/') => State::Open,
            (State::Open, _) => State::TagName,
            (State::TagName | State::Unquoted, _) if is_space => State::BeforeName,
            (State::TagName | State::BeforeName | State::Name | State::AfterName, b'/') => State::BeforeName,
            (State::Name | State::AfterName, _) if is_space => State::AfterName,
            (State::Name | State::AfterName, b'=') => State::BeforeValue,
            (State::BeforeValue, b'"' | b'\'') => State::Quoted(byte),
            (State::BeforeValue, _) if !is_space => State::Unquoted,
            (State::BeforeName, _) if is_space => State::BeforeName,
            (State::BeforeName | State::AfterName, _) => {
                self.count += 1;
                State::Name
            }
            (same, _) => same,
        };
        self.state = state;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_as_browsers_do() {
        for (tag, count, ends) in [
            ("<a>", 0, true),
            ("</a b>", 1, true),
            ("<a b c=d e='f g' h=\"i j\">", 4, true),
            ("<a/b/c/d", 3, false),
            ("<a b = c d =e f= g h", 4, false),
            ("<a b='c'd=\"e\"f", 3, false),
            ("<a ='x y z'", 3, false),
            ("<a b=c/d e", 2, false),
            ("<a b='<c d>' e", 2, false),
            ("<a b=\"c' d", 1, false),
            ("<a b\n\t\x0Cc", 2, false),
        ] {
            let mut counter = AttributeCounter::default();
            assert_eq!((counter.push(tag), counter.count), (ends, count), "{tag}");
        }
    }
}
