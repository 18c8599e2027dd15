//! Puts native calls together from their pieces.
//!
//! Endpoints number and name the pieces in many ways, so a piece is routed by its id, then by its index, then to the
//! call that is open.

use serde_json::value::RawValue;

use crate::fault::Fault;
use crate::wire::deltas::Deltas;
use crate::{Finish, NativeCall, TokenUsage};

/// A piece of a call; empty strings mean that a field was absent.
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

/// The calls of one reply, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    /// The slot that the last piece went to.
    open: usize,
}

impl Calls {
    /// Takes a piece and counts it as progress.
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

    /// Gives out the end of a reply: its calls, what was counted, and a finish that agrees with the calls.
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

    /// The calls that have a name; of a reply that was `cut` only those whose arguments are whole, and whether there
    /// were others.
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
        // A repeated id at another index is another call only if this one is over.
        let same = |slot: &Slot| slot.id == piece.id && !(slot.index != piece.index && slot.is_over(piece));
        self.slots.iter().rposition(same).or_else(|| {
            // The id of a call that began without one.
            self.route_without_id(piece).filter(|&at| self.slots.get(at).is_some_and(|slot| slot.id.is_empty()))
        })
    }

    fn route_without_id(&self, piece: &Piece<'_>) -> Option<usize> {
        let by_index = piece.index.and_then(|_| self.slots.iter().rposition(|slot| slot.index == piece.index));
        let at = by_index.or_else(|| self.open_for(piece))?;
        self.slots.get(at).filter(|slot| !slot.is_over(piece)).map(|_| at)
    }

    /// The open call, if a piece that names no known index may belong to it: a name at an index of its own begins a
    /// call, and so do arguments there when those of the open call are whole.
    fn open_for(&self, piece: &Piece<'_>) -> Option<usize> {
        let open = self.slots.get(self.open)?;
        let elsewhere = piece.index.is_some() && (!piece.name.is_empty() || is_object(&open.arguments));
        (!elsewhere).then_some(self.open)
    }
}

impl Slot {
    /// Whether `piece` cannot belong to this call: it brings another name, or arguments after whole ones.
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
    /// A call without the white space around it; `{}` stands for no arguments and for `null`.
    pub(crate) fn new(id: &str, name: &str, arguments: &str) -> Self {
        let arguments = Some(arguments.trim()).filter(|text| !matches!(*text, "" | "null")).unwrap_or("{}");
        Self { id: id.to_owned(), name: name.trim().to_owned(), arguments: arguments.to_owned() }
    }
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(json).is_ok()
}
