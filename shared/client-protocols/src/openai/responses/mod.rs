//! OpenAI's Responses: requests of items, answers of items, and their events.
//!
//! Source: OpenAI, "Responses", <https://platform.openai.com/docs/api-reference/responses> (2026-11-27), and the fields that
//! <https://www.openresponses.org/specification> (2026-11-27) requires to be present.

mod id;
mod input;
mod request;
mod resource;
mod stream;

pub use id::ResponseId;
pub use input::{InputItem, check_calls};
pub use request::ResponsesRequest;
pub use resource::{deleted_response, request_details};
pub use stream::ResponseStream;
