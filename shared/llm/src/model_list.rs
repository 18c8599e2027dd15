//! Model lists of providers, which show which models accept tools, and their context windows.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::lax::{ContentParts, ok_or_none};

/// The timeout of a list request.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum size of a list, in bytes.
pub(crate) const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The API of a model list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelListApi {
    /// `GET {base}/models`; an entry has `features.tools.function_calling` and `token_limits.context_window`.
    Ark,
    /// `GET {base}/models`; an entry has `supported_parameters` and `context_length`.
    OpenRouter,
    /// `POST {base}/api/show` for one model, with `capabilities`, `model_info.{architecture}.context_length` and
    /// `parameters`, the lines of its Modelfile.
    Ollama,
}

#[derive(Deserialize)]
struct ModelList<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}

/// An entry of the lists of Ark and OpenRouter.
#[derive(Deserialize)]
struct ListEntry<'a> {
    #[serde(borrow, default)]
    id: ContentParts<'a>,
    #[serde(borrow, default)]
    status: ContentParts<'a>,
    #[serde(borrow, default)]
    features: Option<&'a RawValue>,
    #[serde(borrow, default)]
    supported_parameters: Option<&'a RawValue>,
    #[serde(borrow, default)]
    token_limits: Option<&'a RawValue>,
    #[serde(borrow, default)]
    context_length: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Features<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolFeatures {
    #[serde(default)]
    function_calling: bool,
}

#[derive(Deserialize)]
struct TokenLimits {
    context_window: u64,
}

#[derive(Deserialize)]
struct ShowResponse {
    capabilities: Vec<String>,
}

/// The part of `/api/show` about the context window.
#[derive(Deserialize)]
struct ShownWindow<'a> {
    #[serde(borrow, default)]
    model_info: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parameters: ContentParts<'a>,
}

impl ShownWindow<'_> {
    /// Returns the smaller one of the model's own window and the one that its Modelfile sets.
    fn tokens(&self) -> Option<u64> {
        let info: BTreeMap<String, &RawValue> = ok_or_none(self.model_info).unwrap_or_default();
        let own = info.into_iter().filter(|(name, _)| name.ends_with(".context_length"));
        let own = own.filter_map(|(_, length)| ok_or_none::<u64>(Some(length)));
        let set = self.parameters.text.lines().filter_map(|line| line.trim().strip_prefix("num_ctx"));
        own.chain(set.filter_map(|value| value.trim().parse().ok())).filter(|tokens| *tokens > 0).min()
    }
}

impl ModelListApi {
    /// Returns the path after the base URL.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ark | Self::OpenRouter => "/models",
            Self::Ollama => "/api/show",
        }
    }

    /// Whether `model` accepts tools; `None` if the list has no information about it.
    pub(crate) fn supports_tools(self, list: &[u8], model: &str) -> Option<bool> {
        match self {
            Self::Ark => {
                // The list keeps removed models, under ids that were reused since.
                let entry = find_entry(list, model).filter(|entry| entry.status.text != "Shutdown")?;
                let features: Features<'_> = ok_or_none(entry.features)?;
                Some(ok_or_none::<ToolFeatures>(features.tools).is_some_and(|tools| tools.function_calling))
            }
            Self::OpenRouter => {
                let entry = find_served_entry(list, model)?;
                ok_or_none::<Vec<String>>(entry.supported_parameters).map(|all| all.iter().any(|one| one == "tools"))
            }
            Self::Ollama => {
                let response: ShowResponse = serde_json::from_slice(list).ok()?;
                Some(response.capabilities.iter().any(|one| one == "tools"))
            }
        }
    }

    /// Returns the context window of `model` in tokens, if the list shows it.
    pub(crate) fn context_tokens(self, list: &[u8], model: &str) -> Option<u64> {
        match self {
            Self::Ark => {
                let entry = find_entry(list, model).filter(|entry| entry.status.text != "Shutdown")?;
                ok_or_none::<TokenLimits>(entry.token_limits).map(|limits| limits.context_window)
            }
            Self::OpenRouter => ok_or_none(find_served_entry(list, model)?.context_length),
            Self::Ollama => serde_json::from_slice::<ShownWindow<'_>>(list).ok()?.tokens(),
        }
    }
}

/// Finds the entry of a model, or of the model that its suffix serves: `:online`, `:nitro` and so on are in no list.
fn find_served_entry<'a>(list: &'a [u8], model: &str) -> Option<ListEntry<'a>> {
    let plain = || model.rsplit_once(':').and_then(|(plain, _)| find_entry(list, plain));
    find_entry(list, model).or_else(plain)
}

