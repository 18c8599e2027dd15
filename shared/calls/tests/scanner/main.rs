//! The scanner and the thinking filter from outside: what is shown, what is a call, in every cutting of the text.

mod contract;
mod corpus;
mod escaped;
mod limits;
mod prose;
mod splits;
mod support;
mod thinking;
