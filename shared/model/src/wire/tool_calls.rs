//! Assembles native calls from their fragments.
//!
//! Endpoints number and name the fragments in many ways. A fragment is routed by its id, then by its index, then to the
//! current call.

use serde_json::value::RawValue;

use crate::fault::Fault;
use crate::wire::deltas::Deltas;
use crate::{Finish, NativeCall, TokenUsage};

/// A fragment of a call; an empty string means that the field was absent.
#[derive(Debug, Default)]
pub(crate) struct Piece<'a> {
    pub(crate) index: Option<u64>,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// The pending calls of one reply, in the order of their start.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    /// The index of the call that received the last fragment.
    open: usize,
}

impl Calls {
    /// Adds a fragment and counts it as progress.
    pub(crate) fn add(&mut self, piece: &Piece<'_>, out: &mut Deltas) -> Result<(), Fault> {
        self.open = self.route(piece).unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        if let Some(slot) = self.slots.get_mut(self.open) {
            slot.take(piece);
        }
        out.grow(piece.id.len() + piece.name.len() + piece.arguments.len())
    }

    /// Emits the end of a reply: its calls, the token usage, and a finish that agrees with the calls.
    pub(crate) fn give_out(&mut self, usage: Option<TokenUsage>, finish: Finish, out: &mut Deltas) {
        let (calls, cut) = self.finish(matches!(finish, Finish::Length | Finish::ContentFilter));
        let finish = match finish {
            Finish::Stop | Finish::ToolCalls if calls.is_empty() => Finish::Stop,
            Finish::Stop | Finish::ToolCalls => Finish::ToolCalls,
            cut => cut,
        };
        for call in calls {
            out.call(call);
        }
        if cut && finish == Finish::Length {
            out.cut_call();
        }
        out.finish(usage, finish);
    }

    /// Returns the calls that have a name, and whether calls were dropped. Of a `truncated` reply, only calls with complete
    /// arguments are kept.
    fn finish(&mut self, cut: bool) -> (Vec<NativeCall>, bool) {
        self.open = 0;
        let named = std::mem::take(&mut self.slots).into_iter().filter(|slot| !slot.name.trim().is_empty());
        let (whole, rest): (Vec<Slot>, Vec<Slot>) = named.partition(|slot| !cut || is_object(&slot.arguments));
        (whole.into_iter().map(Slot::call).collect(), !rest.is_empty())
    }

    fn route(&self, piece: &Piece<'_>) -> Option<usize> {
        if piece.id.is_empty() {
            return self.route_without_id(piece);
        }
        // A repeated id at another index is a new call only if the fragment cannot belong to this one.
        let same = |slot: &Slot| slot.id == piece.id && !(slot.index != piece.index && slot.is_over(piece));
        self.slots.iter().rposition(same).or_else(|| {
            // The late id of a call that started without one.
            self.route_without_id(piece).filter(|&at| self.slots.get(at).is_some_and(|slot| slot.id.is_empty()))
        })
    }

    fn route_without_id(&self, piece: &Piece<'_>) -> Option<usize> {
        let by_index = piece.index.and_then(|_| self.slots.iter().rposition(|slot| slot.index == piece.index));
        let at = by_index.or_else(|| self.open_for(piece))?;
        self.slots.get(at).filter(|slot| !slot.is_over(piece)).map(|_| at)
    }

    /// Returns the current call, if a fragment without a known index may belong to it. A name with a new index starts a
    /// call; so do arguments with a new index once those of the current call are complete.
    fn open_for(&self, piece: &Piece<'_>) -> Option<usize> {
        let open = self.slots.get(self.open)?;
        let elsewhere = piece.index.is_some() && (!piece.name.is_empty() || is_object(&open.arguments));
        (!elsewhere).then_some(self.open)
    }
}

impl Slot {
    /// Whether `fragment` cannot belong to this call: it has another name, or arguments after complete ones.
    fn is_over(&self, piece: &Piece<'_>) -> bool {
        let named = !piece.name.is_empty() && !self.name.is_empty();
        named && (piece.name != self.name || (!piece.arguments.trim().is_empty() && is_object(&self.arguments)))
    }

    fn take(&mut self, piece: &Piece<'_>) {
        self.index = piece.index.or(self.index);
        if self.id.is_empty() {
            piece.id.clone_into(&mut self.id);
        }
        if self.name.is_empty() {
            piece.name.clone_into(&mut self.name);
        }
        self.arguments.push_str(piece.arguments);
    }

    fn call(self) -> NativeCall {
        NativeCall::new(&self.id, &self.name, &self.arguments)
    }
}

impl NativeCall {
    /// Creates a call with trimmed fields; missing arguments and `null` become `{}`.
    pub(crate) fn new(id: &str, name: &str, arguments: &str) -> Self {
        let arguments = Some(arguments.trim()).filter(|text| !matches!(*text, "" | "null")).unwrap_or("{}");
        Self { id: id.to_owned(), name: name.trim().to_owned(), arguments: arguments.to_owned() }
    }
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(json).is_ok()
}
