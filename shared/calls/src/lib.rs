//! Text to tool calls and back: pure, incremental, and ignorant of models and tools' code.
//!
//! Models without native tool calling write their calls into the answer, each family in a form of its own.
//! [`ThinkingFilter`] takes the reasoning out of the raw text first; [`CallScanner`] then splits the rest into what is
//! shown and what is a call; [`fit()`] makes the arguments fit a tool's schema. The other way round a [`CallFormat`]
//! teaches a model one form and writes past calls back in it.
//!
//! # The machine
//!
//! One scanner reads every form at once. It is always in one of two places:
//!
//! ```text
//!            text that cannot be a call: shown at once
//!              ┌────┐
//!              ▼    │
//!   ──────▶  ORDINARY TEXT  ──── an opening marker, or a bracket that begins a line ───┐
//!              ▲    ▲    ▲                                                             ▼
//!              │    │    └── not a call: the marker is text, look again behind it ── CANDIDATE
//!              │    └─────── calls, and their wrapper's end if it is there ◀────────── tag → payload → JSON → tail
//!              └──────────── meant as a call, but unreadable: malformed ◀───────────── tag → payload → parameters
//! ```
//!
//! - *Ordinary text* (`scanner/prose.rs`) goes out in the same push, but for the longest end of it that is the beginning
//!   of a marker. It knows whether the place is in inline code or in a fence (`code.rs`).
//! - A *candidate* (`scanner/candidate.rs`) is held until it is decided. What stands behind the marker decides how it is
//!   read, not the marker: JSON (`scanner/body.rs`, `json.rs`), a function and its parameters (`scanner/elements.rs`), a
//!   name first (`scanner/payload.rs`), a list in Python (`scanner/pythonic.rs`). So a marker is a row in `formats/`.
//!   The end is where the JSON ends, not where an end tag is found: a marker in a string means nothing.
//! - *What waits* (`scanner/output.rs`): JSON without a wrapper and calls in a fence count only when nothing but calls
//!   and white space follows, so they are held until that is known, or shown whole.
//!
//! Whole text and pieces go through the same code, and every limit counts from the text and not from the piece, so the
//! result never depends on how the text was cut. Every byte is looked at a bounded number of times.
//!
//! # What is promised
//!
//! - Nothing of a call is shown. Everything else is shown, in order and as written; only white space between a call and
//!   another call, or the beginning or end of the reply, belongs to the calls. Also hidden is what is left of a call: end
//!   markers behind it, and the beginning of a control token at the very end.
//! - A candidate that need not be a call is held up to 64 KiB, then it is text. A call up to 2 MiB, then it is malformed.
//! - An explicit wrapper is a call to any name. JSON alone, in a fence or behind a bare `<function=` must name a declared
//!   tool, and JSON must have what that tool requires. In inline code and in fences wrappers are quoted text, unless the
//!   fence holds nothing but calls and ends the reply.
//! - JSON is mended ([`repair()`]) only when its end is known. A call that the output limit cut is malformed, whatever it
//!   looks like.

mod code;
mod declared;
mod escape;
mod fit;
mod formats;
mod json;
mod markers;
mod piece;
mod repair;
mod scanner;
mod shape;
mod thinking;
mod typed;

pub use escape::escape;
pub use fit::{Misfit, Wrong, fit};
pub use formats::{CallFormat, REACT, format_for};
pub use piece::{Defect, End, Malformed, ParsedCall, Piece};
pub use repair::repair;
pub use scanner::CallScanner;
pub use thinking::{Part, ThinkingFilter};