/// Finds the entry of a model; unreadable entries are skipped.
fn find_entry<'a>(list: &'a [u8], model: &str) -> Option<ListEntry<'a>> {
    let models: ModelList<'a> = serde_json::from_slice(list).ok()?;
    models.data.into_iter().filter_map(|raw| ok_or_none(Some(raw))).find(|entry: &ListEntry<'a>| entry.id.text == model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ark_lists_tool_support_of_served_models() {
        let list = br#"{"object":"list","data":[
            7, {"id":3}, {"object":"model"},
            {"id":"a","status":"Retiring","features":{"tools":{"function_calling":true},"cache":{"prefix_cache":true}}},
            {"id":"b","features":{"tools":{"function_calling":false}}},
            {"id":"c","features":{"cache":{}}},
            {"id":"d","status":"Shutdown","features":{"tools":{"function_calling":true}}},
            {"id":"e"}, {"id":"f","features":"tools"}, {"id":"g","features":{"tools":"all"}}]}"#;
        let supported: Vec<_> =
            ["a", "b", "c", "d", "e", "f", "g", "h"].map(|model| ModelListApi::Ark.supports_tools(list, model)).into();
        assert_eq!(supported, [Some(true), Some(false), Some(false), None, None, None, Some(false), None]);
    }

    #[test]
    fn openrouter_lists_tools_among_supported_parameters() {
        let list = br#"{"data":[
            {"id":"x/a","supported_parameters":["max_tokens","tools","tool_choice"]},
            {"id":"x/a:free","supported_parameters":["max_tokens"]},
            {"id":"x/b","supported_parameters":[]}, {"id":"x/c"}, {"id":"x/d","supported_parameters":"tools"}]}"#;
        let supported: Vec<_> = ["x/a", "x/a:free", "x/a:online", "x/b", "x/c", "x/d", "x/e"]
            .map(|model| ModelListApi::OpenRouter.supports_tools(list, model))
            .into();
        assert_eq!(supported, [Some(true), Some(false), Some(true), Some(false), None, None, None]);
    }

    #[test]
    fn ollama_shows_tools_among_capabilities() {
        let read = |text: &str| ModelListApi::Ollama.supports_tools(text.as_bytes(), "any");
        assert_eq!(read(r#"{"capabilities":["completion","tools","thinking"],"model_info":{}}"#), Some(true));
        assert_eq!(read(r#"{"capabilities":["completion"]}"#), Some(false));
        assert_eq!(read(r#"{"license":"old servers say nothing"}"#), None);
        assert_eq!(read(r#"{"capabilities":"tools"}"#), None);
    }

    #[test]
    fn lists_show_context_windows() {
        let ark =
            br#"{"data":[{"id":"a","token_limits":{"context_window":256000}},{"id":"b","token_limits":9},{"id":"c"},
            {"id":"d","status":"Shutdown","token_limits":{"context_window":1}}]}"#;
        assert_eq!(
            ["a", "b", "c", "d"].map(|model| ModelListApi::Ark.context_tokens(ark, model)),
            [Some(256_000), None, None, None]
        );
        let openrouter = br#"{"data":[{"id":"x/a","context_length":131072},{"id":"x/b","context_length":"long"}]}"#;
        assert_eq!(
            ["x/a", "x/a:nitro", "x/b"].map(|model| ModelListApi::OpenRouter.context_tokens(openrouter, model)),
            [Some(131_072), Some(131_072), None]
        );
    }

    #[test]
    fn ollama_shows_smaller_of_model_and_modelfile() {
        let read = |text: &str| ModelListApi::Ollama.context_tokens(text.as_bytes(), "any");
        let info = r#""model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"tokenizer.ggml.tokens":null}"#;
        assert_eq!(read(&format!("{{{info}}}")), Some(40_960));
        let parameters = r#""parameters":"stop    \"<|im_end|>\"\nnum_ctx     8192\ntemperature 0.6""#;
        assert_eq!(read(&format!("{{{parameters},{info}}}")), Some(8_192));
        assert_eq!(read(&format!("{{{parameters}}}")), Some(8_192));
        for text in [r#"{"model_info":{"a.context_length":0}}"#, r#"{"model_info":[],"parameters":7}"#, "{}"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn malformed_list_gives_no_information() {
        for listing in [ModelListApi::Ark, ModelListApi::OpenRouter, ModelListApi::Ollama] {
            for text in ["", "<html>", "null", "[]", "{}", r#"{"data":null}"#, r#"{"data":{}}"#] {
                assert_eq!(listing.supports_tools(text.as_bytes(), "a"), None, "{listing:?} {text}");
                assert_eq!(listing.context_tokens(text.as_bytes(), "a"), None, "{listing:?} {text}");
            }
        }
    }
}
