/// Maximum number of characters after a call that are no call.
const MAX_CHARS: usize = 200;

/// The rest of a reply after its last call, for models whose calls are text.
///
/// The model has no result yet, so nothing but another call has any use there: the text is dropped. One sentence may
/// introduce the next call. The reply is over when a second one begins, or after [`MAX_CHARS`] characters other than
/// white space. (A made-up result ends it at once: `end_at_invention`.)
#[derive(Debug, Default)]
pub(super) struct AfterCall {
    chars: usize,
    has_sentence: bool,
    last: Option<char>,
}

impl AfterCall {
    /// Adds text that is no call; whether the rest of the reply has no use.
    pub(super) fn has_no_use_after(&mut self, text: &str) -> bool {
        text.chars().any(|next| self.ends_at(next))
    }

    fn ends_at(&mut self, next: char) -> bool {
        let last = self.last.replace(next);
        if next.is_whitespace() {
            self.has_sentence |= last == Some('.') || (next == '\n' && self.chars > 0);
            return false;
        }
        self.chars += 1;
        // Quotation marks and emphasis may still belong to the first sentence.
        if self.chars > MAX_CHARS || (self.has_sentence && next.is_alphanumeric()) {
            return true;
        }
        self.has_sentence |= matches!(next, '。' | '！' | '？' | '!' | '?');
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{AfterCall, MAX_CHARS};

    /// The text up to the character that ends the reply.
    fn read(text: &str) -> String {
        let mut rest = AfterCall::default();
        text.chars().take_while(|next| !rest.has_no_use_after(&next.to_string())).collect()
    }

    #[test]
    fn one_sentence_may_introduce_the_next_call() {
        for text in ["", "\n\n", "然后查询上海：", "**接下来查“上海”。**\n", "Next, version 3.5 of it. ", "}。"]
        {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn second_sentence_ends_the_reply() {
        assert_eq!(read("答案是 7。所以"), "答案是 7。");
        assert_eq!(read("I will search now. Please wait."), "I will search now. ");
        assert_eq!(read("搜索中\n\n结果"), "搜索中\n\n");
    }

    #[test]
    fn long_sentence_ends_the_reply() {
        assert_eq!(read(&"长 ".repeat(300)).chars().filter(|c| *c == '长').count(), MAX_CHARS);
    }
}
