use std::collections::HashMap;

/// Numbers the calls of a prompt, for wires in which ids must be unique and have a small character set. Ids of other
/// endpoints may not be: some number the calls of each response from zero. A prompt keeps its beginning from turn to turn,
/// so the numbers do, too.
#[derive(Debug, Default)]
pub(crate) struct CallNumbers<'a> {
    last: HashMap<&'a str, usize>,
    count: usize,
    /// Whether ids must have nine letters or digits: at Mistral, and vLLM with Mistral's tokenizer.
    // Source: https://github.com/anomalyco/opencode/issues/1680, 2026-11-25.
    short: bool,
}

impl<'a> CallNumbers<'a> {
    pub(crate) fn new(short: bool) -> Self {
        Self { short, ..Self::default() }
    }

    pub(crate) fn assign(&mut self, id: &'a str) -> String {
        self.count += 1;
        self.last.insert(id, self.count);
        self.format(self.count)
    }

    /// Returns the id that was assigned to the latest call of that id.
    pub(crate) fn of_result(&self, id: &str) -> String {
        self.format(self.last.get(id).copied().unwrap_or_default())
    }

    fn format(&self, number: usize) -> String {
        if self.short { format!("call{number:05}") } else { format!("call_{number}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ids_get_nine_letters_or_digits() {
        let mut ids = CallNumbers::new(true);
        let sent: Vec<_> =
            ["call_cclGbjTQkZDEnnHrRiU0n7NO", "toolu_01MKS", "D681PevKs", "call_1"].map(|id| ids.assign(id)).into();
        assert!(sent.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{sent:?}");
        assert!((1..4).all(|at| !sent[at..].contains(&sent[at - 1])), "{sent:?}");
        assert_eq!(ids.of_result("call_1"), sent[3]);
        assert_eq!(CallNumbers::default().assign("D681PevKs"), "call_1");
    }

    #[test]
    fn repeated_ids_get_different_numbers() {
        let mut ids = CallNumbers::new(true);
        let first = ids.assign("call_1");
        let second = ids.assign("call_1");
        assert!(first != second);
        assert_eq!(ids.of_result("call_1"), second, "a result belongs to the latest call");
    }
}
