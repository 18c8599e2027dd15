//! Converts text to tool calls and back: pure, incremental, and independent of models and tool implementations.
//!
//! Models without native tool calling write their calls into the answer, each family in its own format.
//! [`ThinkingFilter`] first removes the reasoning from the raw text. [`CallScanner`] then splits the rest into visible
//! text and calls. [`coerce_arguments()`] fits the arguments to a tool's schema. In the other direction a
//! [`CallFormat`] teaches a model one format and renders past calls in it.
//!
//! # The machine
//!
//! One scanner reads every format at once. It is always in one of two states:
//!
//! ```text
//!            text that cannot be a call: shown at once
//!              ┌────┐
//!              ▼    │
//!   ──────▶  ORDINARY TEXT  ──── an opening marker, or a bracket that begins a line ───┐
//!              ▲    ▲    ▲                                                             ▼
//!              │    │    └── not a call: the marker is text, scan again after it ─── CANDIDATE
//!              │    └─────── calls, and their wrapper's end if it is there ◀────────── tag → payload → JSON → tail
//!              └──────────── meant as a call, but unreadable: malformed ◀───────────── tag → payload → parameters
//! ```
//!
//! - *Ordinary text* (`scanner/prose.rs`) is emitted in the same push, except for the longest suffix that may start a
//!   marker. The scanner tracks inline code and fences (`code.rs`).
//! - A *candidate* (`scanner/candidate.rs`) is held until it is decided. The content after the marker decides how it is
//!   read, not the marker: `readers/opening.rs` chooses one of the files in `scanner/readers/`, each a grammar that implements
//!   the trait `Reader`. So a marker is a row in `formats/`.
//!   The candidate ends where its JSON ends, not at an end tag: a marker in a string is ignored.
//! - *Unconfirmed calls* (`scanner/output.rs`): JSON without a wrapper and calls in a fence count only if nothing but
//!   calls and white space follows. They are held until that is known, or shown whole. JSON that ends its line counts at
//!   once if it has no field that its tool does not know, and the text before it introduces no example.
//! - *Imitated results* (`result_block.rs`, `scanner/settle.rs`) are text, hidden, or the end of the reply.
//!
//! Whole text and chunks go through the same code, and every limit counts bytes of the text, not of the chunk. So the
//! result never depends on the chunking. Every byte is examined a bounded number of times.
//!
//! # Guarantees
//!
//! `RULES.md` numbers them: R1, no part of a call is shown, to R14.

mod code;
mod coerce;
mod declared_tools;
mod escape;
mod formats;
mod json;
mod json_calls;
mod marker_role;
mod markers;
mod parameter_value;
mod repair;
mod result_block;
mod scanner;
mod schema_refs;
mod segment;
mod thinking;

pub use coerce::{Accepted, ArgumentErrors, FieldError, coerce_arguments};
pub use escape::escape;
pub use formats::{CallFormat, format_for, format_named, format_of, opens_in_thinking};
pub use repair::repair;
pub use result_block::STOP_SEQUENCES;
pub use scanner::CallScanner;
pub use segment::{JsonFault, Malformed, MalformedReason, ParsedCall, ReplyEnd, ResultBlocks, Segment};
pub use thinking::{ReplyPart, ThinkingFilter};
