//! Every text that models read, in each language, and the few that the product writes in a model's place.
//!
//! A text is the file `LANGUAGE/GROUP/NAME.txt`, without the line break at its end. A group belongs to the crate that uses
//! it. Placeholders are in braces; [`fill`] replaces them. Built-in tools are declared in `LANGUAGE/tools/NAME.json`.

mod fill;
mod texts;
mod tool_file;

pub use fill::fill;
pub use texts::{
    AgentTexts, ArgumentTexts, ArticleTexts, AttachmentTexts, CalculatorTexts, CallTexts, CurrentTimeTexts,
    CustomToolTexts, DocumentTexts, SearchTexts, ToolTexts,
};
pub use tool_file::ToolFile;
