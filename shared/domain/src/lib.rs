//! Domain types: messages, tools and their calls, events, failures.
//!
//! This crate knows nothing of HTTP, models or storage, so every other crate can use its types.

mod attachment;
mod char_class;
mod citation;
mod credit_observer;
mod event;
mod failure;
mod groups;
mod id;
mod language;
mod message;
mod model_state;
mod one_line;
mod owner;
mod provider_data;
mod request_origin;
mod strict_json;
mod strict_object;
mod tool;
mod turn_accumulator;
mod turn_position;
mod untrusted_text;

pub use attachment::{Attachment, AttachmentContent, AttachmentKind};
pub use char_class::CharClass;
pub use citation::{AnswerPart, CitationScanner};
pub use credit_observer::{CreditLimit, CreditObserver};
pub use event::{
    AnswerDelta, Event, EventBatch, FinishReason, Note, NumberedSources, Source, ToolEvent, ToolOutcome, ToolProgress,
    TurnStart, Usage,
};
pub use failure::{ErrorCode, Failure, TurnError};
pub use groups::{Groups, Membership};
pub use id::{derived_id, id_seconds, is_id, new_id, new_ulid};
pub use language::Language;
pub use message::{HistoryTurn, Message, Summary};
pub use model_state::{CachedToolSupport, EndpointHealth, ToolMode, ToolSupport, ToolSupportSource};
pub use one_line::one_line;
pub use owner::Owner;
pub use provider_data::{ProviderData, ReasoningDetail, ReasoningItem};
pub use request_origin::RequestOrigin;
pub use strict_json::parse_object;
pub use strict_object::StrictObject;
pub use tool::{SearchMode, ToolCall, ToolChoice, ToolExample, ToolFailure, ToolMessage, ToolSpec};
pub use turn_accumulator::{
    CallPosition, CallState, ModelAttribution, TurnAccumulator, split_last_characters, text_pieces,
};
pub use turn_position::{PositionTracker, TurnPosition};
pub use untrusted_text::{is_invisible, strip_invisible};

/// Maximum length of an answer's text, in bytes. A turn that reaches it ends with [`FinishReason::Length`].
pub const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// Maximum length of an answer's reasoning, in bytes. Reasoning beyond it is neither shown nor stored.
pub const MAX_THINKING_BYTES: usize = 512 * 1024;

/// Whether a field is left out of JSON.
fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}
