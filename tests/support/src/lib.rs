//! Support for the black-box tests: scripted servers on loopback instead of the model and the search, the whole product
//! in the test's process, and a reader that checks every event stream against the contract.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a broken expectation ends the test that made it"
)]

mod api_response;
mod app;
mod aws_search;
mod client;
mod completion;
mod database_proxy;
mod description;
mod endpoint;
mod event_stream;
mod faulty_proxy;
mod gate;
mod grammar;
mod lambda;
mod load_spike;
mod loopback;
mod mcp;
mod model;
mod native_app;
mod ollama;
mod raw_http;
mod recordings;
mod reply;
mod request;
mod search_calls;
mod server;
#[cfg(test)]
mod server_tests;
mod tavily;
mod transcript;

pub use api_response::ApiResponse;
pub use app::TestApp;
pub use aws_search::FakeAwsSearch;
pub use client::Client;
pub use completion::Completion;
pub use database_proxy::DatabaseProxy;
pub use endpoint::FakeEndpoint;
pub use event_stream::EventStream;
pub use faulty_proxy::{FaultyProxy, ProxyFault};
pub use gate::{Gate, with_timeout};
pub use lambda::{FakeLambda, ResponseChunks};
pub use load_spike::LoadSpike;
pub use loopback::serve_router;
pub use mcp::FakeMcp;
pub use model::{FakeModel, MODEL, MODEL_KEY, ModelRequest};
pub use native_app::{NativeApp, native_models_setting};
pub use ollama::{FakeOllama, OLLAMA_MODEL};
pub use recordings::{RECORDING_SCENARIOS, RECORDINGS_FOLDER, list_recordings, record_scenario};
pub use reply::Reply;
pub use request::Request;
pub use search_calls::{search_call, search_reply, searches_reply};
pub use tavily::{FakeTavily, SEARCH_KEY};
pub use transcript::Transcript;
