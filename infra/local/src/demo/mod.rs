//! A demo model and a demo search that need no account: real HTTP endpoints that the unchanged clients call over loopback.
//!
//! They show how the product handles any question, and identify themselves as demos. The model is a script that searches
//! and repeats the results. The search has only some built-in pages about this product.

mod language;
mod model;
mod pages;
mod search;

use axum::Router;
use axum::routing::post;

/// Routes: `POST /demo/model/chat/completions` (OpenAI's API), `POST /demo/search/search` and
/// `POST /demo/search/extract` (Tavily's API).
pub(crate) fn router() -> Router {
    Router::new()
        .route("/demo/model/chat/completions", post(model::complete))
        .route("/demo/search/search", post(search::search))
        .route("/demo/search/extract", post(search::extract))
}
