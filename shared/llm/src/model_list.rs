//! Model lists of providers, which show which models accept tools.

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
    /// `GET {base}/models`; tool support is in `features.tools.function_calling` of an entry.
    Ark,
    /// `GET {base}/models`; tool support is in `supported_parameters` of an entry.
    OpenRouter,
    /// `POST {base}/api/show` for one model; tool support is in `capabilities`.
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
struct ShowResponse {
    capabilities: Vec<String>,
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
                // Suffixes such as `:online` and `:nitro` choose how a model is served; no list contains them.
                let plain = || model.rsplit_once(':').and_then(|(plain, _)| find_entry(list, plain));
                let entry = find_entry(list, model).or_else(plain)?;
                ok_or_none::<Vec<String>>(entry.supported_parameters).map(|all| all.iter().any(|one| one == "tools"))
            }
            Self::Ollama => {
                let response: ShowResponse = serde_json::from_slice(list).ok()?;
                Some(response.capabilities.iter().any(|one| one == "tools"))
            }
        }
    }
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
    fn malformed_list_gives_no_information() {
        for listing in [ModelListApi::Ark, ModelListApi::OpenRouter, ModelListApi::Ollama] {
            for text in ["", "<html>", "null", "[]", "{}", r#"{"data":null}"#, r#"{"data":{}}"#] {
                assert_eq!(listing.supports_tools(text.as_bytes(), "a"), None, "{listing:?} {text}");
            }
        }
    }
}
