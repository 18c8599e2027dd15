mod call;
mod definition;
mod import;
pub(crate) mod support;
