//! JSON of a call: reads it, repairs it, and converts it to calls.

use std::ops::ControlFlow::{Break, Continue};
use std::ops::Range;

use serde_json::Value;

use super::body::{Body, BodyState};
use super::candidate::{Candidate, CandidateKind, CandidateStage, Certainty, Step, Verdict};
use super::tail::{end_before_next_call, has_json_signs};
use crate::declared_tools::DeclaredTools;
use crate::json::{JsonScan, ScanStep};
use crate::json_calls;
use crate::markers::{CLOSERS, Match, OPENERS};
use crate::repair::repair;
use crate::segment::{JsonFault, MalformedReason};

impl Candidate {
    /// Reads JSON or the text after it.
    pub(super) fn read_body(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        let CandidateStage::Body(body) = &mut self.stage else { return Continue(()) };
        match &mut body.state {
            BodyState::Json(scan) => {
                let step = scan.advance(text, self.at);
                self.apply_scan_step(step, text, declared)
            }
            BodyState::Tail => self.read_tail(text, declared),
            BodyState::Broken { end } => {
                let end = *end;
                self.read_broken_tail(text, end, declared)
            }
            BodyState::Unreadable { search: None, .. } => self.read_unreadable_tail(text),
            BodyState::Unreadable { search: Some(_), .. } => self.search_wrapper_end(text),
        }
    }

    /// Changes to another state.
    pub(super) fn set_state(&mut self, next: BodyState) -> Step {
        if let CandidateStage::Body(body) = &mut self.stage {
            body.state = next;
        }
        Continue(())
    }

    /// Where the JSON begins.
    pub(super) fn json_start(&self) -> usize {
        if let CandidateStage::Body(body) = &self.stage { body.from } else { 0 }
    }

    fn apply_scan_step(&mut self, step: ScanStep, text: &str, declared: &DeclaredTools) -> Step {
        let bare = self.is_bare();
        let body_from = self.json_start();
        let CandidateStage::Body(Body { state: BodyState::Json(scan), .. }) = &mut self.stage else {
            return Continue(());
        };
        match step {
            ScanStep::NeedMore(next) => {
                self.at = next;
                Break(Verdict::NeedMore)
            }
            ScanStep::EarlyCheck(next) => {
                self.at = next;
                if may_be_call(scan, declared) {
                    return Continue(());
                }
                match match_python(&text[body_from..]) {
                    Match::Full((), _) => Continue(()),
                    Match::Partial => {
                        // Too little to decide: read again from the beginning.
                        **scan = JsonScan::with_early_checks();
                        self.at = body_from;
                        Break(Verdict::NeedMore)
                    }
                    Match::None => Break(Verdict::Text),
                }
            }
            ScanStep::End(end) => {
                self.at = end;
                let value = scan.take();
                self.finish_value(value, text, declared)
            }
            ScanStep::Foreign(position) => {
                self.at = position;
                if bare {
                    return Break(Verdict::Text);
                }
                let rest = &text[position..];
                let opener = if scan.is_in_string() { Match::None } else { OPENERS.match_prefix(rest) };
                match (CLOSERS.match_prefix(rest), opener) {
                    (Match::Full(..), _) | (_, Match::Full(..)) => self.finish_at_marker(text, declared),
                    (Match::Partial, _) | (_, Match::Partial) => Break(Verdict::NeedMore),
                    (Match::None, Match::None) => {
                        self.at = scan.skip_foreign(position);
                        Continue(())
                    }
                }
            }
        }
    }

