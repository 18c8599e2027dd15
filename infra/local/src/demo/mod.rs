//! A model and a search that need no account: real HTTP endpoints which the unchanged clients call over loopback.
//!
//! They show what the product does with any question, and they say what they are. The model knows nothing: it is a
//! script that searches and repeats what it was given. The search knows only a few pages about this product.

mod language;
mod model;
mod pages;
mod search;

use axum::Router;
use axum::routing::post;

/// The routes `POST /demo/model/chat/completions` (as OpenAI has it) and `POST /demo/search/search` and
/// `POST /demo/search/extract` (as Tavily has them).
pub(crate) fn router() -> Router {
    Router::new()
        .route("/demo/model/chat/completions", post(model::complete))
        .route("/demo/search/search", post(search::search))
        .route("/demo/search/extract", post(search::extract))
}
