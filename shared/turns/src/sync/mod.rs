//! What instances discover about models and share through the store. It is advice: every part works without it.

pub(crate) mod breaker;
pub(crate) mod tool_support;

pub use self::tool_support::{known_image_support, known_tool_support};

pub(crate) use self::tool_support::StoredToolSupport;