    /// Handles closed brackets; without a value, their content is not well-formed.
    fn finish_value(&mut self, value: Option<Value>, text: &str, declared: &DeclaredTools) -> Step {
        let from = self.json_start();
        match value {
            Some(value) => match self.accept(value, false, declared) {
                Ok(()) => self.set_state(BodyState::Tail),
                Err(reason) => self.reject(text, reason),
            },
            None if self.is_bare() => match self.repair_and_accept(&text[from..self.at], declared) {
                Ok(()) => self.set_state(BodyState::Tail),
                Err(_) => Break(Verdict::Text),
            },
            None => match end_before_next_call(&text[from..self.at]) {
                Some(cut) => {
                    // An open string ran into the next call.
                    self.at = from + cut;
                    self.mark_unreadable(MalformedReason::NotJson(JsonFault::OpenString), true)
                }
                None => self.set_state(BodyState::Broken { end: self.at }),
            },
        }
    }

    /// Handles a marker where JSON should continue.
    fn finish_at_marker(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        let CandidateStage::Body(Body { state: BodyState::Json(scan), from, .. }) = &mut self.stage else {
            return Continue(());
        };
        let (from, open) = (*from, scan.is_in_string() || scan.had_false_end());
        if open {
            // More than brackets may be missing: a repair would invent where a string ends.
            return self.mark_unreadable(MalformedReason::NotJson(JsonFault::OpenString), true);
        }
        match self.repair_and_accept(&text[from..self.at], declared) {
            Ok(()) => self.set_state(BodyState::Tail),
            Err(reason) => self.reject(text, reason),
        }
    }

    /// Accepts a value as calls; a repaired one only if its arguments are an object.
    fn accept(&mut self, value: Value, repaired: bool, declared: &DeclaredTools) -> Result<(), MalformedReason> {
        // A name alone may be data that the prose before it introduces.
        if self.kind == CandidateKind::InlineJson && !json_calls::has_arguments(&value, declared) {
            return Err(MalformedReason::NoName);
        }
        if self.is_bare() && json_calls::describes_tools(&value) {
            return Err(MalformedReason::UnknownFormat);
        }
        let has_only_known_fields = self.is_bare() && json_calls::has_only_known_fields(&value, declared);
        let (calls, fault) = json_calls::parse_readable_calls(value, self.name.as_deref(), declared)?;
        if repaired && !calls.iter().all(|call| call.arguments.is_object()) {
            return Err(MalformedReason::NotAnObject);
        }
        if let Some(reason) = fault {
            if self.is_bare() {
                return Err(reason);
            }
            self.record_fault(reason, self.json_start()..self.at);
        }
        if self.is_bare() && !calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) {
            return Err(MalformedReason::UnknownFormat);
        }
        if !has_only_known_fields || !calls.iter().all(|call| declared.fits(&call.name, &call.arguments)) {
            self.certainty = Certainty::Possible;
        }
        self.calls.extend(calls);
        self.calls_end = self.at;
        Ok(())
    }

    /// Repairs JSON and accepts it as calls. Of a list that cannot be repaired the readable items count.
    pub(super) fn repair_and_accept(&mut self, text: &str, declared: &DeclaredTools) -> Result<(), MalformedReason> {
        let Some(value) = repair(text) else {
            let unreadable = MalformedReason::NotJson(JsonFault::Unreadable);
            let items = if self.is_bare() || self.name.is_some() { None } else { readable_items(text) };
            let (items, fault) = items.ok_or(unreadable)?;
            self.accept(Value::Array(items), true, declared)?;
            if fault {
                self.record_fault(unreadable, self.json_start()..self.at);
            }
            return Ok(());
        };
        self.accept(value, true, declared)
    }

    /// Records that a call among readable ones is malformed; the first one counts.
    fn record_fault(&mut self, reason: MalformedReason, at: Range<usize>) {
        self.fault.get_or_insert((reason, at));
    }

    /// Rejects a value that is not a call.
    pub(super) fn reject(&mut self, text: &str, reason: MalformedReason) -> Step {
        // A placeholder such as {JSON} has neither a member nor a string: prose about calls.
        let content = &text[self.json_start()..self.at];
        let may_be_long = !self.begins_line();
        let placeholder =
            reason != MalformedReason::Empty && !self.is_control_token && is_placeholder(content, may_be_long);
        if self.is_bare() || placeholder {
            return Break(if self.calls.is_empty() { Verdict::Text } else { self.take_possible_calls(self.calls_end) });
        }
        if self.calls.is_empty() {
            return self.mark_unreadable(reason, false);
        }
        // Its end is known: more calls may follow it.
        self.record_fault(reason, self.json_start()..self.at);
        self.set_state(BodyState::Tail)
    }

    /// Handles an unreadable call whose end is unknown. After other calls of a wrapper only it is lost.
    pub(super) fn mark_unreadable(&mut self, reason: MalformedReason, search: bool) -> Step {
        if !self.calls.is_empty() {
            if self.is_bare() {
                return Break(self.take_possible_calls(self.calls_end));
            }
            self.record_fault(reason, self.json_start()..self.at);
        }
        let search = search.then_some(self.at);
        self.set_state(BodyState::Unreadable { reason, search })
    }
}

