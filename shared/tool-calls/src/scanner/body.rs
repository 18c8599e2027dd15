//! The state of reading the JSON of a call.

use crate::declared_tools::DeclaredTools;
use crate::json::JsonScan;
use crate::json_calls;
use crate::segment::MalformedReason;

/// The JSON of a candidate and the text after it.
pub(super) struct Body {
    pub(super) state: BodyState,
    /// Where the JSON begins.
    pub(super) from: usize,
    /// Whether a code fence inside of the wrapper is open.
    pub(super) fenced: bool,
    /// Whether calls written as Python were read; more may follow, a line each.
    pub(super) python: bool,
}

/// The state within a body.
pub(super) enum BodyState {
    /// In JSON.
    Json(Box<JsonScan>),
    /// After complete JSON.
    Tail,
    /// After JSON that needs repair, which ends at `end` unless it had a false end of a string.
    Broken { end: usize },
    /// After unreadable content, for this reason; `search` is the position from which to search for the wrapper's end.
    Unreadable { reason: MalformedReason, search: Option<usize> },
}

impl Body {
    /// JSON that begins here; `early_checks` enables early rejection.
    pub(super) fn json(from: usize, fenced: bool, early_checks: bool) -> Self {
        let scan = if early_checks { JsonScan::with_early_checks() } else { JsonScan::default() };
        Self { state: BodyState::Json(Box::new(scan)), from, fenced, python: false }
    }

    /// After complete calls.
    pub(super) fn tail() -> Self {
        Self { state: BodyState::Tail, from: 0, fenced: false, python: false }
    }

    /// After complete calls written as Python.
    pub(super) fn after_python() -> Self {
        Self { python: true, ..Self::tail() }
    }

    /// After unreadable content; the wrapper's end is still to be found.
    pub(super) fn unreadable(reason: MalformedReason) -> Self {
        Self { state: BodyState::Unreadable { reason, search: Some(0) }, from: 0, fenced: false, python: false }
    }

    /// Whether the JSON has had no deviation.
    pub(super) fn is_well_formed(&self) -> bool {
        match &self.state {
            BodyState::Json(scan) => !scan.is_broken(),
            BodyState::Tail => true,
            BodyState::Broken { .. } | BodyState::Unreadable { .. } => false,
        }
    }

    /// Whether the current position is in a string of well-formed JSON.
    pub(super) fn is_in_well_formed_string(&self) -> bool {
        matches!(&self.state, BodyState::Json(scan) if scan.is_in_string() && !scan.is_broken())
    }

    /// Whether the JSON that is being read names a declared tool.
    pub(super) fn names_declared(&self, declared: &DeclaredTools) -> bool {
        let BodyState::Json(scan) = &self.state else { return false };
        let name = |key| scan.outer()?.get(key)?.as_str();
        json_calls::NAME_KEYS.into_iter().filter_map(name).any(|name| declared.has(name))
    }

    /// Whether every call in it has been read.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.state, BodyState::Tail)
    }
}
