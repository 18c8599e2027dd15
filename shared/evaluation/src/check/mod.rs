//! `check`: small requests to each configured model, to the search and to the embeddings endpoint, what works, and what to
//! set otherwise.

mod command;
mod endpoint_checks;
mod finding;
mod model_check;
mod model_error;

pub use command::CheckCommand;
