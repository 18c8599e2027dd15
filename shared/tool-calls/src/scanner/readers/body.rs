//! JSON of a call: reads it, repairs it, and converts it to calls.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::Value;

use super::json_text::{end_before_next_call, is_placeholder, match_python, readable_items};
use crate::declared_tools::DeclaredTools;
use crate::json::{JsonScan, ScanStep};
use crate::json_calls;
use crate::markers::{CLOSERS, Match, OPENERS};
use crate::repair::repair;
use crate::scanner::candidate::{Candidate, CandidateKind, Certainty, Progress, Reader, Step, Verdict};
use crate::segment::{JsonFault, MalformedReason};

pub(super) struct Body {
    pub(super) state: BodyState,
    pub(super) from: usize,
    /// Whether a code fence inside of the wrapper is open.
    pub(super) fenced: bool,
    /// How calls written as Python are read, if such calls precede; more may follow, a line each.
    pub(super) python: Option<BeginPython>,
}

/// Creates the reader of calls written as Python that begin at a position.
type BeginPython = fn(usize) -> Box<dyn Reader>;

pub(super) enum BodyState {
    Json(JsonScan),
    /// After complete JSON.
    Tail,
    /// After JSON that needs repair, which ends at `end` unless it had a false end of a string.
    Broken {
        end: usize,
    },
    /// After unreadable content, for this reason; the wrapper's end may have to be searched.
    Unreadable {
        reason: MalformedReason,
        search: bool,
    },
}

impl Reader for Body {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        match &mut self.state {
            BodyState::Json(scan) => {
                let step = scan.advance(text, candidate.at);
                self.apply_scan_step(step, candidate, text, declared)
            }
            BodyState::Tail => self.read_tail(candidate, text, declared),
            BodyState::Broken { end } => {
                let end = *end;
                self.read_broken_tail(candidate, text, end, declared)
            }
            BodyState::Unreadable { reason, search: false } => {
                let reason = *reason;
                self.read_unreadable_tail(candidate, text, reason)
            }
            BodyState::Unreadable { search: true, .. } => self.search_wrapper_end(candidate, text),
        }
    }

    fn finish(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Verdict {
        self.finish_body(candidate, text, declared)
    }

    fn progress(&self) -> Progress {
        match &self.state {
            BodyState::Json(scan) if scan.broken => Progress::Content,
            BodyState::Json(scan) if scan.is_in_string() => Progress::InString,
            BodyState::Json(_) => Progress::Certain,
            BodyState::Tail => Progress::Complete,
            BodyState::Broken { .. } | BodyState::Unreadable { .. } => Progress::Content,
        }
    }

    fn names_declared(&self, _candidate: &Candidate, _text: &str, declared: &DeclaredTools) -> bool {
        let BodyState::Json(scan) = &self.state else { return false };
        let name = |key| scan.outer()?.0.get(key)?.as_str();
        json_calls::NAME_KEYS.into_iter().filter_map(name).any(|name| declared.has(name))
    }
}

impl Body {
    /// JSON that begins here; `early_checks` enables early rejection.
    pub(super) fn json(from: usize, fenced: bool, early_checks: bool) -> Self {
        let scan = if early_checks { JsonScan::with_early_checks() } else { JsonScan::default() };
        Self { state: BodyState::Json(scan), from, fenced, python: None }
    }

    pub(super) fn tail() -> Self {
        Self { state: BodyState::Tail, from: 0, fenced: false, python: None }
    }

    pub(super) fn after_python(python: BeginPython) -> Self {
        Self { python: Some(python), ..Self::tail() }
    }

    /// After unreadable content; the wrapper's end is still to be found.
    pub(super) fn unreadable(reason: MalformedReason) -> Self {
        Self { state: BodyState::Unreadable { reason, search: true }, ..Self::tail() }
    }

    pub(super) fn set_state(&mut self, next: BodyState) -> Step {
        self.state = next;
        Continue(None)
    }

    fn apply_scan_step(
        &mut self,
        step: ScanStep,
        candidate: &mut Candidate,
        text: &str,
        declared: &DeclaredTools,
    ) -> Step {
        let BodyState::Json(scan) = &mut self.state else { return Continue(None) };
        match step {
            ScanStep::NeedMore(next) => {
                candidate.at = next;
                Break(Verdict::NeedMore)
            }
            ScanStep::EarlyCheck(next) => {
                candidate.at = next;
                if may_be_call(scan, declared) {
                    return Continue(None);
                }
                match match_python(&text[self.from..]) {
                    Match::Full((), _) => Continue(None),
                    Match::Partial => {
                        // Too little to decide: read again from the beginning.
                        *scan = JsonScan::with_early_checks();
                        candidate.at = self.from;
                        Break(Verdict::NeedMore)
                    }
                    Match::None => Break(Verdict::Text),
                }
            }
            ScanStep::End(end) => {
                candidate.at = end;
                let value = scan.take();
                self.finish_value(value, candidate, text, declared)
            }
            ScanStep::Foreign(position) => {
                candidate.at = position;
                if candidate.is_bare() {
                    return Break(Verdict::Text);
                }
                let rest = &text[position..];
                let opener = if scan.is_in_string() { Match::None } else { OPENERS.match_prefix(rest) };
                match (CLOSERS.match_prefix(rest), opener) {
                    (Match::Full(..), _) | (_, Match::Full(..)) => self.finish_at_marker(candidate, text, declared),
                    (Match::None, Match::None) => {
                        candidate.at = scan.skip_foreign(position);
                        Continue(None)
                    }
                    _ => Break(Verdict::NeedMore),
                }
            }
        }
    }

