//! Assembles native calls from their fragments.
//!
//! Endpoints number and name the fragments in many ways. A fragment is routed by its id, then by its index, then to the
//! current call.

use serde_json::value::RawValue;

use crate::NativeCall;

/// Maximum number of calls of one reply, one more than run. What belongs to further ones is dropped as it comes, so that routing
/// a fragment takes constant time.
const MAX_CALLS: usize = 128;

/// A fragment of a call; an empty string means that the field was absent.
#[derive(Debug, Default)]
pub(crate) struct CallFragment<'a> {
    pub(crate) index: Option<u64>,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) signature: &'a str,
}

#[derive(Debug, Default)]
struct PendingCall {
    index: Option<u64>,
    call: NativeCall,
}

/// The pending calls of one reply, in the order of their start.
#[derive(Debug, Default)]
pub(crate) struct CallAssembler {
    pending: Vec<PendingCall>,
    /// The position of the call that received the last fragment; [`MAX_CALLS`] if that was dropped.
    current: usize,
}

impl CallAssembler {
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether there are calls, and all have a name and complete arguments.
    pub(crate) fn are_complete(&self) -> bool {
        let is_complete =
            |pending: &PendingCall| !pending.call.name.trim().is_empty() && is_object(&pending.call.arguments);
        !self.is_empty() && self.pending.iter().all(is_complete)
    }

    pub(crate) fn add(&mut self, fragment: &CallFragment<'_>) {
        self.current = self.route(fragment).unwrap_or_else(|| {
            if self.pending.len() < MAX_CALLS {
                self.pending.push(PendingCall::default());
                self.pending.len() - 1
            } else {
                MAX_CALLS
            }
        });
        if let Some(slot) = self.pending.get_mut(self.current) {
            slot.append(fragment);
        }
    }

    /// Takes the calls that have a name, and whether calls were dropped. Of a `truncated` reply, only calls with complete
    /// arguments are kept.
    pub(crate) fn take(&mut self, truncated: bool) -> (Vec<NativeCall>, bool) {
        self.current = 0;
        let named = std::mem::take(&mut self.pending).into_iter().filter(|slot| !slot.call.name.trim().is_empty());
        let (complete, rest): (Vec<PendingCall>, Vec<PendingCall>) =
            named.partition(|slot| !truncated || is_object(&slot.call.arguments));
        (complete.into_iter().map(PendingCall::into_native).collect(), !rest.is_empty())
    }

    fn route(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        if fragment.id.is_empty() {
            return self.route_without_id(fragment);
        }
        // A repeated id at another index is a new call only if the fragment cannot belong to this one.
        let is_same = |slot: &PendingCall| {
            slot.call.id == fragment.id && !(slot.index != fragment.index && slot.is_over(fragment))
        };
        self.pending.iter().rposition(is_same).or_else(|| {
            // The late id of a call that started without one.
            self.route_without_id(fragment)
                .filter(|&at| self.pending.get(at).is_some_and(|slot| slot.call.id.is_empty()))
        })
    }

    fn route_without_id(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let by_index = fragment.index.and_then(|_| self.pending.iter().rposition(|slot| slot.index == fragment.index));
        let at = by_index.or_else(|| self.current_for(fragment))?;
        self.pending.get(at).filter(|slot| !slot.is_over(fragment)).map(|_| at)
    }

    /// Returns the current call, if a fragment without a known index may belong to it. A name with a new index starts a
    /// call; so do arguments with a new index once those of the current call are complete.
    fn current_for(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let current = self.pending.get(self.current)?;
        let is_new_call = fragment.index.is_some() && (!fragment.name.is_empty() || is_object(&current.call.arguments));
        (!is_new_call).then_some(self.current)
    }
}

impl PendingCall {
    /// Whether `fragment` cannot belong to this call: it has another name, or arguments after complete ones.
    fn is_over(&self, fragment: &CallFragment<'_>) -> bool {
        let NativeCall { name, arguments, .. } = &self.call;
        let named = !fragment.name.is_empty() && !name.is_empty();
        named && (fragment.name != name || (!fragment.arguments.trim().is_empty() && is_object(arguments)))
    }

    fn append(&mut self, fragment: &CallFragment<'_>) {
        self.index = fragment.index.or(self.index);
        let NativeCall { id, name, arguments, signature } = &mut self.call;
        for (kept, new) in [(id, fragment.id), (name, fragment.name), (signature, fragment.signature)] {
            if kept.is_empty() {
                new.clone_into(kept);
            }
        }
        arguments.push_str(fragment.arguments);
    }

    fn into_native(self) -> NativeCall {
        let NativeCall { id, name, arguments, signature } = self.call;
        NativeCall { signature, ..NativeCall::new(&id, &name, &arguments) }
    }
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{')
        && json.trim_end().ends_with('}')
        && serde_json::from_str::<&RawValue>(json).is_ok()
}
