//! Integration tests of the scanner and the thinking filter: visible text and calls, for every chunking of the text.

mod contract;
mod corpus;
mod escaped;
mod hidden;
mod limits;
mod other_formats;
mod plain_calls;
mod prose;
mod results;
mod splits;
mod support;
mod thinking;