    /// Handles closed brackets; without a value, their content is not well-formed.
    fn finish_value(
        &mut self,
        value: Option<Value>,
        candidate: &mut Candidate,
        text: &str,
        declared: &DeclaredTools,
    ) -> Step {
        let content = &text[self.from..candidate.at];
        match value {
            Some(value) => match self.accept(value, false, candidate, declared) {
                Ok(()) => self.set_state(BodyState::Tail),
                Err(reason) => self.reject(candidate, text, reason),
            },
            None if candidate.is_bare() => match self.repair_and_accept(content, candidate, declared) {
                Ok(()) => self.set_state(BodyState::Tail),
                Err(_) => Break(Verdict::Text),
            },
            None => match end_before_next_call(content) {
                Some(cut) => {
                    // An open string ran into the next call.
                    candidate.at = self.from + cut;
                    self.mark_unreadable(candidate, MalformedReason::NotJson(JsonFault::OpenString), true)
                }
                None => self.set_state(BodyState::Broken { end: candidate.at }),
            },
        }
    }

    /// Handles a marker where JSON should continue.
    fn finish_at_marker(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        if matches!(&self.state, BodyState::Json(scan) if scan.is_in_string() || scan.had_false_end()) {
            // More than brackets may be missing: a repair would invent where a string ends.
            return self.mark_unreadable(candidate, MalformedReason::NotJson(JsonFault::OpenString), true);
        }
        match self.repair_and_accept(&text[self.from..candidate.at], candidate, declared) {
            Ok(()) => self.set_state(BodyState::Tail),
            Err(reason) => self.reject(candidate, text, reason),
        }
    }

    /// Accepts a value as calls; a repaired one only if its arguments are an object.
    fn accept(
        &self,
        value: Value,
        repaired: bool,
        candidate: &mut Candidate,
        declared: &DeclaredTools,
    ) -> Result<(), MalformedReason> {
        let bare = candidate.is_bare();
        // A name alone may be data that the prose before it introduces.
        if candidate.kind == CandidateKind::InlineJson && !json_calls::has_arguments(&value, declared) {
            return Err(MalformedReason::NoName);
        }
        if bare && json_calls::describes_tools(&value) {
            return Err(MalformedReason::UnknownFormat);
        }
        let has_only_known_fields = bare && json_calls::has_only_known_fields(&value, declared);
        let (calls, fault) = json_calls::parse_readable_calls(value, candidate.name.as_deref(), declared)?;
        if repaired && !calls.iter().all(|call| call.arguments.is_object()) {
            return Err(MalformedReason::NotAnObject);
        }
        if let Some(reason) = fault {
            if bare {
                return Err(reason);
            }
            candidate.record_fault(reason, self.from..candidate.at);
        }
        if bare && !calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) {
            return Err(MalformedReason::UnknownFormat);
        }
        if !has_only_known_fields || !calls.iter().all(|call| declared.fits(&call.name, &call.arguments)) {
            candidate.certainty = Certainty::Possible;
        }
        candidate.calls.extend(calls);
        candidate.calls_end = candidate.at;
        Ok(())
    }

    /// Repairs JSON and accepts it as calls (R9). Of a list that cannot be repaired the readable items count.
    pub(super) fn repair_and_accept(
        &self,
        text: &str,
        candidate: &mut Candidate,
        declared: &DeclaredTools,
    ) -> Result<(), MalformedReason> {
        if let Some(value) = repair(text) {
            return self.accept(value, true, candidate, declared);
        }
        let unreadable = MalformedReason::NotJson(JsonFault::Unreadable);
        let may_be_list = !candidate.is_bare() && candidate.name.is_none();
        let (items, fault) = Some(text).filter(|_| may_be_list).and_then(readable_items).ok_or(unreadable)?;
        self.accept(Value::Array(items), true, candidate, declared)?;
        if fault {
            candidate.record_fault(unreadable, self.from..candidate.at);
        }
        Ok(())
    }

    pub(super) fn reject(&mut self, candidate: &mut Candidate, text: &str, reason: MalformedReason) -> Step {
        // A placeholder such as {JSON} has neither a member nor a string: prose about calls.
        let content = &text[self.from..candidate.at];
        let is_placeholder = reason != MalformedReason::Empty
            && !candidate.is_control_token
            && is_placeholder(content, !candidate.begins_line);
        let (bare, is_first) = (candidate.is_bare(), candidate.calls.is_empty());
        match (bare || is_placeholder, is_first) {
            (true, true) => Break(Verdict::Text),
            (true, false) => Break(candidate.take_possible_calls(candidate.calls_end)),
            (false, true) => self.mark_unreadable(candidate, reason, false),
            (false, false) => {
                // Its end is known: more calls may follow it.
                candidate.record_fault(reason, self.from..candidate.at);
                self.set_state(BodyState::Tail)
            }
        }
    }

    /// Handles an unreadable call whose end is unknown. After other calls of a wrapper only it is lost.
    pub(super) fn mark_unreadable(&mut self, candidate: &mut Candidate, reason: MalformedReason, search: bool) -> Step {
        if !candidate.calls.is_empty() {
            if candidate.is_bare() {
                return Break(candidate.take_possible_calls(candidate.calls_end));
            }
            candidate.record_fault(reason, self.from..candidate.at);
        }
        self.set_state(BodyState::Unreadable { reason, search })
    }
}

/// Whether the JSON read so far can still become a call to a declared tool.
fn may_be_call(scan: &JsonScan, declared: &DeclaredTools) -> bool {
    let Some((members, current_key)) = scan.outer() else { return !scan.broken };
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
    !scan.broken && current_key.is_none_or(possible) && names().all(|(key, _)| declared.any_has_parameter(key))
}