/// The readable items of a list, and whether there are others.
fn readable_items(text: &str) -> Option<(Vec<Value>, bool)> {
    let inside = text.trim().strip_prefix('[')?;
    let (mut items, mut fault, mut at) = (Vec::new(), false, 0);
    while let Some(found) = inside[at..].find('{') {
        let (start, mut scan) = (at + found, JsonScan::default());
        let mut position = start;
        let end = loop {
            match scan.advance(inside, position) {
                ScanStep::End(end) => break end,
                ScanStep::Foreign(foreign) => position = scan.skip_foreign(foreign),
                ScanStep::NeedMore(_) | ScanStep::EarlyCheck(_) => return Some((items, true)),
            }
        };
        let value = scan.take().or_else(|| repair(&inside[start..end]));
        fault |= value.is_none();
        items.extend(value);
        at = end;
    }
    Some((items, fault))
}

/// Whether a text in braces is no JSON, as in prose about calls: `{JSON}`, and has no blank unless it may be long.
fn is_placeholder(text: &str, may_be_long: bool) -> bool {
    !has_json_signs(text) && (may_be_long || !text.trim().contains(char::is_whitespace))
}

/// Maximum length of the brackets with which such a call begins, with white space, in bytes.
const MAX_OPENING_BYTES: usize = 64;

/// Matches the beginning of a call that is written as Python's dictionary: `[{'name'`.
fn match_python(text: &str) -> Match<()> {
    let opening = &text[..text.floor_char_boundary(MAX_OPENING_BYTES)];
    let begin = opening.len() - opening.trim_start_matches(['[', '{', ' ', '\n']).len();
    let Some(key) = text[begin..].strip_prefix('\'') else { return Match::None };
    match key.split_once('\'') {
        Some((key, _)) if json_calls::NAME_KEYS.contains(&key) => Match::Full((), begin + key.len() + 2),
        None if json_calls::NAME_KEYS.into_iter().any(|name| name.starts_with(key)) => Match::Partial,
        _ => Match::None,
    }
}

/// Whether the JSON read so far can still become a call to a declared tool.
fn may_be_call(scan: &JsonScan, declared: &DeclaredTools) -> bool {
    let Some(members) = scan.outer() else { return !scan.is_broken() };
    let names = || json_calls::NAME_KEYS.into_iter().filter_map(|key| Some((key, members.get(key)?.as_str()?)));
    if names().any(|(_, name)| declared.has(name)) {
        return true;
    }
    let is_action_key = |key: &str| json_calls::ACTION_KEYS.contains(&key);
    let possible = |key: &str| json_calls::is_call_key(key) || is_action_key(key) || declared.any_has_parameter(key);
    let [action, _] = json_calls::ACTION_KEYS;
    let other_action = members.get(action).and_then(Value::as_str).is_some_and(|name| !declared.has(name));
    if other_action && !declared.any_has_parameter(action) {
        return false;
    }
    !scan.is_broken()
        && scan.outer_key().is_none_or(possible)
        && names().all(|(key, _)| declared.any_has_parameter(key))
}
