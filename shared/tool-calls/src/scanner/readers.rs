//! A file for each grammar in which models write calls.

pub(super) mod action;
mod body;
mod cursor;
mod element_values;
pub(super) mod elements;
mod end_tag;
mod gemma;
mod json_text;
mod names;
mod nested_elements;
pub(super) mod opening;
mod own_names;
mod parameter;
pub(super) mod python;
pub(super) mod recipient;
mod tail;
pub(super) mod turn_end;
mod unknown_format;
mod yaml;
