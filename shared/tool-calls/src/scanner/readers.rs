//! A file for each grammar in which models write calls.

pub(super) mod action;
mod body;
mod element_values;
pub(super) mod elements;
mod end_tag;
mod gemma;
mod nested_elements;
mod own_names;
mod parameter;
pub(super) mod payload;
pub(super) mod python;
pub(super) mod recipient;
pub(super) mod tag;
mod tail;
pub(super) mod turn_end;
mod unknown_format;
mod yaml;
