mod call;
mod definition;
mod import;
mod support;
