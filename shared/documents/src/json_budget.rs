use serde_json::Value;

/// Bytes that the fields around the entries of a result take.
const FRAME_BYTES: usize = 400;

/// Limits the entries of a result, so that its JSON is never cut in the middle.
pub(crate) struct JsonBudget {
    remaining: usize,
}

impl JsonBudget {
    /// The budget of a result of at most this many bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { remaining: max_bytes.saturating_sub(FRAME_BYTES) }
    }

    /// Takes what an entry needs as escaped JSON; false if it does not fit. Nothing fits after that.
    pub(crate) fn take(&mut self, entry: &Value) -> bool {
        let bytes = tool_calls::escape(&entry.to_string()).len() + 1;
        let remaining = self.remaining.checked_sub(bytes);
        self.remaining = remaining.unwrap_or(0);
        remaining.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_count_as_escaped_json() {
        let mut budget = JsonBudget::new(FRAME_BYTES + 14);
        assert!(
            budget.take(&"abc".into()) && !budget.take(&"<<".into()),
            "two brackets take ten bytes with their quotes"
        );
        assert!(!budget.take(&"".into()), "nothing fits after the first that does not");
    }
}
