//! Errors of calls: what an answer of an endpoint means, and what happens next.

mod attempt_error;
mod compat_fix;
mod endpoint_error;
mod model_error;

pub(crate) use attempt_error::{AttemptError, RetryAdvice};
pub(crate) use compat_fix::CompatFix;
pub(crate) use endpoint_error::{EndpointError, is_plausible_wait};
pub use model_error::ModelError;
