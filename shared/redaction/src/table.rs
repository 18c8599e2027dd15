//! Several patterns in one table, which reads a byte in constant time: a text of many candidates must not take long.
//!
//! The tables are files, so that neither a function nor its start pays for a compiler of patterns.

use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input};

/// The deterministic automaton of at most 32 patterns, and its first state; a faulty one matches nothing.
pub(crate) struct Table(pub(crate) Option<(dense::DFA<&'static [u32]>, StateID)>);

/// A file at an address that is a multiple of 4, as its automaton needs it.
#[repr(C, align(4))]
pub(crate) struct File<T: ?Sized>(T);

pub(crate) static EMAIL: &File<[u8]> = &File(*include_bytes!("table/email.dfa"));
pub(crate) static KEYWORDS: &File<[u8]> = &File(*include_bytes!("table/keywords.dfa"));
pub(crate) static IDS: &File<[u8]> = &File(*include_bytes!("table/ids.dfa"));
pub(crate) static CARDS: &File<[u8]> = &File(*include_bytes!("table/cards.dfa"));
pub(crate) static PHONES: &File<[u8]> = &File(*include_bytes!("table/phones.dfa"));

impl Table {
    /// Reads the file of a table, which the test `tables_are_those_of_the_patterns` writes.
    pub(crate) fn read(file: &'static File<[u8]>) -> Self {
        let table = dense::DFA::from_bytes(&file.0).ok().map(|(table, _)| table);
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

#[cfg(test)]
mod tests;
