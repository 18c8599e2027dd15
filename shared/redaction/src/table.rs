//! Several patterns in one table, which reads a byte in constant time: a text of many candidates must not take long.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

/// The deterministic automaton of at most 32 patterns, and its first state; one that cannot be compiled matches nothing.
pub(crate) struct Table(pub(crate) Option<(dense::DFA<Vec<u32>>, StateID)>);

impl Table {
    /// Compiles patterns in which white space and case have no meaning.
    pub(crate) fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        let patterns: Vec<String> = patterns.into_iter().map(|pattern| format!("(?xi){pattern}")).collect();
        let config = dense::Config::new().match_kind(MatchKind::All).start_kind(StartKind::Anchored).accelerate(false);
        let table = dense::Builder::new().configure(config).build_many(&patterns).ok();
        let start = |table: &dense::DFA<_>| table.start_state_forward(&Input::new("").anchored(Anchored::Yes)).ok();
        Self(table.and_then(|table| start(&table).map(|start| (table, start))))
    }

    /// Calls `found` with the end of each match that begins where the text does, in order, and with one bit for each
    /// pattern that matches: bit 0 is the first one.
    pub(crate) fn scan(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let Some((table, start)) = &self.0 else { return };
        let mut state = *start;
        for at in 0..=text.len() {
            #[cfg(test)]
            crate::tests::count_work(1);
            // A match is known one byte later.
            state = match text.get(at) {
                Some(byte) => table.next_state(state, *byte),
                None => table.next_eoi_state(state),
            };
            if !table.is_special_state(state) {
                continue;
            }
            if !table.is_match_state(state) {
                return;
            }
            let patterns = (0..table.match_len(state)).map(|index| table.match_pattern(state, index).as_usize());
            found(at, patterns.fold(0, |bits, pattern| bits | 1 << pattern));
        }
    }
}
