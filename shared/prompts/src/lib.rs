//! Every text that models read, in each language, and the few that the product writes in a model's place.
//!
//! A text is the file `LANGUAGE/GROUP/NAME.txt`, without the line break at its end. A group belongs to the crate that uses
//! it. Placeholders are in braces; [`fill`] replaces them. Built-in tools are declared in `LANGUAGE/tools/NAME.json`.

mod agent;
mod arguments;
mod articles;
mod calculator;
mod calls;
mod current_time;
mod custom_tools;
mod documents;
mod fill;
mod group;
mod search;
mod tool_file;
mod tools;

pub use agent::AgentTexts;
pub use arguments::ArgumentTexts;
pub use articles::ArticleTexts;
pub use calculator::CalculatorTexts;
pub use calls::CallTexts;
pub use current_time::CurrentTimeTexts;
pub use custom_tools::CustomToolTexts;
pub use documents::DocumentTexts;
pub use fill::fill;
pub use search::SearchTexts;
pub use tool_file::ToolFile;
pub use tools::ToolTexts;
