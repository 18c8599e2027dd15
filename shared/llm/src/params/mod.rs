//! Generation parameters: what the operator and a request choose, and what an endpoint accepts of it.

mod dialect;
mod generation_params;
mod options;
mod resolved_params;

pub(crate) use dialect::{
    Dialect, LOW_TO_HIGH, MAX_COMPLETION_TOKENS, MINIMAL_TO_HIGH, PLAIN, ReasoningEcho, SamplingSupport,
    ThinkingControl,
};
pub use generation_params::GenerationParams;
pub use options::{Effort, Options, Price, Thinking};
pub(crate) use resolved_params::ResolvedParams;
