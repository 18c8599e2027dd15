//! Text to tool calls and back: pure, incremental, and ignorant of models and tools' code.

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
