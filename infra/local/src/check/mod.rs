//! `check`: small requests to each configured model, to the search and to the embeddings endpoint, what works, and what to
//! set otherwise.
//!
//! * `command`: the order of the checks, and their output
//! * `model_check`: the checks of one model
//! * `arrivals`: how a response arrived on the network
//! * `model_error`: the texts for the errors of a model
//! * `search_check`: the check of the search
//! * `embeddings_check`: the check of the embeddings endpoint
//! * `finding`: the result of a check

mod arrivals;
mod command;
mod embeddings_check;
mod finding;
mod model_check;
mod model_error;
mod search_check;

pub(crate) use command::CheckCommand;
