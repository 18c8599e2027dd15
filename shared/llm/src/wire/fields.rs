use domain::ToolChoice;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::wire::WireRequest;

/// Maximum number of stop sequences that almost all endpoints accept.
// OpenAI: https://help.openai.com/en/articles/5072263, 2026-11-26.
const MAX_STOP_SEQUENCES: usize = 4;

/// Fields of a request; those without a value are left out, because endpoints reject `null`.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    pub(crate) fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Self {
        Self::Object(fields.0)
    }
}

impl<'a> WireRequest<'a> {
    /// Returns the parameters that chat completions and Ollama have under the same names, and the limit under its own.
    pub(super) fn sampling_fields(&self, limit_name: &str) -> Fields {
        let (parameters, params) = (&self.quirks.parameters, &self.prompt.params);
        Fields::default()
            .with("temperature", parameters.temperature)
            .with("top_p", parameters.top_p)
            .with(limit_name, parameters.max_tokens)
            .with("stop", self.stop_sequences())
            .with("seed", params.seed)
            .with("presence_penalty", params.presence_penalty.filter(|_| parameters.dialect.penalties))
            .with("frequency_penalty", params.frequency_penalty.filter(|_| parameters.dialect.penalties))
    }

    /// Returns the stop sequences of the request and, as far as the endpoint accepts them, the prompt's markers.
    pub(super) fn stop_sequences(&self) -> Option<Vec<&'a str>> {
        let own = &self.prompt.params.stop;
        let free = if self.quirks.stop_markers { MAX_STOP_SEQUENCES.saturating_sub(own.len()) } else { 0 };
        let markers = self.prompt.stop_markers.iter().copied().take(free);
        let all: Vec<&str> = own.iter().map(String::as_str).chain(markers).collect();
        Some(all).filter(|all| !all.is_empty())
    }

    /// Returns the choice to send: `None` for the default, without tools, and where no call may be forced.
    pub(super) fn tool_choice(&self) -> Option<&'a ToolChoice> {
        let choice = &self.prompt.tool_choice;
        let is_sent = match choice {
            ToolChoice::Auto => false,
            ToolChoice::None => true,
            ToolChoice::Required | ToolChoice::Tool(_) => self.quirks.forced_choice,
        };
        Some(choice).filter(|_| is_sent && !self.prompt.tools.is_empty())
    }
}
