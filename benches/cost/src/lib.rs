//! What turns cost: the requests of kinds of turns, counted as DynamoDB would charge them, times prices that are given.
//!
//! The product runs in the process with a scripted model and search, and a layer before the embedded DynamoDB that
//! counts ([`Counted`]). What it counts is committed (`counts.json`), and a test holds the product against it; prices
//! and assumptions are `prices.json`; `docs/cost.md` shows what follows from both, and another test holds it to that.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a measurement that fails ends the program"
)]

mod bill;
mod counted;
mod counts;
mod document;
mod images;
mod inputs;
mod keys;
mod kinds;
mod measure;
mod product;
mod request;
mod script;
mod tables;

pub use bill::{Bill, Bills, OfTime};
pub use counted::{Counted, Seen};
pub use counts::{Counts, Turn, WhileItRuns};
pub use document::filled;
pub use images::Written;
pub use inputs::{Assumption, Inputs, Price};
pub use kinds::{Before, CACHED, KINDS, Kind, SEARCHING, Said, USUAL};
pub use measure::measure;
pub use product::Product;
pub use request::Request;
pub use tables::{Table, tables};
