//! Support for the black-box tests: scripted servers on loopback instead of the model and the search, the whole product
//! in the test's process, and a reader that checks every event stream against the contract.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a broken expectation ends the test that made it"
)]

mod answer;
mod app;
mod broken;
mod client;
mod completion;
mod crowd;
mod database_proxy;
mod endpoint;
mod events;
mod gate;
mod grammar;
mod lambda;
mod mcp;
mod model;
mod ollama;
mod raw;
mod reply;
mod request;
mod server;
#[cfg(test)]
mod server_tests;
mod tavily;
mod transcript;

pub use answer::Answer;
pub use app::TestApp;
pub use broken::{Broken, Wrong, served};
pub use client::Client;
pub use completion::Completion;
pub use crowd::Crowd;
pub use database_proxy::DatabaseProxy;
pub use endpoint::FakeEndpoint;
pub use events::EventStream;
pub use gate::{Gate, within};
pub use lambda::{FakeLambda, Pieces};
pub use mcp::FakeMcp;
pub use model::{FakeModel, MODEL, MODEL_KEY, ModelRequest};
pub use ollama::{FakeOllama, OLLAMA_MODEL};
pub use reply::Reply;
pub use request::Request;
pub use tavily::{FakeTavily, SEARCH_KEY};
pub use transcript::Transcript;
