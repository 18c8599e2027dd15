//! Cost of turns: the requests of each kind of turn, counted as DynamoDB charges them, multiplied by given prices.
//!
//! The product runs in the process with a scripted model and search, and a counting proxy of the embedded DynamoDB
//! ([`CountingDatabase`]). The counts are committed (`counts.json`), and a test compares the product with them. Prices and
//! assumptions are in `inputs.json`. `docs/cost.md` shows the results, and another test compares it with both files.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a measurement that fails ends the program"
)]

mod bill;
mod counting_database;
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

pub use bill::{Bill, Bills, DurationRequests};
pub use counting_database::{CountedRequest, CountingDatabase};
pub use counts::{Counts, DurationCounts, Turn};
pub use document::fill_tables;
pub use images::WrittenItem;
pub use inputs::{Assumption, Inputs, ModelPrice, Price};
pub use kinds::{CACHED_SEARCH_KIND, DEFAULT_KIND, EarlierTurns, KINDS, Kind, SEARCH_KIND, ScriptedReply};
pub use measure::measure;
pub use product::Product;
pub use request::Request;
pub use tables::{Table, model_tables, tables};
